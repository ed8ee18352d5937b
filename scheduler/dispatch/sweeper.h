/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_SWEEPER_H
#define SCHEDULER_DISPATCH_SWEEPER_H

/*
 * The thread for what nobody reports: leases that ended, announcements that a broker lost, queues that stand still
 * though they need not, workers that went away; and, while somebody reads it, the gauges of /metrics. Replicas
 * may all sweep.
 */

#include "scheduler/store/store.h"

struct sweeper;

struct sweeper_spec {
	struct store store; /* as the thread's own, but for the connection */
	const char *database_url;
};

int sweeper_start(const struct sweeper_spec *spec, struct sweeper **ret_sweeper, struct err *err);
void sweeper_stop(struct sweeper *sweeper);

#endif
