/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DEADLINES_DEADLINES_H
#define NOTIFIER_DEADLINES_DEADLINES_H

/*
 * Finds task results whose services have been silent for too long.
 *
 * Redis holds the deadlines for all notifiers. It is an index: the scheduler has the authoritative deadlines and
 * decides by its own clock. The notifiers read the deadlines from the scheduler at the start, every minute, and when
 * Redis has lost them. While Redis is unavailable, these readings alone find expired deadlines. The only effect is a
 * delay.
 */

#include "common/base.h"

struct deadlines;
struct err;
struct notifier;

enum { DEADLINE_NONE = -1 };

int deadlines_open(struct notifier *notifier, struct deadlines **ret_deadlines, struct err *err);
void deadlines_free(struct deadlines *deadlines);
/* Sets, moves or (DEADLINE_NONE) removes the deadline of a task result. */
void deadlines_set(struct deadlines *deadlines, const char *id, int64_t in_ms);
/* Returns the number of expired deadlines that are being reported. */
size_t deadlines_busy(const struct deadlines *deadlines);

#endif
