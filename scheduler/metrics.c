/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/metrics.h"

#include "proto/states.h"

_Static_assert((int)M_COUNT <= (int)METRICS_MAX, "common/metrics.c has room for METRICS_MAX metrics");

const struct metric scheduler_metrics[M_COUNT] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "common/metrics.def"
#include "scheduler/metrics.def"
#undef METRIC
};

void scheduler_metrics_setup(void)
{
	static const char *const starts[] = {"prompt", "late", "no_slot"};

	metrics_setup(scheduler_metrics, M_COUNT);
	for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
		if (stages[stage].doer == BY_WORKER)
			metric_addf(M_LEASES_LOST, 0, "stage=\"%s\"", stages[stage].name);
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		metric_addf(M_JOB_STARTS, 0, "result=\"%s\"", starts[i]);
}
