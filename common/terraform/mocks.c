/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/mocks.h"

#include <string.h>

#include "common/terraform/literal.h"

/* ---- helpers ---- */

/* Copies the named members; null if the plan lacks one. */
static void take(json_t *to, const json_t *from, const char *const *names)
{
	for (; *names; names++) {
		json_t *value = json_object_get(from, *names);

		json_object_set_new(to, *names, value ? json_incref(value) : json_null());
	}
}

/* Copies a text under another name; "" if the plan lacks it. */
static void take_text(json_t *to, const char *name, const json_t *from, const char *member)
{
	json_object_set_new(to, name, json_string(text_or_empty(json_string_at(from, member))));
}

static json_t *or_empty(json_t *value)
{
	return value && !json_is_null(value) ? json_incref(value) : json_object();
}

static json_t *or_list(json_t *value)
{
	return json_is_array(value) ? json_incref(value) : json_array();
}

static char *key_in(const char *module, const char *name)
{
	return mem_printf("%s%s%s", module, *module ? ":" : "", name);
}

/* ---- states ---- */

/* Adds each key as "name" to its value: {"name": {"value": ...}}. All collections of the imports have this form. */
static json_t *named(const json_t *by_name)
{
	json_t *all = json_object(), *item;
	const char *name;

	json_object_foreach((json_t *)by_name, name, item)
	{
		json_t *copy = json_is_object(item) ? json_copy(item) : json_object();

		json_object_set_new(copy, "name", json_string(name));
		json_object_set_new(all, name, copy);
	}
	return all;
}

static char *keyed(const json_t *resource, const char *deposed)
{
	const char *address = text_or_empty(json_string_at(resource, "address"));

	return mem_printf("%s%s%s", address, deposed && *deposed ? ":" : "", text_or_empty(deposed));
}

static void add_states(json_t *all, const json_t *module)
{
	static const char *const names[] = {
		"address", "mode", "type", "name", "index", "provider_name", "values", NULL};
	const json_t *resource, *child;
	size_t i;

	json_array_foreach(json_object_get(module, "resources"), i, resource)
	{
		_cleanup_(freep) char *key = keyed(resource, json_string_at(resource, "deposed_key"));
		json_t *entry = json_object();

		take(entry, resource, names);
		take_text(entry, "module_address", module, "address");
		take_text(entry, "deposed_key", resource, "deposed_key");
		json_object_set_new(entry, "depends_on", or_list(json_object_get(resource, "depends_on")));
		json_object_set_new(entry, "tainted", json_boolean(json_bool_at(resource, "tainted", false)));
		json_object_set_new(all, key, entry);
	}
	json_array_foreach(json_object_get(module, "child_modules"), i, child) add_states(all, child);
}

static json_t *state_of(const json_t *values)
{
	json_t *resources = json_object();

	add_states(resources, json_object_get(values, "root_module"));
	return json_pack("{so so}", "outputs", named(json_object_get(values, "outputs")), "resources", resources);
}

static json_t *tfstate(const json_t *plan, const json_t *run)
{
	const json_t *prior = json_object_get(plan, "prior_state");
	json_t *state = state_of(json_object_get(prior, "values"));

	(void)run;
	take_text(state, "terraform_version", prior ? prior : plan, "terraform_version");
	return state;
}

/* ---- the plan ---- */

static json_t *changes_of(const json_t *list)
{
	static const char *const names[] = {
		"address", "mode", "type", "name", "index", "provider_name", "change", NULL};
	json_t *all = json_object();
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		_cleanup_(freep) char *key = keyed(item, json_string_at(item, "deposed"));
		json_t *entry = json_object();

		take(entry, item, names);
		take_text(entry, "module_address", item, "module_address");
		take_text(entry, "deposed", item, "deposed");
		json_object_set_new(all, key, entry);
	}
	return all;
}

static json_t *output_changes(const json_t *by_name)
{
	json_t *all = json_object(), *change;
	const char *name;

	json_object_foreach((json_t *)by_name, name, change)
		json_object_set_new(all, name, json_pack("{ss sO}", "name", name, "change", change));
	return all;
}

static json_t *tfplan(const json_t *plan, const json_t *run)
{
	json_t *values = json_object();

	(void)run;
	take_text(values, "terraform_version", plan, "terraform_version");
	json_object_set_new(values, "variables", named(json_object_get(plan, "variables")));
	json_object_set_new(values, "planned_values", state_of(json_object_get(plan, "planned_values")));
	json_object_set_new(values, "resource_changes", changes_of(json_object_get(plan, "resource_changes")));
	json_object_set_new(values, "resource_drift", changes_of(json_object_get(plan, "resource_drift")));
	json_object_set_new(values, "output_changes", output_changes(json_object_get(plan, "output_changes")));
	json_object_set_new(values, "raw", json_incref((json_t *)plan));
	return values;
}

