/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/plan.h"

#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "worker/cost/exact.h"

enum { ADDRESS_LIMIT = 64 * 1024 };

/* ---- providers of resources ---- */

static void note_keys(json_t *keys, const json_t *module, const char *prefix)
{
	const json_t *resource;
	const char *name;
	json_t *call;
	size_t i;

	json_array_foreach(json_object_get(module, "resources"), i, resource)
	{
		const char *relative = json_string_at(resource, "address");
		const char *key = json_string_at(resource, "provider_config_key");
		_cleanup_(freep) char *address = mem_printf("%s%s", prefix, text_or_empty(relative));

		if (relative && key)
			json_object_set_new(keys, address, json_string(key));
	}
	json_object_foreach(json_object_get(module, "module_calls"), name, call)
	{
		_cleanup_(freep) char *below = mem_printf("%smodule.%s.", prefix, name);

		note_keys(keys, json_object_get(call, "module"), below);
	}
}

/* Copies an address without the parts in brackets: `module.a["x.y"].aws_eip.b[0]` becomes `module.a.aws_eip.b`. */
static void append_without_indexes(struct buf *out, const char *address)
{
	bool inside = false, quoted = false;

	for (const char *at = address; *at; at++) {
		if (quoted && *at == '\\' && at[1])
			at++;
		else if (inside && *at == '"')
			quoted = !quoted;
		else if (!quoted && *at == '[')
			inside = true;
		else if (inside && !quoted && *at == ']')
			inside = false;
		else if (!inside)
			buf_append(out, at, 1);
	}
}

static const json_t *provider_of(const struct plan *plan, const json_t *change)
{
	_cleanup_(buf_release) struct buf address = BUF_INIT(ADDRESS_LIMIT);

	append_without_indexes(&address, text_or_empty(json_string_at(change, "address")));
	return json_object_get(
		plan->providers, text_or_empty(json_string_value(json_object_get(plan->keys, buf_str(&address)))));
}

/* ---- the providers' arguments ---- */

/* The value of `var.<name>` in the top module. A sensitive one counts as unknown. */
static json_t *variable_value(const struct plan *plan, const char *name)
{
	const json_t *declared = json_object_get(json_at(plan->source, "configuration.root_module.variables"), name);
	const json_t *given = json_object_get(json_object_get(plan->source, "variables"), name);

	return json_is_true(json_object_get(declared, "sensitive")) ? NULL : json_object_get(given, "value");
}

/* The value of an expression that is a constant or only a variable. Any other expression would have to be evaluated. */
static json_t *argument_value(const struct plan *plan, const json_t *expression)
{
	const json_t *references = json_object_get(expression, "references");
	const char *reference = json_string_value(json_array_get(references, 0));
	json_t *constant = json_object_get(expression, "constant_value");

	if (constant || json_array_size(references) != 1 || !text_starts(reference, "var."))
		return constant;
	return variable_value(plan, reference + strlen("var."));
}

static void note_providers(struct plan *plan)
{
	const char *key, *name;
	json_t *provider, *expression;

	json_object_foreach((json_t *)json_at(plan->source, "configuration.provider_config"), key, provider)
	{
		json_t *arguments = json_object();

		json_object_foreach(json_object_get(provider, "expressions"), name, expression)
		{
			json_t *value = json_object_get(provider, "module_address")
				? json_object_get(expression, "constant_value")
				: argument_value(plan, expression);

			if (value)
				json_object_set(arguments, name, value);
		}
		json_object_set_new(plan->providers, key, arguments);
	}
}

/* ---- reading ---- */

int plan_read(const char *text, size_t len, struct plan *ret_plan, struct err *err)
{
	struct plan plan = {.source = NULL};

	if (exact_parse(text, len, &plan.source, err) < 0)
		return err_context(err, "the plan can't be read");
	if (!json_is_string(json_object_get(plan.source, "format_version"))) {
		json_decref(plan.source);
		return err_set(err, ERR_MALFORMED, "the plan can't be read: it has no format_version");
	}
	plan.providers = json_object();
	plan.keys = json_object();
	note_keys(plan.keys, json_at(plan.source, "configuration.root_module"), "");
	note_providers(&plan);
	*ret_plan = plan;
	return 0;
}

void plan_release(struct plan *plan)
{
	json_decref(plan->source);
	json_decref(plan->providers);
	json_decref(plan->keys);
	*plan = (struct plan){.source = NULL};
}

static const json_t *object_or_null(const json_t *value)
{
	return json_is_object(value) ? value : NULL;
}

static struct planned planned_of(const struct plan *plan, const json_t *resource)
{
	const json_t *change = json_object_get(resource, "change");
	const json_t *provider = provider_of(plan, resource);

	return (struct planned){
		.address = json_string_at(resource, "address"),
		.deposed = json_string_at(resource, "deposed"),
		.type = json_string_at(resource, "type"),
		.provider = json_string_at(resource, "provider_name"),
		.before = {.planned = {.values = object_or_null(json_object_get(change, "before")),
				   .sensitive = json_object_get(change, "before_sensitive")},
			.provider.values = provider},
		.after = {.planned = {.values = object_or_null(json_object_get(change, "after")),
				  .unknown = json_object_get(change, "after_unknown"),
				  .sensitive = json_object_get(change, "after_sensitive")},
			.provider.values = provider},
	};
}

static bool is_priced(const json_t *resource, const struct planned *planned)
{
	return text_equal(json_string_at(resource, "mode"), "managed") && planned->address && planned->type;
}

/* Calls fn for the objects that a refresh-only plan found and keeps. Such a plan has no resource changes and no
 * planned values. */
static void each_kept(const struct plan *plan, const json_t *module,
	void (*fn)(void *data, const struct planned *planned), void *data)
{
	const json_t *resource, *child;
	size_t i;

	json_array_foreach(json_object_get(module, "resources"), i, resource)
	{
		struct planned planned = planned_of(plan, resource);

		planned.before.planned = planned.after.planned =
			(struct value_tree){.values = object_or_null(json_object_get(resource, "values")),
				.sensitive = json_object_get(resource, "sensitive_values")};
		if (is_priced(resource, &planned))
			fn(data, &planned);
	}
	json_array_foreach(json_object_get(module, "child_modules"), i, child)
	{
		each_kept(plan, child, fn, data);
	}
}

void plan_each(const struct plan *plan, void (*fn)(void *data, const struct planned *planned), void *data)
{
	const json_t *changes = json_object_get(plan->source, "resource_changes"), *resource;
	size_t i;

	if (!changes)
		each_kept(plan, json_at(plan->source, "prior_state.values.root_module"), fn, data);
	json_array_foreach(changes, i, resource)
	{
		struct planned planned = planned_of(plan, resource);

		if (is_priced(resource, &planned))
			fn(data, &planned);
	}
}
