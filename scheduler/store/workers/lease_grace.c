/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/lease_grace.h"

#include <stdatomic.h>

#include "common/clock.h"

enum { AWAY_MS = 3000 };

static _Atomic int64_t watched_ms = INT64_MIN / 2; /* when leases were last checked; clock_mono_ms, as the next */
static _Atomic int64_t grace_ms;                   /* until when workers have time */

bool leases_have_grace(int lease_seconds)
{
	int64_t half_ms = (int64_t)lease_seconds * 500, now = clock_mono_ms();

	if (now - atomic_load(&watched_ms) > half_ms + AWAY_MS)
		atomic_store(&grace_ms, now + half_ms);
	else if (now >= atomic_load(&grace_ms))
		return false;
	atomic_store(&watched_ms, now);
	return true;
}

void leases_watched(void)
{
	atomic_store(&watched_ms, clock_mono_ms());
}
