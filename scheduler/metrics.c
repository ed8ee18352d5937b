/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/metrics.h"

const struct metric scheduler_metrics[M_COUNT] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "scheduler/metrics.def"
#undef METRIC
};
