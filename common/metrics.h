/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_METRICS_H
#define COMMON_METRICS_H

/*
 * Counters, gauges and histograms in Prometheus' text format. A series is a metric's name with its labels
 * ("pool=\"default\""). It is created on first use. Safe from any thread. The process's table has the name, type and
 * help of every metric.
 */

#include "common/buf.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric {
	const char *name;
	enum metric_type type;
	const char *help;
};

/* Must be called once, before the first use. Borrows the table for good. A metric's number is its index in the
 * table. */
void metrics_setup(const struct metric *table, size_t count);

/* `labels` is "" or valid Prometheus text: `route="/runs",status="200"`. A metric has at most 1000 series. */
void metric_add(int metric, const char *labels, double amount);
void metric_set(int metric, const char *labels, double value);
/* Adds an observation in seconds to a histogram (buckets from 1 ms to 1 h). */
void metric_observe(int metric, const char *labels, double seconds);
/* The same three with formatted labels. The arguments must be constant words of the program, never text from
 * outside. */
void metric_addf(int metric, double amount, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void metric_setf(int metric, double value, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void metric_observef(int metric, double seconds, const char *labels, ...) __attribute__((format(printf, 3, 4)));

void metrics_write(struct buf *out);
/* The time of the last metrics_write or of metrics_setup, by clock_mono_ms. Values that are expensive to find out
 * are updated only if metrics are read. */
int64_t metrics_read_ms(void);

#endif
