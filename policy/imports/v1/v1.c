/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/v1/v1.h"

#include <string.h>

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/terraform.h"
#include "policy/imports/v1/values.h"

/* An import, or the members `config` and `state` of one. */
struct namespace
{
	struct v1_owner owner; /* the plan and the schemas are none before the first use */
	const struct source *plan, *schemas;
	struct doc_value modules; /* none before the first use */
	struct value fields;      /* a map */
};

/* ---- the files ---- */

static const struct v1 *v1_of(struct namespace *namespace)
{
	struct v1 *v1 = &namespace->owner.v1;

	if (!doc_is(&v1->doc, v1->plan, DOC_NONE))
		return v1;
	v1->plan = doc_from(terraform_file(namespace->owner.run, namespace->plan));
	if (namespace->schemas)
		v1->schemas = doc_from(terraform_file(namespace->owner.run, namespace->schemas));
	return v1;
}

static struct doc_value modules_of(struct namespace *namespace)
{
	const struct v1 *v1 = v1_of(namespace);

	if (doc_is(&v1->doc, namespace->modules, DOC_NONE))
	namespace->modules = v1_modules(v1);
	return namespace->modules;
}

/* ---- fields ---- */

static struct namespace *namespace_new(struct run *run, enum v1_import import, const struct namespace *of);
static struct value as_map(struct namespace *namespace);

#define IN(import) (1u << V1_##import)
#define IN_ALL     (IN(PLAN) | IN(CONFIG) | IN(STATE))

static const struct field {
	const char *name;
	unsigned imports;
	enum { FIELD_ROOT, FIELD_PATHS, FIELD_MADE, FIELD_CONFIG, FIELD_STATE } kind; /* ROOT: of the root module */
	struct doc_value (*make)(const struct v1 *v1);                                /* FIELD_MADE */
} fields[] = {
	{"terraform_version", IN(PLAN) | IN(STATE), FIELD_MADE, v1_terraform_version},
	{"variables", IN(PLAN), FIELD_MADE, v1_variables},
	{"outputs", IN(STATE), FIELD_MADE, v1_outputs},
	{"module_paths", IN_ALL, FIELD_PATHS, NULL},
	{"path", IN_ALL, FIELD_ROOT, NULL},
	{"data", IN_ALL, FIELD_ROOT, NULL},
	{"resources", IN_ALL, FIELD_ROOT, NULL},
	{"modules", IN(CONFIG), FIELD_ROOT, NULL},
	{"outputs", IN(CONFIG), FIELD_ROOT, NULL},
	{"providers", IN(CONFIG), FIELD_ROOT, NULL},
	{"variables", IN(CONFIG), FIELD_ROOT, NULL},
	{"config", IN(PLAN), FIELD_CONFIG, NULL},
	{"state", IN(PLAN), FIELD_STATE, NULL},
};

/* A field before it is made. */
struct unread {
	struct namespace *namespace;
	const struct field *field;
};

static struct value make_field(struct run *run, const void *data, uint32_t offset)
{
	const struct unread *unread = data;
	struct namespace *namespace = unread->namespace;
	const struct v1 *v1 = v1_of(namespace);

	(void)offset;
	switch (unread->field->kind) {
	case FIELD_PATHS:
		return doc_to(v1_module_paths(v1, modules_of(namespace)));
	case FIELD_MADE:
		return doc_to(unread->field->make(v1));
	case FIELD_CONFIG:
		return as_map(namespace_new(run, V1_CONFIG, namespace));
	case FIELD_STATE:
		return as_map(namespace_new(run, V1_STATE, namespace));
	default:
		return doc_to(doc_at(&v1->doc, doc_at(&v1->doc, modules_of(namespace), ""), unread->field->name));
	}
}

/* ---- module ---- */

/* "module.a.module.b" for ["a", "b"]. False if an element is no string. */
static bool address_of(struct run *run, const struct doc *doc, struct value path, struct doc_text *ret_address)
{
	struct doc_text address = doc_literal("");

	for (size_t i = 0; i < list_len(path); i++) {
		struct value name = list_at(run, path, i);

		if (!value_is(name, VALUE_STRING))
			return false;
		address = doc_join(doc, address, i > 0 ? ".module." : "module.", doc->class->text(doc_from(name)));
	}
	*ret_address = address;
	return true;
}

static struct value call_module(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct namespace *namespace = *(struct namespace *const *)data;
	const struct doc *doc = &namespace->owner.v1.doc;
	struct doc_value module = doc_none;
	struct doc_text address;

	arguments_check(run, "module", "l", args, count);
	if (address_of(run, doc, args[0], &address))
		module = doc->class->get(doc->owner, modules_of(namespace), address);
	return doc_is(doc, module, DOC_NONE) ? value_null() : value_view(run, doc_to(module));
}

static const struct native functions[] = {
	{"module", 1, 1, false, call_module},
};

/* ---- imports ---- */

/* `of` has the files, and what was read of them. */
static struct namespace *namespace_new(struct run *run, enum v1_import import, const struct namespace *of)
{
	struct namespace *namespace = run_alloc(run, 1, sizeof(*namespace));

	*namespace = *of;
	namespace->modules = doc_none;
	namespace->owner.run = run;
	namespace->owner.v1.import = import;
	namespace->owner.v1.doc = (struct doc){.class = &doc_of_values, .owner = &namespace->owner};
	namespace->fields = map_new(run, ARRAY_LEN(fields));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		struct unread *unread = run_alloc(run, 1, sizeof(*unread));

		if (!(fields[i].imports & 1u << import))
			continue;
		*unread = (struct unread){.namespace = namespace, .field = &fields[i]};
		map_set_lazy(run, namespace->fields, string_text(run, fields[i].name),
			(struct lazy){.make = make_field, .data = unread});
	}
	return namespace;
}

static const void *boxed(struct namespace *namespace)
{
	struct namespace **box = run_alloc(namespace->owner.run, 1, sizeof(*box));

	*box = namespace;
	return box;
}

static struct value as_map(struct namespace *namespace)
{
	struct run *run = namespace->owner.run;

	map_set_text(run, namespace->fields, "module", function_native(run, &functions[0], boxed(namespace)));
	return namespace->fields;
}

static bool field_at(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	const struct namespace *namespace = *(struct namespace *const *)import->data;

	return map_get_bytes(run, namespace->fields, name, len, ret_field);
}

static struct value import_new(
	struct run *run, enum v1_import of, const struct source *plan, const struct source *schemas)
{
	static const char *const names[] = {[V1_PLAN] = "tfplan", [V1_CONFIG] = "tfconfig", [V1_STATE] = "tfstate"};
	struct import *import = run_alloc(run, 1, sizeof(*import));
	const struct namespace files = {.plan = plan, .schemas = schemas};

	*import = (struct import){.name = names[of],
		.functions = functions,
		.function_count = ARRAY_LEN(functions),
		.field = field_at,
		.data = boxed(namespace_new(run, of, &files))};
	return (struct value){.type = VALUE_IMPORT, .import = import};
}

struct value import_v1_plan(struct run *run, const struct source *plan, const struct source *schemas)
{
	return import_new(run, V1_PLAN, plan, schemas);
}

struct value import_v1_config(struct run *run, const struct source *plan, const struct source *schemas)
{
	return import_new(run, V1_CONFIG, plan, schemas);
}

struct value import_v1_state(struct run *run, const struct source *plan, const struct source *schemas)
{
	return import_new(run, V1_STATE, plan, schemas);
}
