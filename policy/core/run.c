/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/core/run.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/text.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER
#endif

/* Frames are several times as large with the address sanitizer. Pages that are never touched cost no memory. */
#ifdef ADDRESS_SANITIZER
#define STACK_BYTES ((size_t)512 << 20)
#else
#define STACK_BYTES ((size_t)96 << 20)
#endif

enum {
	CHECK_STEPS = 4096, /* between two looks at the clock */
	BLOCK_FIRST = 64 << 10,
	BLOCK_MAX = 8 << 20,
	ALIGNMENT = 16,
};

const struct run_limits run_limits_default = {
	.steps = 200000000,
	.timeout_ms = 29000,
	.memory_bytes = (size_t)1 << 30,
};

struct arena_block {
	struct arena_block *next;
	size_t bytes;
	_Alignas(ALIGNMENT) char memory[];
};

void run_init(struct run *run, const struct run_limits *limits)
{
	memset(run, 0, sizeof(*run));
	run->limits = *limits;
}

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void run_on_release(struct run *run, void (*release)(void *data), void *data)
{
	struct run_cleanup *cleanup = run_alloc(run, 1, sizeof(*cleanup));

	*cleanup = (struct run_cleanup){.release = release, .data = data, .next = run->cleanups};
	run->cleanups = cleanup;
}

void run_release(struct run *run)
{
	for (struct run_cleanup *cleanup = run->cleanups; cleanup; cleanup = cleanup->next)
		cleanup->release(cleanup->data);
	free_blocks(run->blocks);
	memset(run, 0, sizeof(*run));
}

/* ---- failures ---- */

static _Noreturn void leave_failed(
	struct run *run, enum failure_kind kind, struct place place, const char *format, va_list args)
{
	struct failure *failure = &run->failure;
	char message[sizeof(failure->message) + UTF8_MAX]; /* so that text_copy sees where characters end */

	vsnprintf(message, sizeof(message), format, args);
	text_copy(failure->message, sizeof(failure->message), message);
	failure->kind = kind;
	failure->place = place;
	if (!run->protected) {
		fprintf(stderr, "%s\n", failure->message);
		abort();
	}
	longjmp(run->exit, 1);
}

static enum failure_kind failure_kind(const struct run *run)
{
	return run->loading ? FAILURE_STATIC : FAILURE_RUNTIME;
}

void run_fail(struct run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	leave_failed(run, failure_kind(run), run->at, format, args);
}

void run_fail_at(struct run *run, struct place place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	leave_failed(run, failure_kind(run), place, format, args);
}

static _Noreturn void fail_limit(struct run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	leave_failed(run, FAILURE_RUNTIME, run->at, format, args);
}

void run_fail_limit(struct run *run, const char *limit, const char *flag)
{
	if (flag)
		fail_limit(run, "the limit of %s is reached (%s)", limit, flag);
	fail_limit(run, "the limit of %s is reached", limit);
}

void run_fail_nesting(struct run *run)
{
	run->nesting = 0;
	run_fail_limit(run, "nesting, 5000,", NULL);
}

/* ---- steps ---- */

void run_check(struct run *run)
{
	if (run->steps > run->limits.steps)
		run_fail_limit(run, "steps", "-steps");
	if (run->deadline_ms != 0 && clock_mono_ms() >= run->deadline_ms)
		run_fail_limit(run, "time", "-timeout");
	run->next_check = run->steps + CHECK_STEPS;
	if (run->next_check > run->limits.steps)
		run->next_check = run->limits.steps + 1;
}

void run_position(struct run *run, struct place place, unsigned *ret_line, unsigned *ret_column)
{
	run_step_bytes(run, position_move(&run->position, place));
	*ret_line = run->position.line;
	*ret_column = run->position.column;
}

/* ---- the protected stack ---- */

struct protected_call {
	struct run *run;
	void (*body)(struct run *run, void *data);
	void *data;
};

static void *call_protected(void *call_data)
{
	struct protected_call *call = call_data;
	struct run *run = call->run;

	if (setjmp(run->exit) == 0) {
		run->protected = true;
		call->body(run, call->data);
	}
	run->protected = false;
	return NULL;
}

static bool run_thread(struct protected_call *call)
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
		pthread_create(&thread, &attributes, call_protected, call) == 0;
	pthread_attr_destroy(&attributes);
	if (started)
		pthread_join(thread, NULL);
	return started;
}

static int fail_unstarted(struct run *run)
{
	run->failure = (struct failure){
		.kind = run->loading ? FAILURE_STATIC : FAILURE_RUNTIME,
		.message = "there is no memory for the stack of the evaluation",
	};
	return -1;
}

int run_protected(struct run *run, void (*body)(struct run *run, void *data), void *data)
{
	struct protected_call call = {.run = run, .body = body, .data = data};

	run->failure.kind = FAILURE_NONE;
	run->nesting = run->calls = 0;
	if (run->deadline_ms == 0 && __builtin_add_overflow(clock_mono_ms(), run->limits.timeout_ms, &run->deadline_ms))
		run->deadline_ms = INT64_MAX;
	if (!run_thread(&call))
		return fail_unstarted(run);
	return run->failure.kind == FAILURE_NONE ? 0 : -1;
}

/* ---- the arena ---- */

static size_t block_size(const struct run *run, size_t wanted)
{
	size_t size = run->blocks ? run->allocated : BLOCK_FIRST;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size > run->limits.memory_bytes - run->allocated)
		size = run->limits.memory_bytes - run->allocated;
	return wanted > size ? wanted : size;
}

/* A block of at least so many bytes, zeroed. An object that is large gets a block of its own, so that the room in the
 * newest block is not lost. */
static struct arena_block *add_block(struct run *run, size_t size)
{
	struct arena_block *block;

	if (size > run->limits.memory_bytes - run->allocated)
		run_fail_limit(run, "memory", "-memory");
	block = calloc(1, sizeof(*block) + size);
	if (!block)
		run_fail(run, "out of memory");
	block->bytes = size;
	block->next = run->blocks;
	run->blocks = block;
	run->allocated += size;
	return block;
}

static void *alloc_in_new_block(struct run *run, size_t size)
{
	struct arena_block *block;

	if (size > BLOCK_FIRST / 2)
		return add_block(run, size)->memory;
	block = add_block(run, block_size(run, size));
	run->free = block->memory + size;
	run->end = block->memory + block->bytes;
	return block->memory;
}

void *run_alloc(struct run *run, size_t count, size_t size)
{
	size_t bytes;
	void *memory;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > run->limits.memory_bytes)
		run_fail_limit(run, "memory", "-memory");
	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (bytes > (size_t)(run->end - run->free))
		return alloc_in_new_block(run, bytes);
	memory = run->free;
	run->free += bytes;
	return memory;
}

char *run_copy(struct run *run, const char *bytes, size_t len)
{
	char *copy = run_alloc(run, len + 1, 1);

	if (len > 0)
		memcpy(copy, bytes, len);
	return copy;
}

char *run_text(struct run *run, const char *format, ...)
{
	va_list args, again;
	char *text;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = run_alloc(run, (size_t)len + 1, 1);
	vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}
