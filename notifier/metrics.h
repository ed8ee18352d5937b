/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_METRICS_H
#define NOTIFIER_METRICS_H

#include "common/metrics.h"

/* The notifier's metrics by number, from metrics.def. */
enum {
	M_LAST_COMMON = M_COMMON_COUNT - 1,
#define METRIC(symbol, name, type, help) M_##symbol,
#include "notifier/metrics.def"
#undef METRIC
	M_COUNT
};

/* For metrics_setup(notifier_metrics, M_COUNT). */
extern const struct metric notifier_metrics[M_COUNT];

#endif
