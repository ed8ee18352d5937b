/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_OUTBOX_OUTBOX_H
#define SCHEDULER_OUTBOX_OUTBOX_H

/*
 * The transactional outbox: a message to publish is a row that commits with the change it announces. The process that
 * wrote a row publishes it at once. The publisher's poll finds the rows that a dead replica left.
 */

#include "proto/messages.h"
#include "proto/topics.h"
#include "scheduler/db/db.h"
#include "scheduler/lifecycle/job_class.h"

struct publisher;
struct claim_waiters;

/* The parts that get the messages which this process has committed. */
struct outbox_sink {
	struct publisher *publisher;
	struct claim_waiters *waiters; /* of jobs among them, or NULL */
	/* Called after bytes of an operation's log have committed, from any thread; or NULL. */
	void (*log_grew)(void *data, const char *operation_id);
	void *log_data;
};

/* Messages to be inserted into the outbox, within a transaction. */
struct outbox {
	json_t *rows;
};

void outbox_init(struct outbox *outbox);
void outbox_release(struct outbox *outbox);
/* Adds a message; takes the payload. The key may be NULL: messages without a key are spread over the partitions. */
void outbox_add(struct outbox *outbox, const char *topic, const char *key, char *payload);
/* Announces a job that waits in a pool. Each class has partitions of its own: jobs of a higher class are claimed first,
 * and would otherwise count in the lag of a partition until an older job is claimed. */
void outbox_add_job(
	struct outbox *outbox, const char *pool_id, const char *job_id, const char *run_id, enum job_class class);
/* The key of such a message is the job's class and this text (struct kafka_record). */
#define JOB_KEY_OF_CLASS "/4"
/* Announces the request of a task result. */
void outbox_add_task(struct outbox *outbox, const char *task_result_id, const char *run_id);
/* Announces a notification that is to be sent. */
void outbox_add_notification(struct outbox *outbox, const char *notification_id, const char *run_id);
/* Inserts the messages in the open transaction, hands them over as outbox_hand_over does, and empties the outbox. */
int outbox_insert(struct outbox *outbox, struct db *db, const struct outbox_sink *sink, struct err *err);
/* Returns a row id for another statement that writes to the outbox. It is unique among all processes. */
long long outbox_number(void);
/* Adds a message that such a statement of the transaction writes; copies the texts. outbox_hand_over takes it. */
void outbox_written(struct outbox *outbox, long long id, const char *topic, const char *key, const char *payload);
/* When the open transaction has committed: passes the messages to the publisher, and ends waits of workers for the jobs
 * among them (claim_waiters.h). `sink` may be NULL: the publisher's poll finds the rows. */
void outbox_hand_over(struct outbox *outbox, struct db *db, const struct outbox_sink *sink);

#endif
