/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_INTAKE_H
#define SCHEDULER_DISPATCH_INTAKE_H

/*
 * A thread that takes messages in: reads a batch, has it settled in as few transactions as can be, and commits the
 * offset after that. Without PostgreSQL it waits; what can't be read goes to the dead letters.
 */

#include "common/kafka.h"
#include "scheduler/store/store.h"

struct intake;

enum { INTAKE_BATCH = 128 };

struct intake_spec {
	const char *client; /* in metrics: "results" */
	const char *topic, *group;
	/* Settles them all: 0; or -1 if the process ends before: then they come again. */
	int (*settle)(struct intake *intake, const struct kafka_message *messages, size_t count);
	struct store store; /* as the thread's own, but for the connection */
	const char *database_url;
	const struct kafka_settings *kafka;
};

int intake_start(const struct intake_spec *spec, struct intake **ret_intake, struct err *err);
/* Finishes the batch it is in, commits its offsets, leaves the group. NULL-safe. */
void intake_stop(struct intake *intake);

/* ---- for settle ---- */

struct store *intake_store(struct intake *intake);
/* Runs fn until it succeeds (0), fails for a reason of its own (-1, *err), or the process ends (-1, ERR_UNAVAILABLE).
 */
int intake_try(struct intake *intake, int (*fn)(struct store *store, void *data, struct err *err), void *data,
	struct err *err);
/* Puts a message aside; -1 only if the process ends before it is. */
int intake_letter(struct intake *intake, const struct kafka_message *message, const char *why);

#endif
