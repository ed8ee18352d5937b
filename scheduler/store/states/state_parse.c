/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_parse.h"

#include <string.h>

#include "common/err.h"

enum { STATE_FORMAT = 4 };

/* Terraform's numbers are unbounded, and its strings may contain a zero. Numbers that do not fit an integer are read as
 * reals: the facts are for display, and the bytes are stored unchanged. */
static int parse(const void *bytes, size_t len, struct json_document *ret_document, struct err *err)
{
	struct err first = ERR_INIT;

	if (json_document_load(ret_document, bytes, len, JSON_ALLOW_NUL, &first) == 0)
		return 0;
	if (first.kind == ERR_MALFORMED)
		return json_document_load(ret_document, bytes, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, err);
	*err = first;
	return -1;
}

int state_parse(const void *bytes, size_t len, struct state_facts *ret_facts, struct err *err)
{
	struct state_facts facts = {.serial = 0};
	const json_t *document;
	long long version = 0;

	if (parse(bytes, len, &facts.document, err) < 0 && err->kind != ERR_MALFORMED)
		return -1;
	document = facts.document.value;
	facts.lineage = json_string_at(document, "lineage");
	facts.terraform_version = json_string_at(document, "terraform_version");
	facts.outputs = json_at(document, "outputs");
	if (json_whole(json_at(document, "version"), 0, JSON_WHOLE_MAX, &version) < 0 || version != STATE_FORMAT ||
		json_whole(json_at(document, "serial"), 0, JSON_WHOLE_MAX, &facts.serial) < 0 || !facts.lineage) {
		state_facts_release(&facts);
		return err_set(err, ERR_INVALID, "this is no terraform state of version %d", STATE_FORMAT);
	}
	*ret_facts = facts;
	return 0;
}

void state_facts_release(struct state_facts *facts)
{
	json_document_release(&facts->document);
}

static json_t *resource_summary(const json_t *resource)
{
	const char *mode = text_or_empty(json_string_at(resource, "mode"));
	const char *module = json_string_at(resource, "module");
	_cleanup_(freep) char *type = mem_printf(
		"%s%s", text_equal(mode, "data") ? "data." : "", text_or_empty(json_string_at(resource, "type")));

	return json_pack("{s:o, s:s, s:i, s:s, s:o}", "name", json_string_or_null(json_string_at(resource, "name")),
		"type", type, "count", (int)json_array_size(json_at(resource, "instances")), "module",
		module ? module : "root", "provider", json_string_or_null(json_string_at(resource, "provider")));
}

json_t *state_resources(const struct state_facts *facts)
{
	json_t *summary = json_array();
	const json_t *resource;
	size_t i;

	json_array_foreach(json_at(facts->document.value, "resources"), i, resource)
	{
		if (json_array_size(json_at(resource, "instances")))
			json_array_append_new(summary, resource_summary(resource));
	}
	return summary;
}

long long state_managed_count(const json_t *resources)
{
	const json_t *resource;
	long long count = 0;
	size_t i;

	json_array_foreach(resources, i, resource)
	{
		if (!text_starts(text_or_empty(json_string_at(resource, "type")), "data."))
			count += json_int_at(resource, "count", 0);
	}
	return count;
}

/* ---- instances ---- */

/* "module.network.module.subnet" becomes "network.subnet"; no module becomes "root". */
static char *module_name(const char *module)
{
	static const char word[] = "module.";
	char *name = mem_text(module ? module : "root");
	char *out = name;
	bool quoted = false;

	for (const char *at = name; module && *at; at++) {
		bool begins = at == name || (at[-1] == '.' && !quoted);

		if (begins && text_starts(at, word))
			at += sizeof(word) - 1;
		if (*at == '"')
			quoted = !quoted;
		*out++ = *at;
	}
	if (module)
		*out = '\0';
	return name;
}

/* The key as written in an address: [0], ["a"]; "" for an instance without one. */
static char *index_text(const json_t *index)
{
	_cleanup_(freep) char *key = index && !json_is_null(index) ? json_text(index) : NULL;

	return key ? mem_printf("[%s]", key) : mem_text("");
}

/* provider["registry.terraform.io/hashicorp/aws"].west becomes hashicorp/aws. */
static char *provider_name(const char *provider)
{
	const char *begin = strchr(provider, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;
	const char *slash = begin ? strchr(begin, '/') : NULL;

	if (!end)
		return mem_text(provider);
	begin = slash && slash < end ? slash + 1 : begin + 1;
	return mem_printf("%.*s", (int)(end - begin), begin);
}

/* The same becomes registry.terraform.io/hashicorp/aws. */
static char *provider_source(const char *provider)
{
	const char *begin = strchr(provider, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;

	return end ? mem_printf("%.*s", (int)(end - begin - 1), begin + 1) : mem_text(provider);
}

static void instances_add(json_t *list, const json_t *resource)
{
	const char *module = json_string_at(resource, "module");
	const char *type = text_or_empty(json_string_at(resource, "type"));
	const char *name = text_or_empty(json_string_at(resource, "name"));
	_cleanup_(freep) char *in = module_name(module);
	_cleanup_(freep) char *provider = provider_name(text_or_empty(json_string_at(resource, "provider")));
	_cleanup_(freep) char *source = provider_source(text_or_empty(json_string_at(resource, "provider")));
	const json_t *instance;
	size_t i;

	json_array_foreach(json_at(resource, "instances"), i, instance)
	{
		const json_t *key = json_object_get(instance, "index_key");
		_cleanup_(freep) char *index = index_text(key);
		_cleanup_(freep) char *address =
			mem_printf("%s%s%s.%s%s", module ? in : "", module ? "." : "", type, name, index);
		_cleanup_(freep) char *engine =
			mem_printf("%s%s%s.%s%s", text_or_empty(module), module ? "." : "", type, name, index);
		_cleanup_(freep) char *shown = json_is_string(key) ? mem_text(json_string_value(key)) : json_text(key);

		json_array_append_new(list,
			json_pack("{ss ss ss ss ss so ss ss}", "address", address, "name", name, "module", in,
				"provider", provider, "type", type, "index", json_string_or_null(*index ? shown : NULL),
				"engine-address", engine, "source", source));
	}
}

json_t *state_instances(const struct state_facts *facts)
{
	json_t *list = json_array();
	const json_t *resource;
	size_t i;

	json_array_foreach(json_at(facts->document.value, "resources"), i, resource)
	{
		if (text_equal(json_string_at(resource, "mode"), "managed"))
			instances_add(list, resource);
	}
	return list;
}

const char *output_type_word(const json_t *type)
{
	static const struct {
		const char *type, *word;
	} words[] = {{"list", "array"}, {"set", "array"}, {"tuple", "array"}, {"map", "object"}, {"object", "object"}};
	const char *outer = json_string_value(json_array_get(type, 0));

	if (json_is_string(type))
		return json_string_value(type);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_equal(outer, words[i].type))
			return words[i].word;
	return "object";
}
