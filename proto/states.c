/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/states.h"

#include <string.h>

const struct run_status_row run_statuses[RUN_STATUS_COUNT] = {
#define RUN_STATUS(symbol, name, timestamp, label, group) [RUN_##symbol] = {name, timestamp, label, group},
#include "proto/run_status.def"
#undef RUN_STATUS
};

const struct stage_row stages[STAGE_COUNT + 1] = {
#define STAGE(symbol, name, waiters, runs, rests, doer, failure, error)                                                \
	[STAGE_##symbol] = {name, RUN_##waiters, RUN_##runs, RUN_##rests, doer, failure, error},
#include "proto/stages.def"
#undef STAGE
	[STAGE_NONE] = {.name = "none"},
};

int run_status_parse(const char *name)
{
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		if (text_equal(run_statuses[i].name, name))
			return i;
	return -1;
}

bool run_statuses_are_live(const char *names)
{
	for (const char *at = text_or_empty(names); *at;) {
		size_t len = strcspn(at, ",");

		for (int i = 0; i < RUN_STATUS_COUNT; i++)
			if (run_statuses[i].group == FINAL && strlen(run_statuses[i].name) == len &&
				strncmp(run_statuses[i].name, at, len) == 0)
				return false;
		at += len + (at[len] == ',');
	}
	return names != NULL;
}

int stage_parse(const char *name)
{
	for (int i = 0; i <= STAGE_COUNT; i++)
		if (text_equal(stages[i].name, name))
			return i;
	return -1;
}
