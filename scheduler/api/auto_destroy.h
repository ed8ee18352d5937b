/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_AUTO_DESTROY_H
#define SCHEDULER_API_AUTO_DESTROY_H

/* When what a workspace manages is to be destroyed: at a time, or so long after its last change. */

#include "scheduler/api/api.h"

/* ERR_INVALID unless it is NULL, or like "14d" or "9999h". */
int duration_check(const char *duration, struct err *err);
/* Checks what a body set of both in `settings`, and makes one rule of it. */
int auto_destroy_read(json_t *settings, struct err *err);
/* Adds the attributes for a workspace's row: what it inherits, and the time that follows. */
void auto_destroy_show(const struct rows *rows, int row, json_t *attributes);

#endif
