/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_SWEEPER_H
#define SCHEDULER_BACKGROUND_SWEEPER_H

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

struct sweeper;

struct sweeper_spec {
	struct store store; /* the thread's own copy, except for the connection */
	const char *database_url;
};

int sweeper_start(const struct sweeper_spec *spec, struct sweeper **ret_sweeper, struct err *err);
void sweeper_stop(struct sweeper *sweeper);

#endif
