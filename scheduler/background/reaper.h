/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_REAPER_H
#define SCHEDULER_BACKGROUND_REAPER_H

/*
 * The thread that detects conditions which no process reports:
 *  - leases that ended,
 *  - announcements that a broker lost,
 *  - queues that stand still although they could go on,
 *  - workers that disappeared.
 *
 * It also updates the gauges of /metrics while /metrics is read. Every replica may run one.
 */

#include "scheduler/store/store.h"

struct reaper;

struct reaper_spec {
	struct store store; /* the thread's own copy, except for the connection */
	const char *database_url;
};

int reaper_start(const struct reaper_spec *spec, struct reaper **ret_reaper, struct err *err);
void reaper_stop(struct reaper *reaper);

#endif
