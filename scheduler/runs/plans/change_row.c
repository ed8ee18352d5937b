/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/plans/change_row.h"

#include <string.h>

#include "common/buf.h"
#include "common/text.h"

json_t *change_text(const json_t *text, struct secret_texts *secrets)
{
	char cut[MAX_CHANGE_NAME + 1];
	json_t *shown = name_redact(text, secrets);

	if (json_string_length(shown) <= MAX_CHANGE_NAME)
		return shown;
	text_copy(cut, sizeof(cut), json_string_value(shown));
	json_decref(shown);
	return json_string(cut);
}

/* ---- reading ---- */

static void action_read(struct change_row *row)
{
	const json_t *actions = json_object_get(row->change, "actions");
	struct buf joined = BUF_INIT(sizeof(row->action) - 1);
	bool whole = json_array_size(actions) > 0;
	json_t *action;
	size_t i;

	json_array_foreach((json_t *)actions, i, action)
	{
		const char *text = json_string_value(action);

		whole = whole && text && *text && buf_printf(&joined, "%s%s", i ? "," : "", text) == 0;
	}
	if (!whole || secret_texts_in(row->secrets, buf_str(&joined), joined.len))
		text_copy(row->action, sizeof(row->action), "unknown");
	else
		text_copy(row->action, sizeof(row->action), buf_str(&joined));
	buf_release(&joined);
}

static bool member_differs(const struct change_shown *shown, const char *key)
{
	const json_t *before = json_object_get(shown->before, key), *after = json_object_get(shown->after, key);

	if (mask_marks(json_object_get(shown->unknown, key)) || mask_marks(json_object_get(shown->changed, key)))
		return true;
	return before && after ? !json_equal(before, after) : before != after;
}

static void changed_add(struct change_row *row, const char *key)
{
	json_auto_t *name = json_string(key);

	if (row->changed_count++ < MAX_CHANGED_NAMES)
		json_array_append_new(row->changed, change_text(name, row->secrets));
}

static void changed_read(struct change_row *row)
{
	const struct change_shown *shown = &row->shown;
	const json_t *sides[] = {shown->before, shown->after, shown->unknown};
	const char *key;
	json_t *member;

	row->changed = json_array();
	for (size_t i = 0; i < ARRAY_LEN(sides); i++)
		json_object_foreach((json_t *)sides[i], key, member)
		{
			bool seen =
				(i > 0 && json_object_get(sides[0], key)) || (i > 1 && json_object_get(sides[1], key));

			if (!seen && member_differs(shown, key))
				changed_add(row, key);
		}
}

/* Of a creation or a deletion: attributes with a value. */
static long long values_count(const struct change_shown *shown)
{
	const json_t *side = json_is_object(shown->after) ? shown->after : shown->before;
	long long count = 0;
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)side, key, member) count +=
		!json_is_null(member) || mask_marks(json_object_get(shown->sensitive, key));
	return count;
}

static void values_read(struct change_row *row)
{
	const struct change_sides sides = {json_object_get(row->change, "before"),
		json_object_get(row->change, "after"), json_object_get(row->change, "before_sensitive"),
		json_object_get(row->change, "after_sensitive"), json_object_get(row->change, "after_unknown")};

	change_redact(&sides, row->secrets, &row->shown);
	if (json_is_object(row->shown.before) && json_is_object(row->shown.after))
		changed_read(row);
	else
		row->changed_count = values_count(&row->shown);
}

void change_row_read(struct change_row *row, const json_t *source)
{
	const json_t *previous = json_object_get(source, "previous_address");

	row->source = source;
	row->change = json_object_get(source, "change");
	action_read(row);
	row->is_import = json_is_object(json_object_get(row->change, "importing"));
	row->is_move = json_is_string(previous) && !json_equal(previous, json_object_get(source, "address"));
	if (!row->unreadable)
		values_read(row);
}

void change_row_release(struct change_row *row)
{
	change_shown_release(&row->shown);
	json_decref(row->changed);
	row->changed = NULL;
}

