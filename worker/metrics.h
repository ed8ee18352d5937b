/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_METRICS_H
#define WORKER_METRICS_H

#include "common/metrics.h"

/* Indexes of the worker's metrics, from metrics.def. */
enum {
	M_LAST_COMMON = M_COMMON_COUNT - 1,
#define METRIC(symbol, name, type, help) M_##symbol,
#include "worker/metrics.def"
#undef METRIC
	M_COUNT
};

/* For metrics_setup(worker_metrics, M_COUNT). */
extern const struct metric worker_metrics[M_COUNT];

#endif
