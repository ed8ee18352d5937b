/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/plan_redact.h"

#include <string.h>

enum { MIN_SECRET = 4 };

/* The value without the parts that the mask marks as sensitive. The mask is true, or has the value's structure. */
static json_t *value_redact(const json_t *value, const json_t *mask)
{
	const char *key;
	json_t *member, *copy;
	size_t i;

	if (json_is_true(mask))
		return json_null();
	if (json_is_object(value) && json_is_object(mask)) {
		copy = json_object();
		json_object_foreach((json_t *)value, key, member)
			json_object_set_new(copy, key, value_redact(member, json_object_get(mask, key)));
		return copy;
	}
	if (json_is_array(value) && json_is_array(mask)) {
		copy = json_array();
		json_array_foreach((json_t *)value, i, member)
			json_array_append_new(copy, value_redact(member, json_array_get(mask, i)));
		return copy;
	}
	return json_deep_copy(value);
}

static json_t *change_redact(const json_t *change)
{
	static const struct {
		const char *value, *mask;
	} sides[] = {{"before", "before_sensitive"}, {"after", "after_sensitive"}};
	json_t *copy = json_deep_copy(change);

	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		const json_t *value = json_object_get(change, sides[i].value);

		if (value)
			json_object_set_new(
				copy, sides[i].value, value_redact(value, json_object_get(change, sides[i].mask)));
	}
	return copy;
}

/* Redacts an array of objects with a `change` each. */
static json_t *changes_redact(const json_t *changes)
{
	json_t *copy = json_array();
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)changes, i, item)
	{
		json_t *one = json_copy(item);

		if (json_object_get(item, "change"))
			json_object_set_new(one, "change", change_redact(json_object_get(item, "change")));
		json_array_append_new(copy, one);
	}
	return copy;
}

static json_t *outputs_redact(const json_t *outputs)
{
	json_t *copy = json_object();
	const char *name;
	json_t *change;

	json_object_foreach((json_t *)outputs, name, change) json_object_set_new(copy, name, change_redact(change));
	return copy;
}

/* Terraform does not mark a sensitive variable that the configuration does not declare as sensitive. */
static bool text_is_secret(const char *text, const json_t *secrets)
{
	const json_t *secret;
	size_t i;

	json_array_foreach((json_t *)secrets, i, secret) if (json_string_length(secret) >= MIN_SECRET &&
		strstr(text, json_string_value(secret))) return true;
	return false;
}

static json_t *secrets_redact(json_t *value, const json_t *secrets)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value))
		return text_is_secret(json_string_value(value), secrets) ? json_string("(sensitive value)")
									 : json_incref(value);
	if (json_is_object(value)) {
		json_t *copy = json_object();

		json_object_foreach(value, key, member) json_object_set_new(copy, key, secrets_redact(member, secrets));
		return copy;
	}
	if (json_is_array(value)) {
		json_t *copy = json_array();

		json_array_foreach(value, i, member) json_array_append_new(copy, secrets_redact(member, secrets));
		return copy;
	}
	return json_incref(value);
}

static json_t *or_null(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

json_t *plan_redact(const json_t *plan, const json_t *schemas, const json_t *secrets)
{
	json_auto_t *shown = json_object();
	json_t *document;

	json_object_set_new(shown, "resource_changes", changes_redact(json_object_get(plan, "resource_changes")));
	json_object_set_new(shown, "resource_drift", changes_redact(json_object_get(plan, "resource_drift")));
	json_object_set_new(shown, "deferred_changes", changes_redact(json_object_get(plan, "deferred_changes")));
	json_object_set_new(shown, "output_changes", outputs_redact(json_object_get(plan, "output_changes")));
	json_object_set_new(shown, "relevant_attributes", or_null(plan, "relevant_attributes"));
	document = secrets_redact(shown, secrets);
	json_object_set_new(document, "plan_format_version", or_null(plan, "format_version"));
	json_object_set_new(document, "provider_format_version", json_string("1.0"));
	json_object_set_new(document, "provider_schemas", or_null(schemas, "provider_schemas"));
	return document;
}
