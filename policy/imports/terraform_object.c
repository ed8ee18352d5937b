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

typedef struct value (*member_function)(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part);

static struct value make_object(struct run *run, const void *data, uint32_t offset);

static struct value text_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)member;
	(void)object;
	return plan_is_null(part) ? string_borrow(run, "", 0) : plan_lazy(run, part);
}

static struct value value_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)member;
	(void)object;
	return plan_lazy(run, part);
}

static struct value known_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)member;
	(void)object;
	return part.plan ? plan_lazy(run, part) : (struct value){.type = VALUE_UNSET};
}

static struct value list_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)member;
	(void)object;
	return plan_is_null(part) ? list_new(run, 0) : plan_lazy(run, part);
}

static struct value map_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)member;
	(void)object;
	return plan_is_null(part) ? map_new(run, 0) : plan_lazy(run, part);
}

static struct value flag_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)run;
	(void)member;
	(void)object;
	return value_bool(plan_kind(part) == 't');
}

static struct value part_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	struct terraform_object inner = *object;

	inner.shape = member->of;
	inner.part = part;
	return terraform_object_lazy(run, &inner);
}

static struct value module_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)run;
	(void)member;
	(void)part;
	return object->module;
}

static struct value name_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)run;
	(void)member;
	(void)part;
	return object->name;
}

static struct value address_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	(void)run;
	(void)member;
	(void)part;
	return object->address;
}

static const member_function functions[] = {
	[KIND_TEXT] = text_of,
	[KIND_VALUE] = value_of,
	[KIND_KNOWN] = known_of,
	[KIND_LIST] = list_of,
	[KIND_MAP] = map_of,
	[KIND_FLAG] = flag_of,
	[KIND_PART] = part_of,
	[KIND_RAW] = value_of,
	[KIND_MODULE] = module_of,
	[KIND_NAME] = name_of,
	[KIND_ADDRESS] = address_of,
	[KIND_NAMED] = terraform_collection,
	[KIND_LISTED] = terraform_collection,
	[KIND_STATES] = terraform_collection,
	[KIND_CALLED] = terraform_collection,
	[KIND_SCOPED] = terraform_collection,
	[KIND_PROVISIONED] = terraform_collection,
	[KIND_PROVISIONERS] = terraform_collection,
};

struct value terraform_member_value(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	return functions[member->kind](run, member, object, part);
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
