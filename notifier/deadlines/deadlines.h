/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DEADLINES_DEADLINES_H
#define NOTIFIER_DEADLINES_DEADLINES_H

/*
 * Which task results' services have been silent for too long. Redis holds the deadlines for all notifiers, as an index
 * and not as the record: the scheduler has them too, decides by its own time, and is read again every minute, when
 * Redis has lost them, and at the start. While Redis is away that reading alone finds what is due: later, and nothing
 * else.
 */

#include "common/base.h"

struct deadlines;
struct err;
struct notifier;

enum { DEADLINE_NONE = -1 };

int deadlines_open(struct notifier *notifier, struct deadlines **ret_deadlines, struct err *err);
void deadlines_free(struct deadlines *deadlines);
/* Sets, moves or (DEADLINE_NONE) forgets the deadline of a task result. */
void deadlines_set(struct deadlines *deadlines, const char *id, int64_t in_ms);
/* How many fired and are being reported. */
size_t deadlines_busy(const struct deadlines *deadlines);

#endif
