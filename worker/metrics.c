/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/metrics.h"

_Static_assert((int)M_COUNT <= (int)METRICS_MAX, "common/metrics.c has room for METRICS_MAX metrics");

const struct metric worker_metrics[M_COUNT] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "common/metrics.def"
#include "worker/metrics.def"
#undef METRIC
};
