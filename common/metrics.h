/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_METRICS_H
#define COMMON_METRICS_H

/*
 * Counters, gauges and histograms in Prometheus' text format. A series is a metric's name with its labels
 * ("pool=\"default\""). It is created on first use. Safe from any thread. The process's table has the name, type and
 * help of every metric.
 */

#include "common/buf.h"

enum metric_type {
	METRIC_COUNTER,
	METRIC_GAUGE,
	METRIC_SAMPLE, /* a gauge that is measured again and again: a series not set for METRICS_SAMPLE_MS is left out
			*/
	METRIC_HISTOGRAM
};

enum {
	METRICS_MAX = 256,          /* in one process */
	METRICS_MAX_SERIES = 20000, /* of one counter or gauge: one for each pool or partition, with some labels more */
	METRICS_MAX_HISTOGRAMS = 1000, /* series of one histogram; each has a line for each bucket */
	METRICS_SAMPLE_MS = 15000
};

struct metric {
	const char *name;
	enum metric_type type;
	const char *help;
};

/* The numbers of the metrics that every process has. */
enum {
#define METRIC(symbol, name, type, help) M_##symbol,
#include "common/metrics.def"
#undef METRIC
	M_COMMON_COUNT
};

/* Must be called once, before the first use; until then changes are ignored. Borrows the table for good. It has at
 * most METRICS_MAX rows, the first of which are those of common/metrics.def. A metric's number is its index. */
void metrics_setup(const struct metric *table, size_t count);

/* `labels` is "" or valid Prometheus text: `route="/runs",status="200"`. A change that needs more series than a metric
 * may have is dropped and counted. */
void metric_add(int metric, const char *labels, double amount);
void metric_set(int metric, const char *labels, double value);
/* Adds an observation in seconds to a histogram (buckets from 1 ms to 1 h). */
void metric_observe(int metric, const char *labels, double seconds);
/* The same three with formatted labels. The arguments must be constant words of the program, never text from
 * outside. */
void metric_addf(int metric, double amount, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void metric_setf(int metric, double value, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void metric_observef(int metric, double seconds, const char *labels, ...) __attribute__((format(printf, 3, 4)));
/* Removes the series for whose labels `is_gone` returns true. It must not call functions of this header. */
void metric_remove(int metric, bool (*is_gone)(void *data, const char *labels), void *data);

void metrics_write(struct buf *out);
/* The time of the last metrics_write or of metrics_setup, by clock_mono_ms. Values that are expensive to find out
 * are updated only if metrics are read. */
int64_t metrics_read_ms(void);

#endif
