/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_HISTORY_H
#define SCHEDULER_LIFECYCLE_HISTORY_H

/*
 * Decides whether the current database may lack commits that an earlier one acknowledged. A history is "<system
 * identifier>/<timeline>". A promotion or a restore to a point in time begins a new timeline of the same system. A copy
 * by dump is another system. Pure.
 */

#include "common/base.h"

enum { HISTORY_SIZE = 64 };

enum history_change {
	HISTORY_SAME,
	HISTORY_FIRST,     /* none was known */
	HISTORY_CONTINUED, /* a standby with every commit was promoted */
	HISTORY_MAY_LACK,  /* commits may be lost */
};

/* `synchronous`: each commit waited for a standby at the last check. `known` may be NULL. */
enum history_change history_compare(const char *known, const char *now, bool synchronous);

#endif
