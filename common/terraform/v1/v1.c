/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/v1/v1.h"

#include <string.h>

/* ---- addresses ---- */

/* Behind the string or other key of an instance, which begins with a bracket. */
static const char *skip_instance(const char *at, const char *end)
{
	bool quoted = false;

	for (; at < end && (quoted || *at != ']'); at++)
		if (*at == '\\' && quoted && at + 1 < end)
			at++;
		else if (*at == '"')
			quoted = !quoted;
	return at < end ? at + 1 : end;
}

/* Takes the next step of an address, "module.a[0]" of "module.a[0].module.b", without "module.". */
static bool next_step(struct tree_text *address, struct tree_text *ret_step)
{
	static const char module[] = "module.";
	const char *begin = address->bytes + strlen(module), *end = address->bytes + address->len, *at = begin;

	if (address->len < strlen(module) || memcmp(address->bytes, module, strlen(module)) != 0)
		return false;
	while (at < end && *at != '.')
		at = *at == '[' ? skip_instance(at, end) : at + 1;
	*ret_step = (struct tree_text){.bytes = begin, .len = (size_t)(at - begin)};
	at += at < end;
	*address = (struct tree_text){.bytes = at, .len = (size_t)(end - at)};
	return true;
}

static struct tree_value path_of(const struct tree *tree, struct tree_text address)
{
	struct tree_value path = tree->class->list(tree->owner);
	struct tree_text step;

	while (next_step(&address, &step))
		tree->class->push(tree->owner, path, tree->class->string(tree->owner, step));
	return path;
}

static struct tree_text without_instance(struct tree_text step)
{
	const char *bracket = memchr(step.bytes, '[', step.len);

	return (struct tree_text){.bytes = step.bytes, .len = bracket ? (size_t)(bracket - step.bytes) : step.len};
}

/* An address in the configuration, seen from the module of the resource. The whole address if it is in another one. */
static struct tree_text relative(struct tree_text address, struct tree_text resource)
{
	struct tree_text rest = address, step, own;
	bool same = true;

	while (same && next_step(&resource, &own))
		same = next_step(&rest, &step) && tree_same(without_instance(step), without_instance(own));
	return same ? rest : address;
}

/* ---- modules ---- */

static struct tree_value module_at(const struct v1 *v1, struct tree_value modules, struct tree_text address)
{
	const struct tree *tree = &v1->tree;
	struct tree_value module = tree->class->get(tree->owner, modules, address);

	if (!tree_is(tree, module, TREE_NONE))
		return module;
	module = tree_inner(tree, modules, address);
	tree_set(tree, module, "path", path_of(tree, address));
	tree_inner(tree, module, tree_literal("data"));
	tree_inner(tree, module, tree_literal("resources"));
	return module;
}

/* The map of the resources with the type of that one. */
static struct tree_value type_at(
	const struct v1 *v1, struct tree_value modules, struct tree_text address, struct tree_value resource)
{
	const struct tree *tree = &v1->tree;
	const bool data = tree_same(tree_text_at(tree, resource, "mode"), tree_literal("data"));
	struct tree_value module = module_at(v1, modules, address);

	return tree_inner(
		tree, tree_at(tree, module, data ? "data" : "resources"), tree_text_at(tree, resource, "type"));
}

static void add_instance(
	const struct v1 *v1, struct tree_value modules, struct tree_text address, struct tree_value resource)
{
	const struct tree *tree = &v1->tree;
	struct tree_value instances =
		tree_inner(tree, type_at(v1, modules, address, resource), tree_text_at(tree, resource, "name"));

	tree->class->set_instance(tree->owner, instances, tree_at(tree, resource, "index"), resource);
}

/* ---- the plan ---- */

