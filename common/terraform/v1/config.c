/* SPDX-License-Identifier: MPL-2.0 */
/* What a configuration declares: constants in `config`, the references of other expressions in `references`. */
#include "common/terraform/v1/v1.h"

/* ---- expressions ---- */

static void split(
	const struct tree *tree, struct tree_value expressions, struct tree_value config, struct tree_value references);

static struct tree_value list_at(const struct tree *tree, struct tree_value map, const char *name)
{
	struct tree_value list = tree_at(tree, map, name);

	return tree_is(tree, list, TREE_LIST) ? list : tree->class->list(tree->owner);
}

/* An expression, not a block that has some. Blocks have maps, or lists of them. */
static bool is_expression(const struct tree *tree, struct tree_value value)
{
	struct tree_value references = tree_at(tree, value, "references");
	struct tree_walk walk = tree_walk(tree, references);

	if (!tree_is(tree, tree_at(tree, value, "constant_value"), TREE_NONE) || tree->class->count(value) == 0)
		return true;
	return tree_is(tree, references, TREE_LIST) &&
		!(tree_next(tree, &walk) && tree_is(tree, walk.element, TREE_MAP));
}

struct halves {
	struct tree_value config, references;
};

static struct halves halves_of(const struct tree *tree, struct tree_value expressions)
{
	struct halves halves = {.config = tree->class->map(tree->owner), .references = tree->class->map(tree->owner)};

	split(tree, expressions, halves.config, halves.references);
	return halves;
}

/* Blocks of one kind. */
static struct halves halves_of_blocks(const struct tree *tree, struct tree_value blocks)
{
	struct halves lists = {.config = tree->class->list(tree->owner), .references = tree->class->list(tree->owner)};
	struct tree_walk walk = tree_walk(tree, blocks);

	while (tree_next(tree, &walk)) {
		struct halves halves = halves_of(tree, walk.element);

		tree->class->push(tree->owner, lists.config, halves.config);
		tree->class->push(tree->owner, lists.references, halves.references);
	}
	return lists;
}

static struct halves halves_of_member(const struct tree *tree, struct tree_value value)
{
	if (tree_is(tree, value, TREE_LIST))
		return halves_of_blocks(tree, value);
	if (!tree_is(tree, value, TREE_MAP))
		return (struct halves){.config = tree_none, .references = tree_none};
	if (is_expression(tree, value))
		return (struct halves){.config = tree_at(tree, value, "constant_value"),
			.references = list_at(tree, value, "references")};
	return halves_of(tree, value);
}

static void set_known(const struct tree *tree, struct tree_value map, struct tree_text key, struct tree_value value)
{
	if (!tree_is(tree, value, TREE_NONE))
		tree->class->set(tree->owner, map, key, value);
}

static void split(
	const struct tree *tree, struct tree_value expressions, struct tree_value config, struct tree_value references)
{
	struct tree_walk walk = tree_walk(tree, tree_is(tree, expressions, TREE_MAP) ? expressions : tree_none);

	tree->class->enter(tree->owner);
	while (tree_next(tree, &walk)) {
		struct halves halves = halves_of_member(tree, walk.element);

		set_known(tree, config, walk.key, halves.config);
		set_known(tree, references, walk.key, halves.references);
	}
	tree->class->leave(tree->owner);
}

/* A map with `config` and `references`. */
static struct tree_value configured(const struct tree *tree, struct tree_value of)
{
	struct tree_value made = tree->class->map(tree->owner);
	struct halves halves = halves_of(tree, tree_at(tree, of, "expressions"));

	tree_set(tree, made, "config", halves.config);
	tree_set(tree, made, "references", halves.references);
	return made;
}

/* Sets the text of a member, "" if it has none. */
static void set_text(
	const struct tree *tree, struct tree_value made, const char *name, struct tree_value of, const char *member)
{
	tree_set(tree, made, name, tree->class->string(tree->owner, tree_text_at(tree, of, member)));
}

/* ---- resources ---- */

static struct tree_value provisioners(const struct tree *tree, struct tree_value resource)
{
	struct tree_walk walk = tree_walk(tree, tree_at(tree, resource, "provisioners"));
	struct tree_value list = tree->class->list(tree->owner);
	size_t count = 0;

	for (; tree_next(tree, &walk); count++) {
		struct tree_value made = configured(tree, walk.element);

		set_text(tree, made, "type", walk.element, "type");
		tree->class->push(tree->owner, list, made);
	}
	return count > 0 ? list : tree->class->null(tree->owner);
}

struct tree_value v1_configured(const struct v1 *v1, struct tree_value resource)
{
	struct tree_value made = configured(&v1->tree, resource);

	tree_set(&v1->tree, made, "provisioners", provisioners(&v1->tree, resource));
	return made;
}