bool change_row_is_hidden(const struct change_row *row)
{
	return text_equal(row->action, "no-op") && !row->is_import && !row->is_move;
}

/* ---- showing ---- */

/* Sets a member, unless the value is null. Takes the value. */
static void shown_set(json_t *object, const char *name, json_t *value)
{
	if (value && !json_is_null(value))
		json_object_set_new(object, name, value);
	else
		json_decref(value);
}

/* An address may quote the key of an instance, with escapes: so the key is looked at, too. */
static json_t *address_show(const struct change_row *row, const char *name)
{
	if (secret_texts_in_value(row->secrets, json_object_get(row->source, "index")))
		return json_string(SENSITIVE_NAME);
	return change_text(json_object_get(row->source, name), row->secrets);
}

static json_t *badges_show(const struct change_row *row)
{
	json_t *badges = json_array();

	if (row->is_import)
		json_array_append_new(badges, json_string("import"));
	if (row->is_move)
		json_array_append_new(badges, json_string("move"));
	if (json_array_size(badges))
		return badges;
	json_decref(badges);
	return NULL;
}

/* The members of the source that are shown in the row and with the values, and those that are shown with the values. */
static const struct {
	const char *name, *source;
	bool in_row;
} texts[] = {
	{"type", "type", true},
	{"module", "module_address", true},
	{"reason", "action_reason", true},
	{"deposed", "deposed", true},
	{"mode", "mode", false},
	{"name", "name", false},
	{"provider", "provider_name", false},
};

static json_t *head_show(const struct change_row *row, bool in_row)
{
	bool is_output = !json_object_get(row->source, "address");
	json_t *shown = json_pack("{sI ss}", "index", (json_int_t)row->index, "action", row->action);

	shown_set(shown, "address", address_show(row, is_output ? "name" : "address"));
	if (row->is_move)
		shown_set(shown, "previous-address", address_show(row, "previous_address"));
	shown_set(shown, "badges", badges_show(row));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].in_row || !in_row)
			shown_set(shown, texts[i].name,
				change_text(json_object_get(row->source, texts[i].source), row->secrets));
	shown_set(shown, "deferred-reason", change_text(row->deferred_reason, row->secrets));
	if (row->relevant)
		json_object_set_new(shown, "relevant", json_true());
	if (row->unreadable)
		json_object_set_new(shown, "unreadable", json_true());
	return shown;
}

json_t *change_row_show(const struct change_row *row)
{
	json_t *shown = head_show(row, true);

	shown_set(shown, "changed", json_incref(row->changed));
	json_object_set_new(shown, "changed-count", json_integer(row->changed_count));
	return shown;
}

static json_t *paths_show(const struct change_row *row)
{
	const json_t *paths = json_object_get(row->change, "replace_paths");
	json_t *shown, *path;
	size_t i;

	if (row->unreadable || !json_array_size(paths))
		return NULL;
	shown = json_array();
	json_array_foreach((json_t *)paths, i, path)
	{
		json_t *cut = path_redact(path, row->shown.sensitive, row->secrets);

		if (cut)
			json_array_append_new(shown, cut);
	}
	return shown;
}

json_t *change_row_values(const struct change_row *row)
{
	json_t *shown = head_show(row, false);
	const json_t *importing = json_object_get(row->change, "importing");

	json_object_set_new(shown, "list", json_string(row->list));
	shown_set(shown, "import-id", change_text(json_object_get(importing, "id"), row->secrets));
	if (!row->unreadable)
		shown_set(shown, "generated-configuration",
			name_redact(json_object_get(row->change, "generated_config"), row->secrets));
	shown_set(shown, "replace-paths", paths_show(row));
	if (row->shown.before)
		json_object_set(shown, "before", row->shown.before);
	if (row->shown.after)
		json_object_set(shown, "after", row->shown.after);
	shown_set(shown, "sensitive", json_incref(row->shown.sensitive));
	shown_set(shown, "changed", json_incref(row->shown.changed));
	shown_set(shown, "unknown", json_incref(row->shown.unknown));
	return shown;
}
