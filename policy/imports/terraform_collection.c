/* SPDX-License-Identifier: MPL-2.0 */
/* Collections of the Terraform imports: all modules' objects in one map. */
#include <string.h>

#include "policy/imports/terraform_object.h"

/* A collection while it is made. */
struct collection {
	const struct terraform_member *member;
	struct value elements;
};

static struct value empty(struct run *run)
{
	return string_borrow(run, "", 0);
}

/* A string of the document; "" if it is none. */
static struct value text_at(struct run *run, struct plan_part part)
{
	return plan_kind(part) == '"' ? plan_decode(run, part) : empty(run);
}

/* "a", the separator, "b"; without a separator if one of them is empty. */
static struct value joined(struct run *run, struct value a, char separator, struct value b)
{
	char *bytes;

	if (string_len(a) == 0 || string_len(b) == 0)
		return string_len(a) == 0 ? b : a;
	bytes = run_alloc(run, string_len(a) + 1 + string_len(b), 1);
	memcpy(bytes, string_bytes(a), string_len(a));
	bytes[string_len(a)] = separator;
	memcpy(bytes + string_len(a) + 1, string_bytes(b), string_len(b));
	return string_borrow(run, bytes, string_len(a) + 1 + string_len(b));
}

static void add(
	struct run *run, const struct collection *collection, struct value key, const struct terraform_object *object)
{
	map_set(run, collection->elements, key, terraform_object_lazy(run, object));
}

/* ---- the plan and states ---- */

static void add_named(
	struct run *run, const struct collection *collection, struct plan_part object, struct value module)
{
	struct plan_walk walk = plan_walk(object);

	while (walk.object && plan_next(run, &walk)) {
		const struct value name = plan_decode(run, walk.name);
		const struct terraform_object element = {
			.shape = collection->member->of, .part = walk.part, .module = module, .name = name};

		add(run, collection, joined(run, module, ':', name), &element);
	}
}

/* "address", or "address:deposed key". */
static struct value resource_key(struct run *run, struct plan_part resource)
{
	struct plan_walk walk = plan_walk(resource);
	struct plan_part address = {0}, deposed = {0};

	while (walk.object && plan_next(run, &walk))
		if (plan_named(&walk, "address"))
			address = walk.part;
		else if (plan_named(&walk, "deposed") || plan_named(&walk, "deposed_key"))
			deposed = walk.part;
	return joined(run, text_at(run, address), ':', text_at(run, deposed));
}

static void add_listed(struct run *run, const struct collection *collection, struct plan_part list, struct value module)
{
	struct plan_walk walk = plan_walk(list);

	while (!walk.object && plan_next(run, &walk)) {
		const struct terraform_object element = {
			.shape = collection->member->of, .part = walk.part, .module = module};

		add(run, collection, resource_key(run, walk.part), &element);
	}
}

static void add_states(struct run *run, const struct collection *collection, struct plan_part module)
{
	struct plan_walk children = plan_walk(plan_at(run, module, "child_modules"));
	struct value address = text_at(run, plan_at(run, module, "address"));

	run_enter(run);
	add_listed(run, collection, plan_at(run, module, "resources"), address);
	while (!children.object && plan_next(run, &children))
		add_states(run, collection, children.part);
	run_leave(run);
}

/* ---- the configuration ---- */

typedef void (*module_function)(
	struct run *run, const struct collection *collection, struct plan_part module, struct value address);

static void each_module(struct run *run, const struct collection *collection, module_function function,
	struct plan_part module, struct value address)
{
	struct plan_walk calls = plan_walk(plan_at(run, module, "module_calls"));

	run_enter(run);
	function(run, collection, module, address);
	while (calls.object && plan_next(run, &calls)) {
		struct value name = plan_decode(run, calls.name);
		struct value inner = joined(run, address, '.', joined(run, string_borrow(run, "module", 6), '.', name));

		each_module(run, collection, function, plan_at(run, calls.part, "module"), inner);
	}
	run_leave(run);
}

static void add_scoped(
	struct run *run, const struct collection *collection, struct plan_part module, struct value address)
{
	add_named(run, collection, plan_at(run, module, collection->member->name.bytes), address);
}

static struct value address_in(struct run *run, struct plan_part resource, struct value module)
{
	return joined(run, module, '.', text_at(run, plan_at(run, resource, "address")));
}

static void add_called(
	struct run *run, const struct collection *collection, struct plan_part module, struct value address)
{
	struct plan_walk walk = plan_walk(plan_at(run, module, "resources"));

	while (!walk.object && plan_next(run, &walk)) {
		const struct terraform_object element = {.shape = collection->member->of,
			.part = walk.part,
			.module = address,
			.address = address_in(run, walk.part, address)};

		add(run, collection, element.address, &element);
	}
}

/* The provisioners of one resource: as elements of a list if `collection` is NULL. */
static struct terraform_object provisioner(struct run *run, const struct terraform_member *member,
	struct plan_part part, struct value address, size_t number)
{
	return (struct terraform_object){.shape = member->of,
		.part = part,
		.address = address,
		.name = string_text(run, run_text(run, "%zu", number))};
}

static void add_provisioners(
	struct run *run, const struct collection *collection, struct plan_part list, struct value address)
{
	struct plan_walk walk = plan_walk(list);

	for (size_t i = 0; !walk.object && plan_next(run, &walk); i++) {
		struct terraform_object element = provisioner(run, collection->member, walk.part, address, i);

		add(run, collection, joined(run, address, ':', element.name), &element);
	}
}

static void add_provisioned(
	struct run *run, const struct collection *collection, struct plan_part module, struct value address)
{
	struct plan_walk walk = plan_walk(plan_at(run, module, "resources"));

	while (!walk.object && plan_next(run, &walk))
		add_provisioners(
			run, collection, plan_at(run, walk.part, "provisioners"), address_in(run, walk.part, address));
}

static struct value provisioners_of(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	struct plan_walk walk = plan_walk(part);
	struct value list = list_new(run, 0);

	for (size_t i = 0; !walk.object && plan_next(run, &walk); i++) {
		struct terraform_object element = provisioner(run, member, walk.part, object->address, i);

		list_push(run, list, terraform_object_lazy(run, &element));
	}
	return list;
}

/* ---- all kinds ---- */

struct value terraform_collection(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part)
{
	static const module_function in_modules[] = {
		[KIND_CALLED] = add_called,
		[KIND_SCOPED] = add_scoped,
		[KIND_PROVISIONED] = add_provisioned,
	};
	struct collection collection = {.member = member};

	if (member->kind == KIND_PROVISIONERS)
		return provisioners_of(run, member, object, part);
	collection.elements = map_new(run, 0);
	if (member->kind == KIND_NAMED)
		add_named(run, &collection, part, empty(run));
	else if (member->kind == KIND_LISTED)
		add_listed(run, &collection, part, empty(run));
	else if (member->kind == KIND_STATES)
		add_states(run, &collection, part);
	else
		each_module(run, &collection, in_modules[member->kind], part, empty(run));
	return collection.elements;
}
