/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/metrics.h"

_Static_assert((int)M_COUNT <= (int)METRICS_MAX, "common/metrics.c has room for METRICS_MAX metrics");

const struct metric scheduler_metrics[M_COUNT] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "common/metrics.def"
#include "scheduler/metrics.def"
#undef METRIC
};
