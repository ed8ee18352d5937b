/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/callback/report_rules.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"

bool one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(text, words[i]))
			return true;
	return false;
}

static size_t characters(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

int text_member(const json_t *object, const char *parent, const struct text_rule *rule, json_t *to, struct err *err)
{
	const json_t *value = json_object_get(object, rule->name);
	const char *text = json_string_value(value);
	char pointer[128];

	snprintf(pointer, sizeof(pointer), "%s/%s", parent, rule->name);
	if (!value || json_is_null(value)) {
		if (rule->required)
			return err_at(err, pointer, "%s is required", rule->name);
		json_object_set_new(to, rule->name, json_null());
		return 0;
	}
	if (!text)
		return err_at(err, pointer, "%s must be a string", rule->name);
	if (rule->required && !*text)
		return err_at(err, pointer, "%s can't be empty", rule->name);
	if (rule->characters && characters(text) > rule->characters)
		return err_at(err, pointer, "%s is too long: the most is %zu characters", rule->name, rule->characters);
	if (rule->bytes && strlen(text) > rule->bytes)
		return err_at(err, pointer, "%s is too long: the most is %zu bytes", rule->name, rule->bytes);
	if (rule->url && *text && !text_starts(text, "http://") && !text_starts(text, "https://"))
		return err_at(err, pointer, "%s must be an http or https URL", rule->name);
	json_object_set_new(to, rule->name, rule->url && !*text ? json_null() : json_string(text));
	return 0;
}
