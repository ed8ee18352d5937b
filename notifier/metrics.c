/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/metrics.h"

const struct metric notifier_metrics[M_COUNT] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "notifier/metrics.def"
#undef METRIC
};
