/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_OUTBOX_H
#define SCHEDULER_DISPATCH_OUTBOX_H

/*
 * The transactional outbox: what is to be published is a row that commits with the change it tells of.
 * The process that wrote a row publishes it at once; the publisher's poll finds what a dead replica left.
 */

#include "proto/messages.h"
#include "proto/topics.h"
#include "scheduler/store/store.h"

/* Messages on their way into the outbox, within a transaction. */
struct outbox {
	json_t *rows;
};

void outbox_init(struct outbox *outbox);
void outbox_release(struct outbox *outbox);
/* Adds a message; takes the payload. The key may be NULL: spread one by one. */
void outbox_add(struct outbox *outbox, const char *topic, const char *key, char *payload);
/* That a job waits in a pool. */
void outbox_add_ticket(struct outbox *outbox, const char *pool_id, const char *job_id, const char *run_id);
/* That a task result's request is to be sent. */
void outbox_add_task(struct outbox *outbox, const char *task_result_id, const char *run_id);
/* That a notification is to be sent. */
void outbox_add_notification(struct outbox *outbox, const char *notification_id, const char *run_id);
/* Inserts them in the open transaction. They are handed to the publisher by outbox_committed. */
int outbox_insert(struct store *store, struct outbox *outbox, struct err *err);
/* A row's id, for another statement that writes to the outbox; no other process has it. */
long long outbox_number(void);
/* Adds a message that such a statement of the transaction writes; copies the texts. */
void outbox_written(struct outbox *outbox, long long id, const char *topic, const char *key, const char *payload);
/* Hands what outbox_insert wrote to the publisher, and tells workers that wait of jobs (waits.h): now, or when the
 * transaction that goes on has committed. */
void outbox_committed(struct store *store, struct outbox *outbox);

#endif
