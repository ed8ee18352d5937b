/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/terraform_object.h"

#include <string.h>

#include "common/base.h"

static const struct terraform_member members[] = {
#define MEMBER(shape_, name_, source_, kind_, of_)                                                                     \
	{.shape = SHAPE_##shape_,                                                                                      \
		.name = {.len = sizeof(#name_) - 1, .bytes = #name_},                                                  \
		.source = source_,                                                                                     \
		.source_len = sizeof(source_) - 1,                                                                     \
		.kind = KIND_##kind_,                                                                                  \
		.of = SHAPE_##of_},
#include "common/terraform/imports.def"
};

const struct terraform_member *terraform_members(enum import_shape shape, size_t *ret_count)
{
	size_t first = 0, count = 0;

	while (members[first].shape != shape)
		first++;
	while (first + count < ARRAY_LEN(members) && members[first + count].shape == shape)
		count++;
	*ret_count = count;
	return &members[first];
}

/* ---- the kinds of members ---- */

static struct value part_of(
	struct run *run, enum import_shape shape, const struct terraform_object *object, struct plan_part part)
{
	struct terraform_object inner = *object;

	inner.shape = shape;
	inner.part = part;
	return terraform_object_lazy(run, &inner);
}

struct value terraform_member_value(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	switch (member->kind) {
	case KIND_TEXT:
		return plan_is_null(part) ? string_borrow(run, "", 0) : plan_lazy(run, part);
	case KIND_LIST:
		return plan_is_null(part) ? list_new(run, 0) : plan_lazy(run, part);
	case KIND_MAP:
		return plan_is_null(part) ? map_new(run, 0) : plan_lazy(run, part);
	case KIND_VALUE:
	case KIND_RAW:
		return plan_lazy(run, part);
	case KIND_KNOWN:
		return part.plan ? plan_lazy(run, part) : (struct value){.type = VALUE_UNSET};
	case KIND_FLAG:
		return value_bool(plan_kind(part) == 't');
	case KIND_PART:
		return part_of(run, member->of, object, part);
	case KIND_MODULE:
		return object->module;
	case KIND_NAME:
		return object->name;
	case KIND_ADDRESS:
		return object->address;
	default:
		return terraform_collection(run, member, object, part);
	}
}

/* ---- objects ---- */

/* The JSON of each member, in one walk. */
static void find_parts(struct run *run, const struct terraform_object *object, const struct terraform_member *shape,
	size_t count, struct plan_part *ret_parts)
{
	struct plan_walk walk = plan_walk(object->part);

	for (size_t i = 0; i < count; i++)
		ret_parts[i] = *shape[i].source ? (struct plan_part){0} : object->part;
	while (walk.object && plan_next(run, &walk))
		for (size_t i = 0; i < count; i++)
			if (plan_named_bytes(&walk, shape[i].source, shape[i].source_len))
				ret_parts[i] = walk.part;
}

static struct value make_object(struct run *run, const void *data, uint32_t offset)
{
	const struct terraform_object *object = data;
	struct plan_part parts[SHAPE_MEMBERS_MAX];
	size_t count;
	const struct terraform_member *shape = terraform_members(object->shape, &count);
	struct value map = map_new(run, count);

	(void)offset;
	find_parts(run, object, shape, count, parts);
	for (size_t i = 0; i < count; i++) {
		const struct value name = {.type = VALUE_STRING, .string = &shape[i].name};
		struct value value = terraform_member_value(run, &shape[i], object, parts[i]);

		if (value.type != VALUE_UNSET)
			map_set(run, map, name, value);
	}
	return map;
}

struct value terraform_object_lazy(struct run *run, const struct terraform_object *object)
{
	struct terraform_object *own = run_alloc(run, 1, sizeof(*own));
	struct lazy *lazy = run_alloc(run, 1, sizeof(*lazy));

	*own = *object;
	*lazy = (struct lazy){.make = make_object, .data = own};
	return (struct value){.type = VALUE_LAZY, .lazy = lazy};
}
