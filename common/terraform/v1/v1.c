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
static bool next_step(struct doc_text *address, struct doc_text *ret_step)
{
	static const char module[] = "module.";
	const char *begin = address->bytes + strlen(module), *end = address->bytes + address->len, *at = begin;

	if (address->len < strlen(module) || memcmp(address->bytes, module, strlen(module)) != 0)
		return false;
	while (at < end && *at != '.')
		at = *at == '[' ? skip_instance(at, end) : at + 1;
	*ret_step = (struct doc_text){.bytes = begin, .len = (size_t)(at - begin)};
	at += at < end;
	*address = (struct doc_text){.bytes = at, .len = (size_t)(end - at)};
	return true;
}

static struct doc_value path_of(const struct doc *doc, struct doc_text address)
{
	struct doc_value path = doc->class->list(doc->owner);
	struct doc_text step;

	while (next_step(&address, &step))
		doc->class->push(doc->owner, path, doc->class->string(doc->owner, step));
	return path;
}

static struct doc_text without_instance(struct doc_text step)
{
	const char *bracket = memchr(step.bytes, '[', step.len);

	return (struct doc_text){.bytes = step.bytes, .len = bracket ? (size_t)(bracket - step.bytes) : step.len};
}

/* An address in the configuration, seen from the module of the resource. The whole address if it is in another one. */
static struct doc_text relative(struct doc_text address, struct doc_text resource)
{
	struct doc_text rest = address, step, own;
	bool same = true;

	while (same && next_step(&resource, &own))
		same = next_step(&rest, &step) && doc_same(without_instance(step), without_instance(own));
	return same ? rest : address;
}

/* ---- modules ---- */

static struct doc_value module_at(const struct v1 *v1, struct doc_value modules, struct doc_text address)
{
	const struct doc *doc = &v1->doc;
	struct doc_value module = doc->class->get(doc->owner, modules, address);

	if (!doc_is(doc, module, DOC_NONE))
		return module;
	module = doc_inner(doc, modules, address);
	doc_set(doc, module, "path", path_of(doc, address));
	doc_inner(doc, module, doc_literal("data"));
	doc_inner(doc, module, doc_literal("resources"));
	return module;
}

/* The map of the resources with the type of that one. */
static struct doc_value type_at(
	const struct v1 *v1, struct doc_value modules, struct doc_text address, struct doc_value resource)
{
	const struct doc *doc = &v1->doc;
	const bool data = doc_same(doc_text_at(doc, resource, "mode"), doc_literal("data"));
	struct doc_value module = module_at(v1, modules, address);

	return doc_inner(doc, doc_at(doc, module, data ? "data" : "resources"), doc_text_at(doc, resource, "type"));
}

static void add_instance(
	const struct v1 *v1, struct doc_value modules, struct doc_text address, struct doc_value resource)
{
	const struct doc *doc = &v1->doc;
	struct doc_value instances =
		doc_inner(doc, type_at(v1, modules, address, resource), doc_text_at(doc, resource, "name"));

	doc->class->set_instance(doc->owner, instances, doc_at(doc, resource, "index"), resource);
}

/* ---- the plan ---- */

static bool is_change(const struct doc *doc, struct doc_value resource)
{
	struct doc_walk actions = doc_walk(doc, doc_path(doc, resource, "change.actions"));

	if (!doc_is(doc, resource, DOC_MAP) || doc_text_at(doc, resource, "deposed").len > 0)
		return false;
	return !doc_next(doc, &actions) || !doc_same(doc_scalar(doc, actions.element), doc_literal("no-op"));
}

static void add_changes(const struct v1 *v1, struct doc_value modules)
{
	const struct doc *doc = &v1->doc;
	struct doc_walk walk = doc_walk(doc, doc_at(doc, v1->plan, "resource_changes"));

	while (doc_next(doc, &walk))
		if (is_change(doc, walk.element))
			add_instance(v1, modules, doc_text_at(doc, walk.element, "module_address"), walk.element);
}

/* Strings for scalars; null and what has elements as they are. */
static struct doc_value plain(const struct doc *doc, struct doc_value value)
{
	const enum doc_kind kind = doc->class->kind(value);

	if (kind == DOC_BOOL || kind == DOC_NUMBER)
		return doc->class->string(doc->owner, doc_scalar(doc, value));
	return kind == DOC_NONE ? doc->class->null(doc->owner) : value;
}

struct doc_value v1_variables(const struct v1 *v1)
{
	const struct doc *doc = &v1->doc;
	struct doc_walk walk = doc_walk(doc, doc_at(doc, v1->plan, "variables"));
	struct doc_value variables = doc->class->map(doc->owner);

	while (doc_next(doc, &walk))
		doc->class->set(doc->owner, variables, walk.key, plain(doc, doc_at(doc, walk.element, "value")));
	return variables;
}

/* ---- the state ---- */

static void add_states(const struct v1 *v1, struct doc_value modules, struct doc_value module)
{
	const struct doc *doc = &v1->doc;
	struct doc_walk resources = doc_walk(doc, doc_at(doc, module, "resources"));
	struct doc_walk children = doc_walk(doc, doc_at(doc, module, "child_modules"));

	doc->class->enter(doc->owner);
	while (doc_next(doc, &resources))
		if (doc_is(doc, resources.element, DOC_MAP) &&
			doc_text_at(doc, resources.element, "deposed_key").len == 0)
			add_instance(v1, modules, doc_text_at(doc, module, "address"), resources.element);
	while (doc_next(doc, &children))
		add_states(v1, modules, children.element);
	doc->class->leave(doc->owner);
}