/* ---- the configuration ---- */

struct configuration {
	json_t *providers, *resources, *provisioners, *variables, *outputs, *module_calls;
};

static void add_providers(struct configuration *all, const json_t *by_key)
{
	json_t *provider;
	const char *key;

	json_object_foreach((json_t *)by_key, key, provider)
	{
		json_t *entry = json_object();

		json_object_set_new(entry, "provider_config_key", json_string(key));
		take_text(entry, "name", provider, "name");
		take_text(entry, "full_name", provider, "full_name");
		take_text(entry, "alias", provider, "alias");
		take_text(entry, "module_address", provider, "module_address");
		take_text(entry, "version_constraint", provider, "version_constraint");
		json_object_set_new(entry, "config", or_empty(json_object_get(provider, "expressions")));
		json_object_set_new(all->providers, key, entry);
	}
}

static json_t *add_provisioners(struct configuration *all, const char *address, const json_t *list)
{
	json_t *own = json_array();
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		_cleanup_(freep) char *index = mem_printf("%zu", i);
		_cleanup_(freep) char *key = mem_printf("%s:%zu", address, i);
		json_t *entry = json_pack("{ss ss ss so}", "resource_address", address, "type",
			text_or_empty(json_string_at(item, "type")), "index", index, "config",
			or_empty(json_object_get(item, "expressions")));

		json_array_append(own, entry);
		json_object_set_new(all->provisioners, key, entry);
	}
	return own;
}

static void add_resource(struct configuration *all, const char *module, const json_t *resource)
{
	_cleanup_(freep) char *address =
		mem_printf("%s%s%s", module, *module ? "." : "", text_or_empty(json_string_at(resource, "address")));
	json_t *entry = json_object();

	json_object_set_new(entry, "address", json_string(address));
	json_object_set_new(entry, "module_address", json_string(module));
	take_text(entry, "mode", resource, "mode");
	take_text(entry, "type", resource, "type");
	take_text(entry, "name", resource, "name");
	take_text(entry, "provider_config_key", resource, "provider_config_key");
	json_object_set_new(
		entry, "provisioners", add_provisioners(all, address, json_object_get(resource, "provisioners")));
	json_object_set_new(entry, "config", or_empty(json_object_get(resource, "expressions")));
	json_object_set_new(entry, "count", or_empty(json_object_get(resource, "count_expression")));
	json_object_set_new(entry, "for_each", or_empty(json_object_get(resource, "for_each_expression")));
	json_object_set_new(entry, "depends_on", or_list(json_object_get(resource, "depends_on")));
	json_object_set_new(all->resources, address, entry);
}

static void add_variables(struct configuration *all, const char *module, const json_t *by_name)
{
	static const char *const names[] = {"default", NULL};
	json_t *variable;
	const char *name;

	json_object_foreach((json_t *)by_name, name, variable)
	{
		_cleanup_(freep) char *key = key_in(module, name);
		json_t *entry = json_pack("{ss ss}", "module_address", module, "name", name);

		take(entry, variable, names);
		take_text(entry, "description", variable, "description");
		json_object_set_new(all->variables, key, entry);
	}
}

static void add_outputs(struct configuration *all, const char *module, const json_t *by_name)
{
	json_t *output;
	const char *name;

	json_object_foreach((json_t *)by_name, name, output)
	{
		_cleanup_(freep) char *key = key_in(module, name);
		json_t *entry = json_pack("{ss ss sb so so}", "module_address", module, "name", name, "sensitive",
			json_bool_at(output, "sensitive", false), "value",
			or_empty(json_object_get(output, "expression")), "depends_on",
			or_list(json_object_get(output, "depends_on")));

		take_text(entry, "description", output, "description");
		json_object_set_new(all->outputs, key, entry);
	}
}

static void add_module(struct configuration *all, const char *module, const json_t *content);

