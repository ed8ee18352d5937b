/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/state_parse.h"

#include "common/err.h"

enum { STATE_FORMAT = 4 };

/* Terraform's numbers have no bound, and its strings may hold a zero. What does not fit an integer here is read as a
 * real: the facts are for showing, the bytes are kept as they came. */
static json_t *parse(const void *bytes, size_t len)
{
	json_t *document = json_loadb(bytes, len, JSON_ALLOW_NUL, NULL);

	return document ? document : json_loadb(bytes, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

static bool whole_number(const json_t *value, long long *ret_number)
{
	if (!json_is_number(value) || json_number_value(value) < 0 || json_number_value(value) > 9e15)
		return false;
	*ret_number = json_is_integer(value) ? json_integer_value(value) : (long long)json_real_value(value);
	return true;
}

int state_parse(const void *bytes, size_t len, struct state_facts *ret_facts, struct err *err)
{
	struct state_facts facts = {.document = parse(bytes, len)};
	long long version = 0;

	facts.lineage = json_string_at(facts.document, "lineage");
	facts.terraform_version = json_string_at(facts.document, "terraform_version");
	facts.outputs = json_at(facts.document, "outputs");
	if (!whole_number(json_at(facts.document, "version"), &version) || version != STATE_FORMAT ||
		!whole_number(json_at(facts.document, "serial"), &facts.serial) || !facts.lineage) {
		state_facts_release(&facts);
		return err_set(err, ERR_INVALID, "this is no terraform state of version %d", STATE_FORMAT);
	}
	*ret_facts = facts;
	return 0;
}

void state_facts_release(struct state_facts *facts)
{
	json_decref(facts->document);
	facts->document = NULL;
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

	json_array_foreach(json_at(facts->document, "resources"), i, resource)
	{
		if (json_array_size(json_at(resource, "instances")))
			json_array_append_new(summary, resource_summary(resource));
	}
	return summary;
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
