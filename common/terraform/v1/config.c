/* SPDX-License-Identifier: MPL-2.0 */
/* What a configuration declares: constants in `config`, the references of other expressions in `references`. */
#include "common/terraform/v1/v1.h"

/* ---- expressions ---- */

static void split(
	const struct doc *doc, struct doc_value expressions, struct doc_value config, struct doc_value references);

static struct doc_value list_at(const struct doc *doc, struct doc_value map, const char *name)
{
	struct doc_value list = doc_at(doc, map, name);

	return doc_is(doc, list, DOC_LIST) ? list : doc->class->list(doc->owner);
}

/* An expression, not a block that has some. Blocks have maps, or lists of them. */
static bool is_expression(const struct doc *doc, struct doc_value value)
{
	struct doc_value references = doc_at(doc, value, "references");
	struct doc_walk walk = doc_walk(doc, references);

	if (!doc_is(doc, doc_at(doc, value, "constant_value"), DOC_NONE) || doc->class->count(value) == 0)
		return true;
	return doc_is(doc, references, DOC_LIST) && !(doc_next(doc, &walk) && doc_is(doc, walk.element, DOC_MAP));
}

struct halves {
	struct doc_value config, references;
};

static struct halves halves_of(const struct doc *doc, struct doc_value expressions)
{
	struct halves halves = {.config = doc->class->map(doc->owner), .references = doc->class->map(doc->owner)};

	split(doc, expressions, halves.config, halves.references);
	return halves;
}

/* Blocks of one kind. */
static struct halves halves_of_blocks(const struct doc *doc, struct doc_value blocks)
{
	struct halves lists = {.config = doc->class->list(doc->owner), .references = doc->class->list(doc->owner)};
	struct doc_walk walk = doc_walk(doc, blocks);

	while (doc_next(doc, &walk)) {
		struct halves halves = halves_of(doc, walk.element);

		doc->class->push(doc->owner, lists.config, halves.config);
		doc->class->push(doc->owner, lists.references, halves.references);
	}
	return lists;
}

static struct halves halves_of_member(const struct doc *doc, struct doc_value value)
{
	if (doc_is(doc, value, DOC_LIST))
		return halves_of_blocks(doc, value);
	if (!doc_is(doc, value, DOC_MAP))
		return (struct halves){.config = doc_none, .references = doc_none};
	if (is_expression(doc, value))
		return (struct halves){.config = doc_at(doc, value, "constant_value"),
			.references = list_at(doc, value, "references")};
	return halves_of(doc, value);
}

static void set_known(const struct doc *doc, struct doc_value map, struct doc_text key, struct doc_value value)
{
	if (!doc_is(doc, value, DOC_NONE))
		doc->class->set(doc->owner, map, key, value);
}

static void split(
	const struct doc *doc, struct doc_value expressions, struct doc_value config, struct doc_value references)
{
	struct doc_walk walk = doc_walk(doc, doc_is(doc, expressions, DOC_MAP) ? expressions : doc_none);

	doc->class->enter(doc->owner);
	while (doc_next(doc, &walk)) {
		struct halves halves = halves_of_member(doc, walk.element);

		set_known(doc, config, walk.key, halves.config);
		set_known(doc, references, walk.key, halves.references);
	}
	doc->class->leave(doc->owner);
}

/* A map with `config` and `references`. */
static struct doc_value configured(const struct doc *doc, struct doc_value of)
{
	struct doc_value made = doc->class->map(doc->owner);
	struct halves halves = halves_of(doc, doc_at(doc, of, "expressions"));

	doc_set(doc, made, "config", halves.config);
	doc_set(doc, made, "references", halves.references);
	return made;
}

/* Sets the text of a member, "" if it has none. */
static void set_text(
	const struct doc *doc, struct doc_value made, const char *name, struct doc_value of, const char *member)
{
	doc_set(doc, made, name, doc->class->string(doc->owner, doc_text_at(doc, of, member)));
}

/* ---- resources ---- */

static struct doc_value provisioners(const struct doc *doc, struct doc_value resource)
{
	struct doc_walk walk = doc_walk(doc, doc_at(doc, resource, "provisioners"));
	struct doc_value list = doc->class->list(doc->owner);
	size_t count = 0;

	for (; doc_next(doc, &walk); count++) {
		struct doc_value made = configured(doc, walk.element);

		set_text(doc, made, "type", walk.element, "type");
		doc->class->push(doc->owner, list, made);
	}
	return count > 0 ? list : doc->class->null(doc->owner);
}

struct doc_value v1_configured(const struct v1 *v1, struct doc_value resource)
{
	struct doc_value made = configured(&v1->doc, resource);

	doc_set(&v1->doc, made, "provisioners", provisioners(&v1->doc, resource));
	return made;
}

