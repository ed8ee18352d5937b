/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATIONS_H
#define SCHEDULER_STORE_NOTIFICATIONS_H

/*
 * Notifications on their way: put up in the transaction of what they tell of, one row for each configuration that asks
 * for it, claimed and sent by notifiers (store/requests.h), gone when they were delivered or given up. The mail of an
 * invitation (store/invitations.h) is one of no configuration.
 */

#include "scheduler/dispatch/outbox.h"
#include "scheduler/lifecycle/triggers.h"
#include "scheduler/store/requests.h"

/* Something of a run that may be told. */
struct notification_event {
	const char *run_id, *workspace_id;
	enum trigger trigger;
	enum run_status status;
	const char *at;    /* RFC 3339 */
	const char *actor; /* user id, or NULL */
};

/* In a statement that reads workspaces under that name: whether anybody asks for notifications of the workspace. */
#define WORKSPACE_IS_WATCHED(workspace)                                                                                \
	"exists (select 1 from notification_configurations nc where nc.enabled "                                       \
	"and (nc.workspace_id = " workspace ".id or nc.project_id = " workspace ".project_id))"

/* Adds it to the rows that notifications_put_up takes. */
void notification_event_add(json_t *rows, const struct notification_event *event);
/* Puts up what is asked for of these events, in a transaction; their tickets are added to the outbox. */
int notifications_put_up(struct store *store, const json_t *rows, struct outbox *outbox, struct err *err);
/* Puts up what is asked for of a workspace that is to be destroyed automatically at that time, in a transaction. Nobody
 * waits for it: it has no ticket. */
int notification_reminder_put_up(struct store *store, const char *workspace_id, const char *due_at, struct err *err);
/* Puts up a verification of an e-mail configuration. */
int notification_verification_put_up(struct store *store, const char *configuration_id, struct err *err);

/* Appends to `requests`, in a transaction. */
int notifications_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err);
/* Keeps what was answered, for people; what has come to its end goes. Others than notifications are passed over. */
int notifications_delivered(struct store *store, const json_t *deliveries, struct err *err);
/* Gives up what no notifier has sent in time. */
int notifications_give_up(struct store *store, struct err *err);

#endif
