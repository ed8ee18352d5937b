/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_INTAKE_H
#define SCHEDULER_DISPATCH_INTAKE_H

/*
 * The thread that takes messages in: it reads a batch, has the messages of each topic settled in as few transactions as
 * can be, and commits the offsets after that. Without PostgreSQL it waits; what can't be read goes to the dead letters.
 * All topics have one reader, because each Kafka client costs an idle scheduler CPU, threads and a connection.
 */

#include "common/kafka.h"
#include "common/rate.h"
#include "proto/topics.h"
#include "scheduler/store/store.h"

struct intake; /* of one topic */
struct intakes;

enum { INTAKE_BATCH = 128 };
/* Bounds for what anybody who reaches the broker can make a scheduler keep of one topic. */
enum { INTAKE_LETTERS_A_MINUTE = 120, INTAKE_UNPROVEN_A_MINUTE = 10 };

struct intake_topic {
	enum topic topic;
	/* Settles them all: 0; or -1 if the process ends before: then they come again. */
	int (*settle)(struct intake *intake, const struct kafka_message *messages, size_t count);
};

struct intakes_spec {
	const struct intake_topic *topics; /* borrowed for as long as it runs */
	size_t count;                      /* KAFKA_MOST_TOPICS at most */
	struct store store;                /* as the thread's own, but for the connection */
	const char *database_url;
	const struct kafka_settings *kafka;
};

int intakes_start(const struct intakes_spec *spec, struct intakes **ret_intakes, struct err *err);
/* Finishes the batch it is in, commits its offsets, leaves the group. NULL-safe. */
void intakes_stop(struct intakes *intakes);

/* ---- for settle ---- */

struct store *intake_store(struct intake *intake);
/* Runs fn until it succeeds (0), fails for a reason of its own (-1, *err), or the process ends (-1, ERR_UNAVAILABLE).
 */
int intake_try(struct intake *intake, int (*fn)(struct store *store, void *data, struct err *err), void *data,
	struct err *err);
/* Makes a message a dead letter; -1 only if the process ends before it is. Beyond INTAKE_LETTERS_A_MINUTE the message
 * is dropped and counted. */
int intake_letter(struct intake *intake, const struct kafka_message *message, const char *why);
/* The same, however many there are: for a message whose MAC verifies. Such a message can't be forged. */
int intake_letter_proven(struct intake *intake, const struct kafka_message *message, const char *why);
/* The same of a message about that job whose MAC does not verify, which is a security event: counted, and told in at
 * most one log line per second. At most INTAKE_UNPROVEN_A_MINUTE are kept. */
int intake_refuse_unproven(
	struct intake *intake, const struct kafka_message *message, const char *job_id, const char *why);
/* True if a log line about a late message is due, with the number of messages that it stands for. At most 10 lines per
 * second. */
bool intake_late_line_due(struct intake *intake, char ret_count[RATE_COUNT_SIZE]);
/* True if one more dead letter may be kept now; otherwise the message is counted as dropped. */
bool intake_letter_fits(struct intake *intake);

#endif
