/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_DEFAULT_MODE_H
#define SCHEDULER_API_DEFAULT_MODE_H

/* The execution mode, with its agent pool, that organizations and projects give to what has none of its own. */

#include "scheduler/api/api.h"
#include "scheduler/store/pools.h"

struct default_mode {
	const char *mode; /* NULL: none of its own */
	const char *pool; /* NULL: none */
};

/* What a body may say of it, beside the mode itself. */
struct default_mode_body {
	const char *mode; /* as it will be */
	const char *pool; /* as it was sent, or NULL; "" is no pool */
	const char *pool_pointer;
};

/* Checks the two together; *mode is what it was, and becomes what it will be. ERR_INVALID with a pointer. */
int default_mode_change(const struct request *req, const struct pool_use *use, const struct default_mode_body *body,
	struct default_mode *mode, struct err *err);

/* ERR_INVALID unless it is remote, local or agent. */
int mode_word_check(const char *mode, const char *pointer, const char *what, struct err *err);

#endif
