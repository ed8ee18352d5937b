/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/limits/limits.h"

long long limits_apply_end(const struct job_limits *limits)
{
	return limits->apply_seconds > 0 ? limits->apply_seconds + limits->stop_seconds : 0;
}

int64_t limits_quarter_more(int64_t value)
{
	return value + value / 4;
}

const char *limits_hard(const struct job_limits *limits)
{
	static const char *const words[2][2] = {
		{"time, log, size of a file", "time, log, size of a file, disk"},
		{"time, log, size of a file, memory, processes", "time, log, size of a file, disk, memory, processes"},
	};

	return words[limits->groups != NULL][limits->quota != NULL];
}

const char *limits_measured(const struct job_limits *limits)
{
	static const char *const words[2][2] = {{"disk, memory, processes", "memory, processes"}, {"disk", "none"}};

	return words[limits->groups != NULL][limits->quota != NULL];
}
