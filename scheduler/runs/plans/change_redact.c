/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/plans/change_redact.h"

#include <string.h>

/* jansson parses at most 2,048 levels, so the recursion is bounded. */

void change_shown_release(struct change_shown *shown)
{
	json_decref(shown->before);
	json_decref(shown->after);
	json_decref(shown->sensitive);
	json_decref(shown->changed);
	json_decref(shown->unknown);
	*shown = (struct change_shown)CHANGE_SHOWN_INIT;
}

bool mask_marks(const json_t *mask)
{
	const char *key;
	json_t *member;
	size_t i;

	json_object_foreach((json_t *)mask, key, member) if (mask_marks(member)) return true;
	json_array_foreach((json_t *)mask, i, member) if (mask_marks(member)) return true;
	return json_is_true(mask);
}

static bool values_differ(const json_t *a, const json_t *b)
{
	return a && b ? !json_equal(a, b) : a != b;
}

/* ---- blanking ---- */

static void sides_blank(const struct change_sides *sides, struct secret_texts *secrets, struct change_shown *ret_shown)
{
	bool unknown = mask_marks(sides->after_unknown);

	secret_texts_note(secrets, sides->before);
	secret_texts_note(secrets, sides->after);
	*ret_shown = (struct change_shown){.before = sides->before ? json_null() : NULL,
		.after = sides->after ? json_null() : NULL,
		.sensitive = json_true(),
		.changed = unknown || values_differ(sides->before, sides->after) ? json_true() : NULL,
		.unknown = unknown ? json_true() : NULL};
}

/* True if the mask can't be followed into the value, and may mean a part of it. */
static bool mask_fails(const json_t *value, const json_t *mask)
{
	if (!value || json_is_null(value) || !mask || json_is_null(mask) || json_is_false(mask))
		return false;
	if (json_is_object(mask))
		return !json_is_object(value) && mask_marks(mask);
	if (json_is_array(mask))
		return !json_is_array(value) && mask_marks(mask);
	return true;
}

static bool value_is_secret(const json_t *value, struct secret_texts *secrets)
{
	return secret_texts_noted(secrets, value) || secret_texts_in_value(secrets, value);
}

static bool must_blank(const struct change_sides *sides, struct secret_texts *secrets)
{
	return json_is_true(sides->before_sensitive) || json_is_true(sides->after_sensitive) ||
		mask_fails(sides->before, sides->before_sensitive) ||
		mask_fails(sides->after, sides->after_sensitive) || value_is_secret(sides->before, secrets) ||
		value_is_secret(sides->after, secrets);
}

/* ---- structure ---- */

static bool is_kind(const json_t *value, json_type kind)
{
	return value && json_typeof(value) == kind;
}

/* True if each side is of the kind, or is absent or null. */
static bool both_are(const struct change_sides *sides, json_type kind)
{
	const json_t *before = json_is_null(sides->before) ? NULL : sides->before;
	const json_t *after = json_is_null(sides->after) ? NULL : sides->after;

	if (!before && !after)
		return is_kind(sides->after_unknown, kind);
	return (!before || is_kind(before, kind)) && (!after || is_kind(after, kind));
}

/* An empty container of the kind for a side that is one; null stays null. */
static json_t *side_begin(const json_t *side, json_type kind)
{
	if (is_kind(side, kind))
		return kind == JSON_OBJECT ? json_object() : json_array();
	return side ? json_null() : NULL;
}

static void member_set(json_t **object, const char *key, json_t *value)
{
	if (!value)
		return;
	if (!*object)
		*object = json_object();
	json_object_set_new_nocheck(*object, key, value);
}

static void member_redact(
	const struct change_sides *sides, const char *key, struct secret_texts *secrets, struct change_shown *shown)
{
	const struct change_sides part = {json_object_get(sides->before, key), json_object_get(sides->after, key),
		json_object_get(sides->before_sensitive, key), json_object_get(sides->after_sensitive, key),
		json_object_get(sides->after_unknown, key)};
	bool is_secret = secret_texts_in(secrets, key, strlen(key));
	struct change_shown of;

	if (is_secret)
		sides_blank(&part, secrets, &of);
	else
		change_redact(&part, secrets, &of);
	key = is_secret ? SENSITIVE_NAME : key;
	member_set(&shown->before, key, of.before);
	member_set(&shown->after, key, of.after);
	member_set(&shown->sensitive, key, of.sensitive);
	member_set(&shown->changed, key, of.changed);
	member_set(&shown->unknown, key, of.unknown);
}

static void objects_redact(
	const struct change_sides *sides, struct secret_texts *secrets, struct change_shown *ret_shown)
{
	struct change_shown shown = {
		.before = side_begin(sides->before, JSON_OBJECT), .after = side_begin(sides->after, JSON_OBJECT)};
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)sides->before, key, member) member_redact(sides, key, secrets, &shown);
	json_object_foreach((json_t *)sides->after, key, member)
	{
		if (!json_object_get(sides->before, key))
			member_redact(sides, key, secrets, &shown);
	}
	json_object_foreach((json_t *)sides->after_unknown, key, member)
	{
		if (!json_object_get(sides->before, key) && !json_object_get(sides->after, key))
			member_redact(sides, key, secrets, &shown);
	}
	*ret_shown = shown;
}

