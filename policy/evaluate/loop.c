/* SPDX-License-Identifier: MPL-2.0 */
/* The turns of `for` and of quantifiers, and the quantifiers. */
#include "policy/evaluate/activation.h"

/* ---- turns ---- */

void turns_begin(struct activation *activation, const struct loop *loop, struct value over, struct turns *turns)
{
	struct run *run = activation->run;

	*turns = (struct turns){
		.iterator = value_iterate(run, over),
		.loop = loop,
		.outer = activation->frame,
		.map = over.type == VALUE_MAP,
		.mark = stack_mark(run),
	};
}

/* A turn that nothing captures has the frame of the turn before it. */
static struct frame *frame_of_turn(struct run *run, struct turns *turns)
{
	const struct scope *scope = &turns->loop->scope;

	if (!turns->frame || scope->captured)
		turns->frame = frame_new(run, scope, turns->outer);
	return turns->frame;
}

/* One variable: a list's element, or a map's key. */
static void set_variables(const struct turns *turns, struct value *slots)
{
	const struct iterator *at = &turns->iterator;

	if (turns->loop->second.len > 0) {
		slots[0] = at->key;
		slots[1] = at->element;
		return;
	}
	slots[0] = turns->map ? at->key : at->element;
}

bool turns_next(struct activation *activation, struct turns *turns)
{
	struct frame *frame;

	if (!iterator_next(activation->run, &turns->iterator))
		return false;
	frame = frame_of_turn(activation->run, turns);
	frame_unset(frame, &turns->loop->scope, 1);
	set_variables(turns, frame->slots);
	activation->frame = frame;
	return true;
}

void turns_end(struct activation *activation, struct turns *turns)
{
	activation->frame = turns->outer;
	stack_pop(activation->run, turns->mark);
}

/* ---- quantifiers ---- */

/* A bool or undefined. */
static struct value condition(struct activation *activation, const struct node *body)
{
	struct value value = evaluate(activation, body);

	if (value.type == VALUE_BOOL || value.type == VALUE_UNDEFINED)
		return value;
	activation_at(activation, body);
	run_fail(activation->run, "the body of any, all and filter is a bool, not %s", value_type_name(value));
}

/* As a chain of `or`: true ends it; undefined stays unless true follows. */
static struct value any(struct activation *activation, struct turns *turns)
{
	struct value result = value_bool(false);

	while (turns_next(activation, turns)) {
		struct value value = condition(activation, turns->loop->body);

		if (value.type == VALUE_BOOL && value.truth)
			return value;
		if (value.type == VALUE_UNDEFINED && result.type == VALUE_BOOL)
			result = value;
	}
	return result;
}

/* As a chain of `and`: false and undefined end it. */
static struct value all(struct activation *activation, struct turns *turns)
{
	while (turns_next(activation, turns)) {
		struct value value = condition(activation, turns->loop->body);

		if (value.type == VALUE_UNDEFINED || !value.truth)
			return value;
	}
	return value_bool(true);
}

static void keep(struct run *run, const struct turns *turns, struct value kept)
{
	if (turns->map)
		map_set(run, kept, turns->iterator.key, turns->iterator.element);
	else
		list_push(run, kept, turns->iterator.element);
}

static struct value filter(struct activation *activation, struct turns *turns)
{
	struct run *run = activation->run;
	struct value kept = turns->map ? map_new(run, 0) : list_new(run, 0);

	while (turns_next(activation, turns)) {
		struct value value = condition(activation, turns->loop->body);

		if (value.type == VALUE_UNDEFINED)
			return value;
		if (value.truth)
			keep(run, turns, kept);
	}
	return kept;
}

static struct value map(struct activation *activation, struct turns *turns)
{
	struct value list = list_new(activation->run, turns->iterator.count);

	while (turns_next(activation, turns))
		list_push(activation->run, list, evaluate(activation, turns->loop->body));
	return list;
}

struct value evaluate_quantifier(struct activation *activation, const struct node *node)
{
	static struct value (*const quantifiers[])(struct activation *, struct turns *) = {
		[QUANTIFIER_ANY] = any,
		[QUANTIFIER_ALL] = all,
		[QUANTIFIER_FILTER] = filter,
		[QUANTIFIER_MAP] = map,
	};
	struct value over = evaluate(activation, node->loop->over), result;
	struct turns turns;

	activation_at(activation, node);
	turns_begin(activation, node->loop, over, &turns);
	result = quantifiers[node->loop->quantifier](activation, &turns);
	turns_end(activation, &turns);
	return result;
}