static bool is_change(const struct tree *tree, struct tree_value resource)
{
	struct tree_walk actions = tree_walk(tree, tree_path(tree, resource, "change.actions"));

	if (!tree_is(tree, resource, TREE_MAP) || tree_text_at(tree, resource, "deposed").len > 0)
		return false;
	return !tree_next(tree, &actions) || !tree_same(tree_scalar(tree, actions.element), tree_literal("no-op"));
}

static void add_changes(const struct v1 *v1, struct tree_value modules)
{
	const struct tree *tree = &v1->tree;
	struct tree_walk walk = tree_walk(tree, tree_at(tree, v1->plan, "resource_changes"));

	while (tree_next(tree, &walk))
		if (is_change(tree, walk.element))
			add_instance(v1, modules, tree_text_at(tree, walk.element, "module_address"), walk.element);
}

/* Strings for scalars; null and what has elements as they are. */
static struct tree_value plain(const struct tree *tree, struct tree_value value)
{
	const enum tree_kind kind = tree->class->kind(value);

	if (kind == TREE_BOOL || kind == TREE_NUMBER)
		return tree->class->string(tree->owner, tree_scalar(tree, value));
	return kind == TREE_NONE ? tree->class->null(tree->owner) : value;
}

struct tree_value v1_variables(const struct v1 *v1)
{
	const struct tree *tree = &v1->tree;
	struct tree_walk walk = tree_walk(tree, tree_at(tree, v1->plan, "variables"));
	struct tree_value variables = tree->class->map(tree->owner);

	while (tree_next(tree, &walk))
		tree->class->set(tree->owner, variables, walk.key, plain(tree, tree_at(tree, walk.element, "value")));
	return variables;
}

/* ---- the state ---- */

static void add_states(const struct v1 *v1, struct tree_value modules, struct tree_value module)
{
	const struct tree *tree = &v1->tree;
	struct tree_walk resources = tree_walk(tree, tree_at(tree, module, "resources"));
	struct tree_walk children = tree_walk(tree, tree_at(tree, module, "child_modules"));

	tree->class->enter(tree->owner);
	while (tree_next(tree, &resources))
		if (tree_is(tree, resources.element, TREE_MAP) &&
			tree_text_at(tree, resources.element, "deposed_key").len == 0)
			add_instance(v1, modules, tree_text_at(tree, module, "address"), resources.element);
	while (tree_next(tree, &children))
		add_states(v1, modules, children.element);
	tree->class->leave(tree->owner);
}

static struct tree_value dependencies(const struct tree *tree, struct tree_value resource)
{
	struct tree_value list = tree->class->list(tree->owner);
	struct tree_walk walk = tree_walk(tree, tree_at(tree, resource, "depends_on"));
	const struct tree_text address = tree_text_at(tree, resource, "address");

	while (tree_next(tree, &walk))
		tree->class->push(tree->owner, list,
			tree->class->string(tree->owner, relative(tree_scalar(tree, walk.element), address)));
	return list;
}

static struct tree_value state_of(const struct v1 *v1, struct tree_value resource)
{
	const struct tree *tree = &v1->tree;
	struct tree_value made = tree->class->map(tree->owner), values = tree_at(tree, resource, "values");
	struct tree_value tainted = tree_at(tree, resource, "tainted");

	tree_set(tree, made, "attr", tree_is(tree, values, TREE_MAP) ? values : tree->class->map(tree->owner));
	tree_set(tree, made, "depends_on", dependencies(tree, resource));
	tree_set(tree, made, "id", tree->class->string(tree->owner, tree_scalar(tree, tree_at(tree, values, "id"))));
	tree_set(tree, made, "tainted",
		tree->class->flag(tree->owner, tree_is(tree, tainted, TREE_BOOL) && tree->class->truth(tainted)));
	return made;
}

struct tree_value v1_outputs(const struct v1 *v1)
{
	static const char *const types[] = {[TREE_LIST] = "list", [TREE_MAP] = "map"};
	const struct tree *tree = &v1->tree;
	struct tree_walk walk = tree_walk(tree, tree_path(tree, v1->plan, "prior_state.values.outputs"));
	struct tree_value outputs = tree->class->map(tree->owner);