static void add_calls(struct configuration *all, const char *module, const json_t *by_name)
{
	json_t *call;
	const char *name;

	json_object_foreach((json_t *)by_name, name, call)
	{
		_cleanup_(freep) char *key = key_in(module, name);
		_cleanup_(freep) char *inner = mem_printf("%s%smodule.%s", module, *module ? "." : "", name);
		json_t *entry = json_pack("{ss ss so so so so}", "module_address", module, "name", name, "config",
			or_empty(json_object_get(call, "expressions")), "count",
			or_empty(json_object_get(call, "count_expression")), "for_each",
			or_empty(json_object_get(call, "for_each_expression")), "depends_on",
			or_list(json_object_get(call, "depends_on")));

		take_text(entry, "source", call, "source");
		take_text(entry, "version_constraint", call, "version_constraint");
		json_object_set_new(all->module_calls, key, entry);
		add_module(all, inner, json_object_get(call, "module"));
	}
}

static void add_module(struct configuration *all, const char *module, const json_t *content)
{
	const json_t *resource;
	size_t i;

	json_array_foreach(json_object_get(content, "resources"), i, resource) add_resource(all, module, resource);
	add_variables(all, module, json_object_get(content, "variables"));
	add_outputs(all, module, json_object_get(content, "outputs"));
	add_calls(all, module, json_object_get(content, "module_calls"));
}

static json_t *tfconfig(const json_t *plan, const json_t *run)
{
	struct configuration all = {.providers = json_object(),
		.resources = json_object(),
		.provisioners = json_object(),
		.variables = json_object(),
		.outputs = json_object(),
		.module_calls = json_object()};
	const json_t *configuration = json_object_get(plan, "configuration");

	(void)run;
	add_providers(&all, json_object_get(configuration, "provider_config"));
	add_module(&all, "", json_object_get(configuration, "root_module"));
	return json_pack("{so so so so so so}", "providers", all.providers, "resources", all.resources, "provisioners",
		all.provisioners, "variables", all.variables, "outputs", all.outputs, "module_calls", all.module_calls);
}

/* An instance key may contain any text, even brackets. Of each piece only the text after its last ']' is kept. */
static const char strip_index[] = "import \"strings\"\n\n"
				  "strip_index = func(addr) {\n"
				  "\tpieces = strings.split(addr, \"[\")\n"
				  "\tstripped = pieces[0]\n"
				  "\tfor pieces as i, piece {\n"
				  "\t\ttails = strings.split(piece, \"]\")\n"
				  "\t\tif i > 0 and length(tails) > 1 {\n"
				  "\t\t\tstripped = stripped + tails[length(tails) - 1]\n"
				  "\t\t}\n"
				  "\t}\n"
				  "\treturn stripped\n"
				  "}\n\n";

/* ---- the run ---- */

/* The keys of `variables` are the users' names, which may have a '-'. */
static json_t *renamed(const json_t *value)
{
	json_t *copy, *member;
	const char *key;

	if (!json_is_object(value))
		return json_deep_copy(value);
	copy = json_object();
	json_object_foreach((json_t *)value, key, member)
	{
		_cleanup_(freep) char *name = mem_text(key);

		for (char *at = name; *at; at++)
			if (*at == '-')
				*at = '_';
		json_object_set_new(
			copy, name, text_equal(key, "variables") ? json_deep_copy(member) : renamed(member));
	}
	return copy;
}

json_t *policy_run(const json_t *run)
{
	json_t *told = json_is_object(run) ? renamed(run) : json_object();

	if (json_is_null(json_object_get(told, "cost_estimate")))
		json_object_del(told, "cost_estimate");
	return told;
}

static json_t *tfrun(const json_t *plan, const json_t *run)
{
	(void)plan;
	return json_incref((json_t *)run);
}

const struct mock mocks[] = {
	{"tfplan/v2", "mock-tfplan-v2.sentinel", tfplan, NULL},
	{"tfconfig/v2", "mock-tfconfig-v2.sentinel", tfconfig, strip_index},
	{"tfstate/v2", "mock-tfstate-v2.sentinel", tfstate, NULL},
	{"tfrun", "mock-tfrun.sentinel", tfrun, NULL},
};
const size_t mock_count = ARRAY_LEN(mocks);

int mock_write(const struct mock *mock, const json_t *plan, const json_t *run, struct buf *out)
{
	json_auto_t *values = mock->values(plan, run);
	const char *name;
	json_t *value;

	if (mock->functions && buf_text(out, mock->functions) < 0)
		return -1;
	json_object_foreach(values, name, value)
	{
		if (buf_printf(out, "%s = ", name) < 0 || literal_write(out, value, LITERAL_SENTINEL) < 0 ||
			buf_text(out, "\n\n") < 0)
			return -1;
	}
	return 0;
}
