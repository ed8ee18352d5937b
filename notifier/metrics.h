/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_METRICS_H
#define NOTIFIER_METRICS_H

#include "common/metrics.h"

/* The notifier's metrics by number, from metrics.def. */
enum {
#define METRIC(symbol, name, type, help) M_##symbol,
#include "notifier/metrics.def"
#undef METRIC
	M_COUNT
};

/* For metrics_setup(notifier_metrics, M_COUNT). */
extern const struct metric notifier_metrics[M_COUNT];

/* metric_add, metric_observe and metric_set with labels that are put together from our own words, never from text from
 * outside. */
void count(int metric, double amount, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void observe(int metric, double seconds, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void show(int metric, double value, const char *labels, ...) __attribute__((format(printf, 3, 4)));

#endif
