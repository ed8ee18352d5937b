/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATIONS_H
#define SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATIONS_H

/*
 * Pending notifications. The transaction of an event creates one row per configuration that subscribes to it. Notifiers
 * claim and send the rows (store/requests.h). A row is deleted after delivery, or after delivery was given up. The mail
 * of an invitation (store/access/invitations.h), and one to a user about an account (account_mails.h), are
 * notifications without a configuration.
 */

#include "scheduler/lifecycle/triggers.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/request_claim.h"

/* An event of a run that may have subscribers. */
struct notification_event {
	const char *run_id, *workspace_id;
	enum trigger trigger;
	enum run_status status;
	const char *at;    /* RFC 3339 */
	const char *actor; /* user id, or NULL */
};

/* Adds an event to the rows for notifications_put_up. */
void notification_event_add(json_t *rows, const struct notification_event *event);
/* Creates the notifications of these events, and adds their job messages to the outbox. In a transaction. */
int notifications_put_up(struct store *store, const json_t *rows, struct outbox *outbox, struct err *err);
/* A notification about a workspace, without a run. */
struct workspace_notification {
	const char *workspace_id;
	enum trigger trigger;
	/* The subject: one of these. The others are NULL. */
	const char *due_at;        /* when the workspace will be destroyed automatically */
	const char *note;          /* its sentence */
	const char *assessment_id; /* the new result */
};
/* Creates it for each configuration that subscribes to its trigger. In a transaction. They have no job messages, since
 * they are not urgent. */
int notification_of_workspace_put_up(
	struct store *store, const struct workspace_notification *notification, struct err *err);
/* Creates the notifications of new change requests. In a transaction, and without job messages. */
int notifications_of_change_requests_put_up(struct store *store, struct db_array *ids, struct err *err);
/* Creates the verification of an e-mail configuration. */
int notification_verification_put_up(struct store *store, const char *configuration_id, struct err *err);

/* Appends claimed notifications to `requests`. In a transaction. */
int notifications_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err);
/* Stores the responses, which users can read, and deletes notifications that have ended. Deliveries of other requests
 * are ignored. */
int notifications_delivered(struct store *store, const json_t *deliveries, struct err *err);
/* Gives up notifications that no notifier sent in time. */
int notifications_give_up(struct store *store, struct err *err);

#endif
