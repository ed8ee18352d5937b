/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_METRICS_H
#define WORKER_METRICS_H

#include "common/metrics.h"

/* The worker's metrics by number, from metrics.def. */
enum {
#define METRIC(symbol, name, type, help) M_##symbol,
#include "worker/metrics.def"
#undef METRIC
	M_COUNT
};

/* For metrics_setup(worker_metrics, M_COUNT). */
extern const struct metric worker_metrics[M_COUNT];

/* metric_add and metric_observe with labels that are put together from our own words, never from text from outside. */
void count(int metric, double amount, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void observe(int metric, double seconds, const char *labels, ...) __attribute__((format(printf, 3, 4)));

#endif