	while (tree_next(tree, &walk)) {
		struct tree_value output = tree->class->map(tree->owner), value = tree_at(tree, walk.element, "value");
		struct tree_value sensitive = tree_at(tree, walk.element, "sensitive");
		const char *type = types[tree->class->kind(value)];

		tree_set(tree, output, "sensitive",
			tree->class->flag(
				tree->owner, tree_is(tree, sensitive, TREE_BOOL) && tree->class->truth(sensitive)));
		tree_set(tree, output, "type", tree->class->string(tree->owner, tree_literal(type ? type : "string")));
		if (!tree_is(tree, value, TREE_NONE))
			tree_set(tree, output, "value", plain(tree, value));
		tree->class->set(tree->owner, outputs, walk.key, output);
	}
	return outputs;
}

/* ---- the configuration ---- */

static void add_declared(
	const struct v1 *v1, struct tree_value modules, struct tree_value declared, struct tree_text address)
{
	const struct tree *tree = &v1->tree;
	struct tree_walk resources = tree_walk(tree, tree_at(tree, declared, "resources"));
	struct tree_walk calls = tree_walk(tree, tree_at(tree, declared, "module_calls"));

	tree->class->enter(tree->owner);
	v1_declared(v1, declared, module_at(v1, modules, address));
	while (tree_next(tree, &resources))
		if (tree_is(tree, resources.element, TREE_MAP))
			tree->class->set_element(tree->owner, type_at(v1, modules, address, resources.element),
				tree_text_at(tree, resources.element, "name"), resources.element);
	while (tree_next(tree, &calls)) {
		struct tree_text step = tree_join(tree, tree_literal("module"), ".", calls.key);

		add_declared(v1, modules, tree_at(tree, calls.element, "module"),
			address.len > 0 ? tree_join(tree, address, ".", step) : step);
	}
	tree->class->leave(tree->owner);
}

/* ---- all of them ---- */

struct tree_value v1_modules(const struct v1 *v1)
{
	const struct tree *tree = &v1->tree;
	struct tree_value modules = tree->class->map(tree->owner);
	struct tree_text root = tree_literal("");

	module_at(v1, modules, root);
	if (v1->import == V1_PLAN)
		add_changes(v1, modules);
	else if (v1->import == V1_STATE)
		add_states(v1, modules, tree_path(tree, v1->plan, "prior_state.values.root_module"));
	else {
		add_declared(v1, modules, tree_path(tree, v1->plan, "configuration.root_module"), root);
		v1_providers(v1, modules);
	}
	return modules;
}

struct tree_value v1_element(const struct v1 *v1, struct tree_value resource)
{
	static struct tree_value (*const makes[])(const struct v1 *v1, struct tree_value resource) = {
		[V1_PLAN] = v1_change,
		[V1_CONFIG] = v1_configured,
		[V1_STATE] = state_of,
	};

	return makes[v1->import](v1, resource);
}

struct tree_value v1_module_paths(const struct v1 *v1, struct tree_value modules)
{
	const struct tree *tree = &v1->tree;
	struct tree_value paths = tree->class->list(tree->owner);
	struct tree_walk walk = tree_walk(tree, modules);

	while (tree_next(tree, &walk))
		tree->class->push(tree->owner, paths, tree_at(tree, walk.element, "path"));
	return paths;
}

struct tree_value v1_terraform_version(const struct v1 *v1)
{
	const struct tree *tree = &v1->tree;
	struct tree_text text = tree_text_at(tree, v1->plan, "terraform_version");
	struct tree_value state = tree_at(tree, v1->plan, "prior_state");

	if (v1->import == V1_STATE && tree_is(tree, tree_at(tree, state, "terraform_version"), TREE_STRING))
		text = tree_text_at(tree, state, "terraform_version");
	return tree->class->string(tree->owner, text);
}
