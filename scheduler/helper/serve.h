/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HELPER_SERVE_H
#define SCHEDULER_HELPER_SERVE_H

/* The helper's side of wire.h: it answers the requests on its standard input with its table of operations. */

#include "common/json/json.h"

struct err;

struct helper_operation {
	const char *name; /* NULL: the end of the table */
	/* Fills the answer. ERR_INVALID: what came from outside is not acceptable. */
	int (*run)(const json_t *request, json_t *answer, struct err *err);
};

struct helper_program {
	const char *name;  /* also of the account that it runs as */
	int (*init)(void); /* initializes the libraries, before the process is confined */
	const struct helper_operation *operations;
};

/* The whole program: answers requests until the other end is closed, and exits, with 1 if something is wrong. */
_Noreturn void helper_main(const struct helper_program *program);

#endif
