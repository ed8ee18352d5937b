/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_DEFAULT_MODE_H
#define SCHEDULER_API_WORKSPACES_DEFAULT_MODE_H

/* The default execution mode, with its agent pool, of organizations and projects. Objects without a mode inherit it. */

#include "scheduler/api/api.h"
#include "scheduler/store/workers/pools.h"

struct default_mode {
	const char *mode; /* NULL: not set */
	const char *pool; /* NULL: not set */
};

/* The attributes of a body that concern the mode. */
struct default_mode_body {
	const char *mode; /* the new mode */
	const char *pool; /* as sent, or NULL; "" is no pool */
	const char *pool_pointer;
};

/* Checks the mode together with the pool. *mode is the old value, and becomes the new one. ERR_INVALID with a
 * pointer. */
int default_mode_change(const struct request *req, const struct pool_use *use, const struct default_mode_body *body,
	struct default_mode *mode, struct err *err);

/* ERR_INVALID unless the mode is remote, local or agent. */
int mode_word_check(const char *mode, const char *pointer, const char *what, struct err *err);

#endif
