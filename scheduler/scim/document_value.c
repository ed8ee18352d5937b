/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/scim/document_value.h"

#include <string.h>
#include <strings.h>

static const struct scim_field external_id = {"externalId", SCIM_TEXT, false, false, "readWrite", NULL, NULL, 0};

const struct scim_field *scim_user_field(const char *name)
{
	if (strcasecmp(name, external_id.name) == 0)
		return &external_id;
	return scim_field_find(scim_user_schema.fields, scim_user_schema.count, name);
}

/* ---- values ---- */

/* "True" and "False" in any case count. */
static int boolean_read(const json_t *value, const char *name, bool *ret_value, struct err *err)
{
	const char *text = text_or_empty(json_string_value(value));
	bool is_true = json_is_true(value) || strcasecmp(text, "true") == 0;

	if (!is_true && !json_is_false(value) && strcasecmp(text, "false") != 0)
		return scim_wrong(err, "invalidValue", "%s must be true or false", name);
	*ret_value = is_true;
	return 0;
}

static int text_read(const struct scim_field *field, const json_t *value, json_t **ret_value, struct err *err)
{
	const char *text = json_string_value(value);

	if (!text)
		return scim_wrong(err, "invalidValue", "%s must be a text", field->name);
	if (strlen(text) > SCIM_MAX_TEXT || strlen(text) != json_string_length(value))
		return scim_wrong(err, "invalidValue", "%s must have at most %d bytes, and no zero byte", field->name,
			SCIM_MAX_TEXT);
	*ret_value = json_incref((json_t *)value);
	return 0;
}

/* The object of a complex attribute, or one element of a list. A plain value is the element's `value`. */
static int complex_read(const struct scim_field *field, const json_t *value, json_t **ret_value, struct err *err)
{
	json_auto_t *read = json_object(), *wrapped = NULL;
	const char *key;
	json_t *member;

	if (json_is_string(value) && scim_field_find(field->subs, field->subs_count, "value"))
		value = wrapped = json_pack("{sO}", "value", value);
	if (!json_is_object(value))
		return scim_wrong(err, "invalidValue", "%s must be an object", field->name);
	json_object_foreach((json_t *)value, key, member)
	{
		const struct scim_field *sub = scim_field_find(field->subs, field->subs_count, key);

		if (sub && !text_equal(sub->mutability, "readOnly") && scim_value_set(read, sub, member, err) < 0)
			return -1;
	}
	*ret_value = json_incref(read);
	return 0;
}

static int single_read(const struct scim_field *field, const json_t *value, json_t **ret_value, struct err *err)
{
	bool flag = false;

	if (field->type == SCIM_COMPLEX)
		return complex_read(field, value, ret_value, err);
	if (field->type != SCIM_BOOLEAN)
		return text_read(field, value, ret_value, err);
	if (boolean_read(value, field->name, &flag, err) < 0)
		return -1;
	*ret_value = json_boolean(flag);
	return 0;
}

static bool is_primary(const json_t *element)
{
	return json_is_true(json_object_get(element, "primary"));
}

/* At most one element is primary: the last that says so. */
static void primary_settle(json_t *list)
{
	json_t *element;
	bool found = false;

	for (size_t i = json_array_size(list); i-- > 0;) {
		element = json_array_get(list, i);
		if (is_primary(element) && found)
			json_object_set_new(element, "primary", json_false());
		found |= is_primary(element);
	}
}

static bool has_equal(const json_t *one, const json_t *other, const char *name)
{
	const json_t *mine = json_object_get(one, name), *its = json_object_get(other, name);

	return mine == its || json_equal(mine, its); /* neither has it, or both have the same */
}

/* Whether both are the same element: they have the same `value` and `type`. */
static bool is_same(const json_t *one, const json_t *other)
{
	return json_object_get(one, "value") && has_equal(one, other, "value") && has_equal(one, other, "type");
}

/* Puts the element in the place of the same one, or at the end. Takes the reference. */
static void element_put(json_t *list, json_t *element)
{
	size_t same = 0;

	while (same < json_array_size(list) && !is_same(element, json_array_get(list, same)))
		same++;
	if (same < json_array_size(list))
		json_array_set_new(list, same, element);
	else
		json_array_append_new(list, element);
}

static int list_settle(json_t *list, const struct scim_field *field, struct err *err)
{
	if (json_array_size(list) > SCIM_MAX_VALUES)
		return scim_wrong(err, "invalidValue", "%s must have at most %d values", field->name, SCIM_MAX_VALUES);
	primary_settle(list);
	return 0;
}

/* Adds the elements of the value, a list or a single element. */
static int elements_add(json_t *list, const struct scim_field *field, const json_t *value, struct err *err)
{
	json_auto_t *single = json_is_array(value) ? NULL : json_pack("[O]", value);
	const json_t *given = single ? single : value, *element;
	size_t i;

	json_array_foreach(given, i, element)
	{
		json_t *read = NULL;

		if (single_read(field, element, &read, err) < 0)
			return -1;
		element_put(list, read);
	}
	return list_settle(list, field, err);
}

int scim_value_set(json_t *object, const struct scim_field *field, const json_t *value, struct err *err)
{
	json_t *read = NULL;

	if (!value || json_is_null(value)) {
		json_object_del(object, field->name);
		return 0;
	}
	if (!field->is_list) {
		if (single_read(field, value, &read, err) < 0)
			return -1;
	} else {
		read = json_array();
		if (elements_add(read, field, value, err) < 0) {
			json_decref(read);
			return -1;
		}
	}
	json_object_set_new(object, field->name, read);
	return 0;
}

/* ---- changes ---- */

