/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_BOUNDED_H
#define WORKER_EXEC_BOUNDED_H

/* Runs a program with limits on its time and output. A program that exceeds one is killed, and the caller gets its
 * output up to then. */

#include "common/buf.h"
#include "worker/keeper/keeper.h"

struct child;
struct err;
struct loop;
struct sandbox_start;

enum bounded_end {
	BOUNDED_ENDED,  /* by itself, or by a signal from elsewhere */
	BOUNDED_TIME,   /* it ran too long */
	BOUNDED_OUT,    /* it wrote too much to standard output... */
	BOUNDED_ERRORS, /* ...or to standard error */
};

struct bounded_result {
	enum bounded_end end;
	int status;                     /* waitpid's */
	enum keeper_why why;            /* why it was stopped */
	const struct buf *out, *errors; /* borrowed until the callback returns */
};

struct bounded_spec {
	const struct sandbox_start *start; /* borrowed during the call */
	const int *network;                /* as of struct child_spec */
	int in;                            /* > 0: its standard input; borrowed during the call */
	struct keeper_terms terms;
	int64_t max_ms;
	size_t max_out, max_errors; /* bytes */
	void (*done)(void *data,
		const struct bounded_result *result); /* called once, when all processes of the program are gone */
	void *data;
};

/* `child` can be killed (exec/child) until `done` is called. ERR_INTERNAL. */
int bounded_start(struct loop *loop, const struct bounded_spec *spec, struct child **ret_child, struct err *err);

#endif
