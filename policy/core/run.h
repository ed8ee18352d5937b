/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CORE_RUN_H
#define POLICY_CORE_RUN_H

/*
 * One policy's run: loading its files, and evaluation. It owns the arena from which everything is allocated, the
 * limits, and the error that ended it.
 *
 * A function that fails calls run_fail, which returns to run_protected by a jump. Nothing has to be released on the
 * way: all memory is the arena's, and run_release closes what is open (run_on_release). A library that allocates for
 * itself (libre2, GMP, MPFR) is called only by functions that release its objects before they fail.
 *
 * Invariants:
 *   1. Every loop over a policy's data counts steps (run_step), one for each element or for each 64 bytes. A policy
 *      therefore ends within its steps and its time.
 *   2. Every recursion over a policy's text or data is between run_enter and run_leave. MAX_NESTING of them fit on the
 *      stack that run_protected provides.
 *   3. An allocation that fails ends the run with an error. It never makes a policy pass.
 */

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "policy/core/source.h"

enum {
	MAX_NESTING = 5000,
	MAX_CALLS = 1000,
	CALL_NESTING = 15, /* by which each call of the policy's functions raises MAX_NESTING */
	MAX_STRING = 256 << 20,
	MAX_LIST = 10000000,
	MAX_PRINTED = 512 << 10,
};

/* The values of the command line's flags. */
struct run_limits {
	uint64_t steps;      /* -steps; 200 million unless given */
	int64_t timeout_ms;  /* -timeout; 29,000 unless given */
	size_t memory_bytes; /* -memory; 1 GiB unless given */
};

extern const struct run_limits run_limits_default;

enum failure_kind {
	FAILURE_NONE,
	FAILURE_STATIC,  /* it can't be parsed or loaded: exit code 9 */
	FAILURE_RUNTIME, /* an error of the evaluation, or a limit, also one of loading: exit code 3 */
};

struct failure {
	enum failure_kind kind;
	struct place place;
	char message[1024]; /* lower case, no full stop; cut between characters */
};

/* Text of the arena that grows while it is written (core/output.h). A zeroed struct is empty. */
struct output {
	char *bytes; /* not terminated; NULL if nothing was added */
	size_t len, capacity;
};

struct arena_block;

/* What a library allocated for the run, and the files that are mapped. */
struct run_cleanup {
	void (*release)(void *data);
	void *data;
	struct run_cleanup *next;
};

struct run {
	struct run_limits limits;
	uint64_t steps;      /* done so far */
	uint64_t next_check; /* the number of steps at which the limits are checked again */
	int64_t deadline_ms; /* clock_mono_ms */
	unsigned nesting;    /* run_enter without run_leave */
	unsigned calls;      /* calls of the policy's functions that have not returned */
	struct place at;     /* what is being evaluated: the place of errors, and the origin of new undefined values */
	bool loading;        /* files are read and parsed: a failure is FAILURE_STATIC, but at a limit */
	struct failure failure;
	bool protected; /* run_protected is running: `exit` is valid */
	jmp_buf exit;

	/* The arena. */
	struct arena_block *blocks;
	char *free, *end;               /* room in the newest block */
	size_t allocated;               /* bytes of all blocks */
	struct run_cleanup *cleanups;   /* the newest first; run_on_release */
	struct regex_patterns *regexes; /* core/regex.c; NULL before the first pattern */

	/* What the policy printed: lines, each ended by \n; at most MAX_PRINTED bytes. */
	struct output printed;

	struct position position; /* of the last run_position */

	/* For the import `time`. */
	struct timespec now; /* what time.now gives: fixed when it is read first, or by the plugin's configuration */
	bool has_now;
	const char *timezone; /* of the plugin's configuration ("Europe/Berlin"); NULL: UTC */

	const struct http_transport *http; /* of the import `http`; NULL: requests are not allowed */

	struct terraform_document *documents; /* imports/terraform.c; NULL before the first Terraform import */
	struct evaluation *evaluation;        /* evaluate/; NULL while files are loaded */
};

void run_init(struct run *run, const struct run_limits *limits);
/* Calls the functions of run_on_release, then frees the arena, and with it everything that was made during the run. */
void run_release(struct run *run);
/* run_release calls release(data), the newest registration first. */
void run_on_release(struct run *run, void (*release)(void *data), void *data);

/* Calls body(run, data) on a stack that is deep enough for MAX_NESTING. 0, or -1 with run->failure if it failed. The
 * run's time begins with the first call. Not for nested use. */
int run_protected(struct run *run, void (*body)(struct run *run, void *data), void *data);

/* Ends the run with an error at run->at. */
_Noreturn void run_fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void run_fail_at(struct run *run, struct place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Ends the run because a limit was reached; the message names the limit and the flag that sets it (NULL: none does). */
_Noreturn void run_fail_limit(struct run *run, const char *limit, const char *flag);

/* Fails if the steps or the time are over. run_step calls it every few thousand steps. */
void run_check(struct run *run);
/* Counts `count` steps, and reads the clock now and then. */
static inline void run_step(struct run *run, uint64_t count)
{
	run->steps += count;
	if (run->steps >= run->next_check)
		run_check(run);
}
/* The steps of a function that reads or copies so many bytes. */
static inline void run_step_bytes(struct run *run, size_t bytes)
{
	run_step(run, 1 + bytes / 64);
}
_Noreturn void run_fail_nesting(struct run *run);
/* Around each recursion. Fails with the nesting limit. A failure resets the counter, so no path needs to leave. */
static inline void run_enter(struct run *run)
{
	if (++run->nesting > MAX_NESTING + run->calls * CALL_NESTING)
		run_fail_nesting(run);
}
static inline void run_leave(struct run *run)
{
	run->nesting--;
}

/* As place_position, for many places: quick if they are in their order. Counts steps. */
void run_position(struct run *run, struct place place, unsigned *ret_line, unsigned *ret_column);

/* Zeroed memory of the arena, aligned to 16 bytes. */
void *run_alloc(struct run *run, size_t count, size_t size);
/* A copy of bytes, with a terminating zero byte. */
char *run_copy(struct run *run, const char *bytes, size_t len);
/* Formatted text, of the arena. */
char *run_text(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
