/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HELPER_SERVE_H
#define SCHEDULER_HELPER_SERVE_H

/* The helper's side of wire.h: it answers requests with its table of operations. */

#include "common/json/json.h"

struct err;

struct helper_operation {
	const char *name; /* NULL: the end of the table */
	/* Fills the answer. ERR_INVALID: what came from outside is not acceptable. */
	int (*run)(const json_t *request, json_t *answer, struct err *err);
};

/* Answers requests until the other end is closed. Returns 0 then, and -1 if a message has not the form of wire.h. */
int helper_serve(int fd, const struct helper_operation *operations);

#endif
