/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/metrics.h"

const struct metric worker_metrics[M_COUNT] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "worker/metrics.def"
#undef METRIC
};