static const struct scim_field *sub_find(const struct scim_change *change, struct err *err)
{
	const char *name = change->path->attribute.sub;
	const struct scim_field *sub = scim_field_find(change->field->subs, change->field->subs_count, name);

	if (!sub)
		scim_wrong(err, "invalidPath", "%s has no attribute '%s'", change->field->name, name);
	else if (text_equal(sub->mutability, "readOnly"))
		scim_wrong(err, "mutability", "%s.%s can't be changed", change->field->name, name);
	else
		return sub;
	return NULL;
}

/* Changes one part of an object, or all of it if the path names no part. */
static int object_change(const struct scim_change *change, json_t *object, struct err *err)
{
	const struct scim_field *sub;
	json_t *read = NULL;

	if (*change->path->attribute.sub) {
		sub = sub_find(change, err);
		if (!sub)
			return -1;
		return scim_value_set(object, sub, change->verb == SCIM_REMOVE ? NULL : change->value, err);
	}
	if (complex_read(change->field, change->value, &read, err) < 0)
		return -1;
	json_object_update_new(object, read);
	return 0;
}

/* `name` or `name.part`. A replacement removes the other parts; an addition keeps them. */
static int complex_change(const struct scim_change *change, struct err *err)
{
	const char *name = change->field->name;
	json_t *object = json_object_get(change->holder, name);

	if (change->verb == SCIM_REMOVE && !*change->path->attribute.sub) {
		json_object_del(change->holder, name);
		if (text_equal(name, "name"))
			json_object_set_new(change->holder, name, json_null());
		return 0;
	}
	if (!json_is_object(object) || (change->verb == SCIM_REPLACE && !*change->path->attribute.sub)) {
		object = json_object();
		json_object_set_new(change->holder, name, object);
	}
	return object_change(change, object, err);
}

/* Writes the texts that the filter requires by `eq` into a new element, so that the element matches the filter. */
static void element_describe(const struct scim_change *change, json_t *element)
{
	const struct scim_filter *filter = &change->path->filter;

	for (size_t i = 0; i < filter->count; i++) {
		const struct scim_node *node = &filter->nodes[i];
		const struct scim_field *sub =
			scim_field_find(change->field->subs, change->field->subs_count, node->attribute.name);

		if (sub && node->kind == SCIM_CONDITION && node->comparison == SCIM_EQ && node->value &&
			!json_is_null(node->value))
			json_object_set(element, sub->name, node->value);
	}
}

/* A change may make two elements the same: the later one stays. */
static void duplicates_drop(json_t *list)
{
	json_auto_t *changed = json_copy(list);
	json_t *element;
	size_t i;

	json_array_clear(list);
	json_array_foreach(changed, i, element) element_put(list, json_incref(element));
}

/* The elements that match the path's filter, or all without one. */
static int elements_change(const struct scim_change *change, json_t *list, struct err *err)
{
	size_t found = 0;

	for (size_t i = json_array_size(list); i-- > 0;) {
		json_t *element = json_array_get(list, i);

		if (change->path->has_filter && !scim_filter_matches(&change->path->filter, element))
			continue;
		found++;
		if (change->verb == SCIM_REMOVE && !*change->path->attribute.sub)
			json_array_remove(list, i);
		else if (object_change(change, element, err) < 0)
			return -1;
	}
	if (!found && change->verb != SCIM_REMOVE) {
		json_t *element = json_object();

		json_array_append_new(list, element);
		if (change->path->has_filter)
			element_describe(change, element);
		if (object_change(change, element, err) < 0)
			return -1;
	}
	duplicates_drop(list);
	return list_settle(list, change->field, err);
}

/* Removes the elements with these values: what some providers send as the value of a removal. */
static void values_remove(json_t *list, const json_t *values)
{
	const json_t *value;
	size_t i;

	json_array_foreach(values, i, value)
	{
		const json_t *wanted = json_is_object(value) ? scim_member(value, "value") : value;

		for (size_t at = json_array_size(list); at-- > 0;)
			if (json_equal(json_object_get(json_array_get(list, at), "value"), wanted))
				json_array_remove(list, at);
	}
}

static int list_change(const struct scim_change *change, struct err *err)
{
	const char *name = change->field->name;
	json_auto_t *list = json_deep_copy(json_object_get(change->holder, name));
	bool whole = !change->path->has_filter && !*change->path->attribute.sub;
	int result = 0;

	if (!json_is_array(list)) {
		json_decref(list);
		list = json_array();
	}
	if (!whole)
		result = elements_change(change, list, err);
	else if (change->verb == SCIM_ADD)
		result = elements_add(list, change->field, change->value, err);
	else if (change->verb == SCIM_REPLACE)
		return scim_value_set(change->holder, change->field, change->value, err);
	else if (json_is_array(change->value) && json_array_size(change->value))
		values_remove(list, change->value);
	else
		json_array_clear(list);
	if (result < 0 || (!json_array_size(list) && change->field->is_required))
		return result;
	if (json_array_size(list))
		json_object_set(change->holder, name, list);
	else
		json_object_del(change->holder, name);
	return 0;
}

int scim_change_apply(const struct scim_change *change, struct err *err)
{
	if (change->path->has_filter && !change->field->is_list)
		return scim_wrong(err, "invalidPath", "%s has no elements", change->field->name);
	if (change->verb == SCIM_REMOVE && change->field->is_required && !change->field->is_list)
		return 0;
	if (change->field->is_list)
		return list_change(change, err);
	if (change->field->type == SCIM_COMPLEX)
		return complex_change(change, err);
	if (*change->path->attribute.sub)
		return scim_wrong(err, "invalidPath", "%s has no parts", change->field->name);
	return scim_value_set(change->holder, change->field, change->verb == SCIM_REMOVE ? NULL : change->value, err);
}
