/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_LAG_LAG_KEEPER_H
#define SCHEDULER_BACKGROUND_LAG_LAG_KEEPER_H

/*
 * Measures the lag of every topic at the broker once, and keeps the lag of job messages true:
 *
 *  - A partition of which nothing was committed gets a first offset, so that tools show a lag.
 *  - Messages of jobs that no longer wait are passed if the pool has no worker that does it.
 *  - Jobs are announced again if the topic has fewer messages than jobs wait: the broker has lost them, or their
 *    retention has passed.
 *
 * librdkafka's administrative calls can end the process, for example if a broker is restarted
 * (confluentinc/librdkafka#4605). So this is the work of a process of its own (lag_process.h).
 */

#include <stdio.h>

#include "common/kafka/kafka.h"
#include "scheduler/store/store.h"

struct lag_keeping {
	const struct kafka_settings *kafka;
	FILE *out;
	bool measure_only; /* change nothing */
};
/* Prints the lines of topic_lags.h, before it changes anything. */
int lag_keep(struct store *store, const struct lag_keeping *keeping, struct err *err);

#endif
