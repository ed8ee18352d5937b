/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_METRICS_H
#define COMMON_METRICS_H

/*
 * Counters, gauges and histograms in Prometheus' text format. A series is a metric's name with its labels written
 * out ("pool=\"default\""); it exists from the first time it is touched. Safe from any thread.
 * Every metric's name, type and help stands once, in the process's table.
 */

#include "common/buf.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric {
	const char *name;
	enum metric_type type;
	const char *help;
};

/* Once, before the first use. Borrowed for good; the index into the table is the metric's number from then on. */
void metrics_setup(const struct metric *table, size_t count);

/* `labels` is "" or ready Prometheus text: `route="/runs",status="200"`. A metric holds 1000 series at the most. */
void metric_add(int metric, const char *labels, double amount);
void metric_set(int metric, const char *labels, double value);
/* A histogram's observation in seconds (buckets from 1 ms to 1 h). */
void metric_observe(int metric, const char *labels, double seconds);
/* The same three with labels that are put together from our own words, never from text from outside. */
void metric_addf(int metric, double amount, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void metric_setf(int metric, double value, const char *labels, ...) __attribute__((format(printf, 3, 4)));
void metric_observef(int metric, double seconds, const char *labels, ...) __attribute__((format(printf, 3, 4)));
/* Forgets a gauge's series, so that what is no longer there is not shown as it last was. */
void metric_clear(int metric);

void metrics_write(struct buf *out);
/* When somebody last read them, or they were set up; by clock_mono_ms. What is dear to find out is for readers alone.
 */
int64_t metrics_read_ms(void);

#endif
