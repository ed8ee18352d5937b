/* SPDX-License-Identifier: MPL-2.0 */
/* Selectors, indices and slices. */
#include "policy/evaluate/activation.h"

/* What is selected from may be an import. */
static struct value evaluate_base(struct activation *activation, const struct node *node)
{
	if (node->kind == NODE_NAME)
		return forced(activation->run, name_read(activation, node));
	return evaluate(activation, node);
}

static struct value field_of_import(struct run *run, struct value import, const struct word *field)
{
	struct value value;

	return import_get(run, import.import, field->bytes, field->len, &value) ? value : value_undefined(run);
}

static struct value field_of_map(struct run *run, struct value map, const struct word *field)
{
	struct value value;

	return map_get_bytes(run, map, field->bytes, field->len, &value) ? value : value_undefined(run);
}

static struct value field_of(struct run *run, struct value base, const struct word *field)
{
	switch (base.type) {
	case VALUE_MAP:
		return field_of_map(run, base, field);
	case VALUE_IMPORT:
		return field_of_import(run, base, field);
	case VALUE_UNDEFINED:
		return base;
	case VALUE_NULL:
		return value_undefined(run);
	default:
		run_fail(run, "%s has no fields, so \"%.*s\" can't be selected", value_type_name(base), (int)field->len,
			field->bytes);
	}
}

struct value evaluate_selector(struct activation *activation, const struct node *node)
{
	struct value base = evaluate_base(activation, node->selector.of);

	activation_at(activation, node);
	return field_of(activation->run, base, &node->selector.field);
}

/* ---- indices ---- */

/* From 0 to len - 1. False if there is no such element. */
static bool position_of(struct run *run, struct value index, size_t len, size_t *ret_position)
{
	int64_t position;

	if (index.type != VALUE_INT)
		run_fail(run, "an index of a list or string is an int, not %s", value_type_name(index));
	position = index.number < 0 ? index.number + (int64_t)len : index.number;
	if (position < 0 || position >= (int64_t)len)
		return false;
	*ret_position = (size_t)position;
	return true;
}

static struct value element_of_list(struct run *run, struct value list, struct value index)
{
	size_t position;

	return position_of(run, index, list_len(list), &position) ? list_at(run, list, position) : value_undefined(run);
}

static struct value byte_of_string(struct run *run, struct value string, struct value index)
{
	size_t position;

	if (!position_of(run, index, string_len(string), &position))
		return value_undefined(run);
	return string_slice(run, string, position, position + 1);
}

static struct value element_of_map(struct run *run, struct value map, struct value key)
{
	struct value element;

	return map_get(run, map, key, &element) ? element : value_undefined(run);
}

static struct value element_of_import(struct run *run, struct value import, struct value name)
{
	if (name.type != VALUE_STRING)
		run_fail(run, "an import's field is named by a string, not %s", value_type_name(name));
	struct word field = {.bytes = string_bytes(name), .len = (uint32_t)string_len(name)};

	return field_of_import(run, import, &field);
}

static struct value element_of(struct run *run, struct value base, struct value index)
{
	static struct value (*const by_type[VALUE_TYPES])(struct run *, struct value, struct value) = {
		[VALUE_LIST] = element_of_list,
		[VALUE_MAP] = element_of_map,
		[VALUE_STRING] = byte_of_string,
		[VALUE_IMPORT] = element_of_import,
	};

	if (base.type == VALUE_NULL)
		return value_undefined(run);
	if (base.type == VALUE_UNDEFINED)
		return base;
	if (!by_type[base.type])
		run_fail(run, "%s has no elements", value_type_name(base));
	return index.type == VALUE_UNDEFINED ? index : by_type[base.type](run, base, index);
}

struct value evaluate_index(struct activation *activation, const struct node *node)
{
	struct value base = evaluate_base(activation, node->operation.left);
	struct value index = evaluate(activation, node->operation.right);

	activation_at(activation, node);
	return element_of(activation->run, base, index);
}

/* ---- slices ---- */

static struct value bound(struct activation *activation, const struct node *node, size_t otherwise)
{
	struct value value = node ? evaluate(activation, node) : value_int((int64_t)otherwise);

	if (value.type == VALUE_INT || value.type == VALUE_UNDEFINED)
		return value;
	run_fail(activation->run, "a bound of a slice is an int, not %s", value_type_name(value));
}

static struct value slice_of(struct run *run, struct value base, int64_t from, int64_t to)
{
	bool string = base.type == VALUE_STRING;
	size_t len = string ? string_len(base) : list_len(base);

	if (from < 0 || from > to || to > (int64_t)len)
		return value_undefined(run);
	return string ? string_slice(run, base, (size_t)from, (size_t)to)
		      : list_slice(run, base, (size_t)from, (size_t)to);
}

static size_t length_of(struct activation *activation, const struct node *node, struct value base)
{
	if (base.type == VALUE_STRING)
		return string_len(base);
	if (base.type == VALUE_LIST)
		return list_len(base);
	activation_at(activation, node);
	run_fail(activation->run, "only a string or a list has slices, not %s", value_type_name(base));
}

struct value evaluate_slice(struct activation *activation, const struct node *node)
{
	struct value base = evaluate(activation, node->slice.of), from, to;

	if (base.type == VALUE_UNDEFINED)
		return base;
	activation_at(activation, node);
	if (base.type == VALUE_NULL)
		return value_undefined(activation->run);
	size_t len = length_of(activation, node, base);

	from = bound(activation, node->slice.from, 0);
	to = bound(activation, node->slice.to, len);
	if (from.type == VALUE_UNDEFINED || to.type == VALUE_UNDEFINED)
		return from.type == VALUE_UNDEFINED ? from : to;
	activation_at(activation, node);
	return slice_of(activation->run, base, from.number, to.number);
}
