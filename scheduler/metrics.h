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

/* For metrics_setup(scheduler_metrics, M_COUNT). */
extern const struct metric scheduler_metrics[M_COUNT];

#endif