/* ---- what else a module declares ---- */

static struct tree_value call_of(const struct tree *tree, struct tree_value call)
{
	struct tree_value made = configured(tree, call);

	set_text(tree, made, "source", call, "source");
	set_text(tree, made, "version", call, "version_constraint");
	return made;
}

static struct tree_value output_of(const struct tree *tree, struct tree_value output)
{
	struct tree_value made = tree->class->map(tree->owner), sensitive = tree_at(tree, output, "sensitive");
	struct tree_value expression = tree_at(tree, output, "expression");

	tree_set(tree, made, "depends_on", list_at(tree, output, "depends_on"));
	set_text(tree, made, "description", output, "description");
	tree_set(tree, made, "references", list_at(tree, expression, "references"));
	tree_set(tree, made, "sensitive",
		tree->class->flag(tree->owner, tree_is(tree, sensitive, TREE_BOOL) && tree->class->truth(sensitive)));
	set_known(tree, made, tree_literal("value"), tree_at(tree, expression, "constant_value"));
	return made;
}

static struct tree_value variable_of(const struct tree *tree, struct tree_value variable)
{
	struct tree_value made = tree->class->map(tree->owner), value = tree_at(tree, variable, "default");

	tree_set(tree, made, "default", tree_is(tree, value, TREE_NONE) ? tree->class->null(tree->owner) : value);
	set_text(tree, made, "description", variable, "description");
	return made;
}

static const struct {
	const char *name, *member;
	struct tree_value (*make)(const struct tree *tree, struct tree_value of);
} declarations[] = {
	{"modules", "module_calls", call_of},
	{"outputs", "outputs", output_of},
	{"variables", "variables", variable_of},
};

void v1_declared(const struct v1 *v1, struct tree_value declared, struct tree_value module)
{
	const struct tree *tree = &v1->tree;

	for (size_t i = 0; i < sizeof(declarations) / sizeof(declarations[0]); i++) {
		struct tree_walk walk = tree_walk(tree, tree_at(tree, declared, declarations[i].member));
		struct tree_value made = tree_inner(tree, module, tree_literal(declarations[i].name));

		while (tree_next(tree, &walk))
			tree->class->set(tree->owner, made, walk.key, declarations[i].make(tree, walk.element));
	}
	tree_inner(tree, module, tree_literal("providers"));
}

/* ---- providers ---- */

static struct tree_value provider_of(const struct tree *tree, struct tree_value provider)
{
	struct tree_value made = configured(tree, provider);

	set_text(tree, made, "version", provider, "version_constraint");
	return made;
}

/* The plan also lists providers that are only used, and those that an inner module only requires. */
static bool is_declared(const struct tree *tree, struct tree_value provider)
{
	const bool root = tree_text_at(tree, provider, "module_address").len == 0;

	return tree_text_at(tree, provider, "alias").len > 0 ||
		(root && tree_text_at(tree, provider, "version_constraint").len > 0) ||
		tree_is(tree, tree_at(tree, provider, "expressions"), TREE_MAP);
}

/* The providers of that type in a module, with an empty default provider if they are new. */
static struct tree_value providers_at(const struct tree *tree, struct tree_value module, struct tree_text type)
{
	struct tree_value providers = tree_at(tree, module, "providers");
	struct tree_value made = tree->class->get(tree->owner, providers, type);

	if (!tree_is(tree, made, TREE_NONE))
		return made;
	made = provider_of(tree, tree_none);
	tree_inner(tree, made, tree_literal("alias"));
	tree->class->set(tree->owner, providers, type, made);
	return made;
}

/* The default provider is also an alias, "". */
static void add_provider(const struct tree *tree, struct tree_value module, struct tree_value provider)
{
	struct tree_value of_type = providers_at(tree, module, tree_text_at(tree, provider, "name"));
	const struct tree_text alias = tree_text_at(tree, provider, "alias");
	struct tree_value made = provider_of(tree, provider);
	struct tree_walk walk = tree_walk(tree, alias.len > 0 ? tree_none : made);

	tree->class->set(tree->owner, tree_at(tree, of_type, "alias"), alias, made);
	while (tree_next(tree, &walk))
		tree->class->set(tree->owner, of_type, walk.key, walk.element);
}

void v1_providers(const struct v1 *v1, struct tree_value modules)
{
	const struct tree *tree = &v1->tree;
	struct tree_walk walk = tree_walk(tree, tree_path(tree, v1->plan, "configuration.provider_config"));

	while (tree_next(tree, &walk)) {
		struct tree_value module =
			tree->class->get(tree->owner, modules, tree_text_at(tree, walk.element, "module_address"));

		if (tree_is(tree, module, TREE_MAP) && is_declared(tree, walk.element))
			add_provider(tree, module, walk.element);
	}
}
