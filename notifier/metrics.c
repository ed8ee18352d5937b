/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/metrics.h"

#include <stdarg.h>
#include <stdio.h>

const struct metric notifier_metrics[M_COUNT] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "notifier/metrics.def"
#undef METRIC
};

enum { LABELS_SIZE = 192 };

void count(int metric, double amount, const char *labels, ...)
{
	char text[LABELS_SIZE];
	va_list args;

	va_start(args, labels);
	vsnprintf(text, sizeof(text), labels, args);
	va_end(args);
	metric_add(metric, text, amount);
}

void observe(int metric, double seconds, const char *labels, ...)
{
	char text[LABELS_SIZE];
	va_list args;

	va_start(args, labels);
	vsnprintf(text, sizeof(text), labels, args);
	va_end(args);
	metric_observe(metric, text, seconds);
}

void show(int metric, double value, const char *labels, ...)
{
	char text[LABELS_SIZE];
	va_list args;

	va_start(args, labels);
	vsnprintf(text, sizeof(text), labels, args);
	va_end(args);
	metric_set(metric, text, value);
}
