/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/changes/risk_hints.h"

#include <string.h>

#include "common/text.h"

#define POINTER "/data/attributes/risk-hint-types"

static bool type_valid(const json_t *type)
{
	const char *text = text_or_empty(json_string_value(type));
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len >= 1 && len <= MAX_RISK_TYPE && len == json_string_length(type);
}

int risk_types_check(const json_t *types, struct err *err)
{
	json_auto_t *seen = json_object();
	const json_t *type;
	size_t i;

	if (json_array_size(types) > MAX_RISK_TYPES)
		return err_at(err, POINTER, "Risk hint types must be at most %d", MAX_RISK_TYPES);
	json_array_foreach(types, i, type)
	{
		if (!type_valid(type))
			return err_at(err, POINTER,
				"Risk hint types must be types of resources such as aws_db_instance: 1 to %d "
				"characters of a-z, 0-9 and _",
				MAX_RISK_TYPE);
		if (json_object_get(seen, json_string_value(type)))
			return err_at(err, POINTER, "Risk hint types must be distinct: %s", json_string_value(type));
		json_object_set_new(seen, json_string_value(type), json_true());
	}
	return 0;
}

struct risk_action {
	const char *name;
	const char *actions[2]; /* of rows */
};

static const struct risk_action actions[] = {
	{"delete", {"delete", NULL}},
	{"replace", {"delete,create", "create,delete"}},
};

static bool row_counts(const json_t *row, const char *type, const struct risk_action *action)
{
	const char *of = json_string_value(json_object_get(row, "action"));

	return text_equal(json_string_value(json_object_get(row, "type")), type) &&
		(text_equal(of, action->actions[0]) || (action->actions[1] && text_equal(of, action->actions[1])));
}

static void hint_add(json_t *hints, const json_t *rows, const char *type, const struct risk_action *action)
{
	const json_t *row;
	json_int_t count = 0;
	size_t i;

	json_array_foreach(rows, i, row) count += row_counts(row, type, action);
	if (count)
		json_array_append_new(
			hints, json_pack("{ss ss sI}", "type", type, "action", action->name, "count", count));
}

json_t *risk_hints(const json_t *types, const json_t *rows)
{
	json_t *hints = json_array();
	const json_t *type;
	size_t i;

	json_array_foreach(types, i, type)
	{
		for (size_t k = 0; k < ARRAY_LEN(actions); k++)
			hint_add(hints, rows, json_string_value(type), &actions[k]);
	}
	return hints;
}