/* ---- what else a module declares ---- */

static struct doc_value call_of(const struct doc *doc, struct doc_value call)
{
	struct doc_value made = configured(doc, call);

	set_text(doc, made, "source", call, "source");
	set_text(doc, made, "version", call, "version_constraint");
	return made;
}

static struct doc_value output_of(const struct doc *doc, struct doc_value output)
{
	struct doc_value made = doc->class->map(doc->owner), sensitive = doc_at(doc, output, "sensitive");
	struct doc_value expression = doc_at(doc, output, "expression");

	doc_set(doc, made, "depends_on", list_at(doc, output, "depends_on"));
	set_text(doc, made, "description", output, "description");
	doc_set(doc, made, "references", list_at(doc, expression, "references"));
	doc_set(doc, made, "sensitive",
		doc->class->flag(doc->owner, doc_is(doc, sensitive, DOC_BOOL) && doc->class->truth(sensitive)));
	set_known(doc, made, doc_literal("value"), doc_at(doc, expression, "constant_value"));
	return made;
}

static struct doc_value variable_of(const struct doc *doc, struct doc_value variable)
{
	struct doc_value made = doc->class->map(doc->owner), value = doc_at(doc, variable, "default");

	doc_set(doc, made, "default", doc_is(doc, value, DOC_NONE) ? doc->class->null(doc->owner) : value);
	set_text(doc, made, "description", variable, "description");
	return made;
}

static const struct {
	const char *name, *member;
	struct doc_value (*make)(const struct doc *doc, struct doc_value of);
} declarations[] = {
	{"modules", "module_calls", call_of},
	{"outputs", "outputs", output_of},
	{"variables", "variables", variable_of},
};

void v1_declared(const struct v1 *v1, struct doc_value declared, struct doc_value module)
{
	const struct doc *doc = &v1->doc;

	for (size_t i = 0; i < sizeof(declarations) / sizeof(declarations[0]); i++) {
		struct doc_walk walk = doc_walk(doc, doc_at(doc, declared, declarations[i].member));
		struct doc_value made = doc_inner(doc, module, doc_literal(declarations[i].name));

		while (doc_next(doc, &walk))
			doc->class->set(doc->owner, made, walk.key, declarations[i].make(doc, walk.element));
	}
	doc_inner(doc, module, doc_literal("providers"));
}

/* ---- providers ---- */

static struct doc_value provider_of(const struct doc *doc, struct doc_value provider)
{
	struct doc_value made = configured(doc, provider);

	set_text(doc, made, "version", provider, "version_constraint");
	return made;
}

/* The plan also lists providers that are only used, and those that an inner module only requires. */
static bool is_declared(const struct doc *doc, struct doc_value provider)
{
	const bool root = doc_text_at(doc, provider, "module_address").len == 0;

	return doc_text_at(doc, provider, "alias").len > 0 ||
		(root && doc_text_at(doc, provider, "version_constraint").len > 0) ||
		doc_is(doc, doc_at(doc, provider, "expressions"), DOC_MAP);
}

/* The providers of that type in a module, with an empty default provider if they are new. */
static struct doc_value providers_at(const struct doc *doc, struct doc_value module, struct doc_text type)
{
	struct doc_value providers = doc_at(doc, module, "providers");
	struct doc_value made = doc->class->get(doc->owner, providers, type);

	if (!doc_is(doc, made, DOC_NONE))
		return made;
	made = provider_of(doc, doc_none);
	doc_inner(doc, made, doc_literal("alias"));
	doc->class->set(doc->owner, providers, type, made);
	return made;
}

/* The default provider is also an alias, "". */
static void add_provider(const struct doc *doc, struct doc_value module, struct doc_value provider)
{
	struct doc_value of_type = providers_at(doc, module, doc_text_at(doc, provider, "name"));
	const struct doc_text alias = doc_text_at(doc, provider, "alias");
	struct doc_value made = provider_of(doc, provider);
	struct doc_walk walk = doc_walk(doc, alias.len > 0 ? doc_none : made);

	doc->class->set(doc->owner, doc_at(doc, of_type, "alias"), alias, made);
	while (doc_next(doc, &walk))
		doc->class->set(doc->owner, of_type, walk.key, walk.element);
}

void v1_providers(const struct v1 *v1, struct doc_value modules)
{
	const struct doc *doc = &v1->doc;
	struct doc_walk walk = doc_walk(doc, doc_path(doc, v1->plan, "configuration.provider_config"));

	while (doc_next(doc, &walk)) {
		struct doc_value module =
			doc->class->get(doc->owner, modules, doc_text_at(doc, walk.element, "module_address"));

		if (doc_is(doc, module, DOC_MAP) && is_declared(doc, walk.element))
			add_provider(doc, module, walk.element);
	}
}