/* Masks of arrays have an item for each item before the last that they mark. */
static void item_mask(json_t **array, size_t index, json_t *value)
{
	if (!value)
		return;
	if (!*array)
		*array = json_array();
	while (json_array_size(*array) < index)
		json_array_append_new(*array, json_false());
	json_array_append_new(*array, value);
}

static void item_redact(
	const struct change_sides *sides, size_t index, struct secret_texts *secrets, struct change_shown *shown)
{
	const struct change_sides part = {json_array_get(sides->before, index), json_array_get(sides->after, index),
		json_array_get(sides->before_sensitive, index), json_array_get(sides->after_sensitive, index),
		json_array_get(sides->after_unknown, index)};
	struct change_shown of;

	change_redact(&part, secrets, &of);
	if (of.before)
		json_array_append_new(shown->before, of.before);
	if (of.after)
		json_array_append_new(shown->after, of.after);
	item_mask(&shown->sensitive, index, of.sensitive);
	item_mask(&shown->changed, index, of.changed);
	item_mask(&shown->unknown, index, of.unknown);
}

static size_t longest(const struct change_sides *sides)
{
	const json_t *lists[] = {sides->before, sides->after, sides->after_unknown};
	size_t most = 0;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (json_array_size(lists[i]) > most)
			most = json_array_size(lists[i]);
	return most;
}

static void arrays_redact(
	const struct change_sides *sides, struct secret_texts *secrets, struct change_shown *ret_shown)
{
	struct change_shown shown = {
		.before = side_begin(sides->before, JSON_ARRAY), .after = side_begin(sides->after, JSON_ARRAY)};

	for (size_t i = 0, count = longest(sides); i < count; i++)
		item_redact(sides, i, secrets, &shown);
	*ret_shown = shown;
}

static bool is_plain(const json_t *value)
{
	return !json_is_object(value) && !json_is_array(value);
}

/* Sides of different kinds: both are shown only if neither has anything to blank. */
static void kinds_redact(const struct change_sides *sides, struct secret_texts *secrets, struct change_shown *ret_shown)
{
	const struct change_sides before = {.before = sides->before, .before_sensitive = sides->before_sensitive};
	const struct change_sides after = {.after = sides->after,
		.after_sensitive = sides->after_sensitive,
		.after_unknown = sides->after_unknown};
	struct change_shown first, second;

	change_redact(&before, secrets, &first);
	change_redact(&after, secrets, &second);
	if (first.sensitive || second.sensitive) {
		sides_blank(sides, secrets, ret_shown);
		change_shown_release(&first);
		change_shown_release(&second);
		return;
	}
	*ret_shown = (struct change_shown){.before = first.before, .after = second.after, .unknown = second.unknown};
}

static void plain_show(const struct change_sides *sides, struct change_shown *ret_shown)
{
	*ret_shown = (struct change_shown){.before = json_incref((json_t *)sides->before),
		.after = json_incref((json_t *)sides->after),
		.unknown = mask_marks(sides->after_unknown) ? json_true() : NULL};
}

void change_redact(const struct change_sides *sides, struct secret_texts *secrets, struct change_shown *ret_shown)
{
	if (must_blank(sides, secrets))
		sides_blank(sides, secrets, ret_shown);
	else if (both_are(sides, JSON_OBJECT))
		objects_redact(sides, secrets, ret_shown);
	else if (both_are(sides, JSON_ARRAY))
		arrays_redact(sides, secrets, ret_shown);
	else if (is_plain(sides->before) && is_plain(sides->after))
		plain_show(sides, ret_shown);
	else
		kinds_redact(sides, secrets, ret_shown);
}

/* ---- names and paths ---- */

json_t *name_redact(const json_t *name, struct secret_texts *secrets)
{
	if (!json_is_string(name))
		return json_null();
	return secret_texts_in_value(secrets, name) ? json_string(SENSITIVE_NAME) : json_incref((json_t *)name);
}

static const json_t *mask_below(const json_t *mask, const json_t *step)
{
	if (json_is_string(step))
		return json_object_get(mask, json_string_value(step));
	return json_is_integer(step) && json_integer_value(step) >= 0
		? json_array_get(mask, (size_t)json_integer_value(step))
		: NULL;
}

json_t *path_redact(const json_t *path, const json_t *mask, struct secret_texts *secrets)
{
	json_t *shown, *step;
	size_t i;

	if (!json_is_array(path))
		return NULL;
	shown = json_array();
	json_array_foreach((json_t *)path, i, step)
	{
		if (json_is_true(mask))
			break;
		json_array_append_new(shown, json_is_integer(step) ? json_incref(step) : name_redact(step, secrets));
		mask = mask_below(mask, step);
	}
	return shown;
}
