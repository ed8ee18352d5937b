/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_INTAKE_INTAKE_H
#define SCHEDULER_INTAKE_INTAKE_H

/*
 * The thread that consumes messages. It reads a batch, settles the messages of each topic in as few transactions as
 * possible, and then commits the offsets. Without PostgreSQL it waits. Unreadable messages become dead letters. All
 * topics share one consumer, because each Kafka client costs an idle scheduler CPU, threads and a connection.
 */

#include "common/http/rate.h"
#include "common/kafka/kafka.h"
#include "proto/topics.h"
#include "scheduler/store/store.h"

struct intake; /* of one topic */
struct intakes;

enum { INTAKE_BATCH = 128 };
/* Bounds on how many messages of one topic are stored, since any client of the broker can send them. */
enum { INTAKE_LETTERS_A_MINUTE = 120, INTAKE_UNPROVEN_A_MINUTE = 10 };

struct intake_topic {
	enum topic topic;
	/* Settles all messages. Returns 0, or -1 if the process ends first: then they are delivered again. */
	int (*settle)(struct intake *intake, const struct kafka_message *messages, size_t count);
};

struct intakes_spec {
	const struct intake_topic *topics; /* borrowed until intakes_stop */
	size_t count;                      /* at most KAFKA_MAX_TOPICS */
	struct store store;                /* the thread's own copy, except for the connection */
	const char *database_url;
	const struct kafka_settings *kafka;
};

int intakes_start(const struct intakes_spec *spec, struct intakes **ret_intakes, struct err *err);
/* Finishes the current batch, commits its offsets, leaves the group. NULL-safe. */
void intakes_stop(struct intakes *intakes);

/* ---- for settle ---- */

struct store *intake_store(struct intake *intake);
/* Runs fn until it succeeds (0), fails for a reason of its own (-1, *err), or the process ends (-1, ERR_UNAVAILABLE).
 */
int intake_try(struct intake *intake, int (*fn)(struct store *store, void *data, struct err *err), void *data,
	struct err *err);
/* Makes a message a dead letter. Returns -1 only if the process ends first. Beyond INTAKE_LETTERS_A_MINUTE the message
 * is dropped and counted. */
int intake_letter(struct intake *intake, const struct kafka_message *message, const char *why);
/* The same without a limit: for a message whose MAC verifies. Such a message cannot be forged. */
int intake_letter_proven(struct intake *intake, const struct kafka_message *message, const char *why);
/* The same for a message about that job whose MAC does not verify. It is a security event: counted, and logged at most
 * once per second. At most INTAKE_UNPROVEN_A_MINUTE are stored. */
int intake_refuse_unproven(
	struct intake *intake, const struct kafka_message *message, const char *job_id, const char *why);
/* Returns true if a log line about a late message is due, with the number of messages that it stands for. At most 10
 * lines per second. */
bool intake_late_line_due(struct intake *intake, char ret_count[RATE_COUNT_SIZE]);
/* Returns true if one more dead letter may be stored now; otherwise counts the message as dropped. */
bool intake_letter_fits(struct intake *intake);

#endif
