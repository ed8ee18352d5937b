/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/evaluate/activation.h"

enum { CHUNK_VALUES = 4096 };

struct stack_chunk {
	struct stack_chunk *next;
	size_t count;
	_Alignas(16) struct value values[];
};

static struct stack_chunk *chunk_new(struct run *run, size_t count)
{
	struct stack_chunk *chunk;

	if (count < CHUNK_VALUES)
		count = CHUNK_VALUES;
	chunk = run_alloc(run, 1, sizeof(*chunk) + count * sizeof(chunk->values[0]));
	chunk->count = count;
	return chunk;
}

static void use_chunk(struct evaluation *evaluation, struct stack_chunk *chunk)
{
	evaluation->chunk = chunk;
	evaluation->free = chunk->values;
	evaluation->end = chunk->values + chunk->count;
}

/* The chunk after the current one, if it is large enough, else a new one in its place. */
static void next_chunk(struct run *run, size_t count)
{
	struct evaluation *evaluation = run->evaluation;
	struct stack_chunk *next = evaluation->chunk ? evaluation->chunk->next : NULL;

	if (!next || next->count < count) {
		next = chunk_new(run, count);
		if (evaluation->chunk)
			evaluation->chunk->next = next;
	}
	use_chunk(evaluation, next);
}

struct stack_mark stack_mark(struct run *run)
{
	if (!run->evaluation)
		run->evaluation = run_alloc(run, 1, sizeof(*run->evaluation));
	if (!run->evaluation->chunk)
		next_chunk(run, 0);
	return (struct stack_mark){.chunk = run->evaluation->chunk, .free = run->evaluation->free};
}

struct value *stack_push(struct run *run, size_t count)
{
	struct value *pushed;

	if (count > (size_t)(run->evaluation->end - run->evaluation->free))
		next_chunk(run, count);
	pushed = run->evaluation->free;
	run->evaluation->free += count;
	return pushed;
}

void stack_pop(struct run *run, struct stack_mark mark)
{
	if (run->evaluation->chunk != mark.chunk)
		use_chunk(run->evaluation, mark.chunk);
	run->evaluation->free = mark.free;
}

void frame_unset(struct frame *frame, const struct scope *scope, uint32_t from)
{
	for (uint32_t i = from; i < scope->count; i++)
		frame->slots[i] = (struct value){.type = VALUE_UNSET};
}

_Static_assert(sizeof(struct frame) <= sizeof(struct value), "a frame's head takes one value of the stack");

struct frame *frame_new(struct run *run, const struct scope *scope, struct frame *outer)
{
	struct frame *frame;

	if (scope->captured)
		frame = run_alloc(run, 1, sizeof(*frame) + scope->count * sizeof(frame->slots[0]));
	else
		frame = (struct frame *)stack_push(run, 1 + scope->count);
	frame->outer = outer;
	frame_unset(frame, scope, 0);
	return frame;
}