static struct doc_value dependencies(const struct doc *doc, struct doc_value resource)
{
	struct doc_value list = doc->class->list(doc->owner);
	struct doc_walk walk = doc_walk(doc, doc_at(doc, resource, "depends_on"));
	const struct doc_text address = doc_text_at(doc, resource, "address");

	while (doc_next(doc, &walk))
		doc->class->push(doc->owner, list,
			doc->class->string(doc->owner, relative(doc_scalar(doc, walk.element), address)));
	return list;
}

static struct doc_value state_of(const struct v1 *v1, struct doc_value resource)
{
	const struct doc *doc = &v1->doc;
	struct doc_value made = doc->class->map(doc->owner), values = doc_at(doc, resource, "values");
	struct doc_value tainted = doc_at(doc, resource, "tainted");

	doc_set(doc, made, "attr", doc_is(doc, values, DOC_MAP) ? values : doc->class->map(doc->owner));
	doc_set(doc, made, "depends_on", dependencies(doc, resource));
	doc_set(doc, made, "id", doc->class->string(doc->owner, doc_scalar(doc, doc_at(doc, values, "id"))));
	doc_set(doc, made, "tainted",
		doc->class->flag(doc->owner, doc_is(doc, tainted, DOC_BOOL) && doc->class->truth(tainted)));
	return made;
}

struct doc_value v1_outputs(const struct v1 *v1)
{
	static const char *const types[] = {[DOC_LIST] = "list", [DOC_MAP] = "map"};
	const struct doc *doc = &v1->doc;
	struct doc_walk walk = doc_walk(doc, doc_path(doc, v1->plan, "prior_state.values.outputs"));
	struct doc_value outputs = doc->class->map(doc->owner);

	while (doc_next(doc, &walk)) {
		struct doc_value output = doc->class->map(doc->owner), value = doc_at(doc, walk.element, "value");
		struct doc_value sensitive = doc_at(doc, walk.element, "sensitive");
		const char *type = types[doc->class->kind(value)];

		doc_set(doc, output, "sensitive",
			doc->class->flag(doc->owner, doc_is(doc, sensitive, DOC_BOOL) && doc->class->truth(sensitive)));
		doc_set(doc, output, "type", doc->class->string(doc->owner, doc_literal(type ? type : "string")));
		if (!doc_is(doc, value, DOC_NONE))
			doc_set(doc, output, "value", plain(doc, value));
		doc->class->set(doc->owner, outputs, walk.key, output);
	}
	return outputs;
}

/* ---- the configuration ---- */

static void add_declared(
	const struct v1 *v1, struct doc_value modules, struct doc_value declared, struct doc_text address)
{
	const struct doc *doc = &v1->doc;
	struct doc_walk resources = doc_walk(doc, doc_at(doc, declared, "resources"));
	struct doc_walk calls = doc_walk(doc, doc_at(doc, declared, "module_calls"));

	doc->class->enter(doc->owner);
	v1_declared(v1, declared, module_at(v1, modules, address));
	while (doc_next(doc, &resources))
		if (doc_is(doc, resources.element, DOC_MAP))
			doc->class->set_element(doc->owner, type_at(v1, modules, address, resources.element),
				doc_text_at(doc, resources.element, "name"), resources.element);
	while (doc_next(doc, &calls)) {
		struct doc_text step = doc_join(doc, doc_literal("module"), ".", calls.key);

		add_declared(v1, modules, doc_at(doc, calls.element, "module"),
			address.len > 0 ? doc_join(doc, address, ".", step) : step);
	}
	doc->class->leave(doc->owner);
}

/* ---- all of them ---- */

struct doc_value v1_modules(const struct v1 *v1)
{
	const struct doc *doc = &v1->doc;
	struct doc_value modules = doc->class->map(doc->owner);
	struct doc_text root = doc_literal("");

	module_at(v1, modules, root);
	if (v1->import == V1_PLAN)
		add_changes(v1, modules);
	else if (v1->import == V1_STATE)
		add_states(v1, modules, doc_path(doc, v1->plan, "prior_state.values.root_module"));
	else {
		add_declared(v1, modules, doc_path(doc, v1->plan, "configuration.root_module"), root);
		v1_providers(v1, modules);
	}
	return modules;
}

struct doc_value v1_element(const struct v1 *v1, struct doc_value resource)
{
	static struct doc_value (*const makes[])(const struct v1 *v1, struct doc_value resource) = {
		[V1_PLAN] = v1_change,
		[V1_CONFIG] = v1_configured,
		[V1_STATE] = state_of,
	};

	return makes[v1->import](v1, resource);
}

struct doc_value v1_module_paths(const struct v1 *v1, struct doc_value modules)
{
	const struct doc *doc = &v1->doc;
	struct doc_value paths = doc->class->list(doc->owner);
	struct doc_walk walk = doc_walk(doc, modules);

	while (doc_next(doc, &walk))
		doc->class->push(doc->owner, paths, doc_at(doc, walk.element, "path"));
	return paths;
}

struct doc_value v1_terraform_version(const struct v1 *v1)
{
	const struct doc *doc = &v1->doc;
	struct doc_text text = doc_text_at(doc, v1->plan, "terraform_version");
	struct doc_value state = doc_at(doc, v1->plan, "prior_state");

	if (v1->import == V1_STATE && doc_is(doc, doc_at(doc, state, "terraform_version"), DOC_STRING))
		text = doc_text_at(doc, state, "terraform_version");
	return doc->class->string(doc->owner, text);
}
