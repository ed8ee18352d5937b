/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_METRICS_H
#define SCHEDULER_METRICS_H

/* The numbers of the scheduler's metrics, from metrics.def. */

#include "common/metrics.h"

enum {
	M_LAST_COMMON = M_COMMON_COUNT - 1,
#define METRIC(symbol, name, type, help) M_##symbol,
#include "scheduler/metrics.def"
#undef METRIC
	M_COUNT
};

extern const struct metric scheduler_metrics[M_COUNT];
/* metrics_setup with this table. Counters that alerts watch for their first event are shown from the start, as 0. */
void scheduler_metrics_setup(void);

#endif
