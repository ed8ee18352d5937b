/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATION_PAYLOAD_H
#define SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATION_PAYLOAD_H

/* The content of a notification, in the format of each kind of destination. */

#include "scheduler/lifecycle/triggers.h"
#include "scheduler/store/store.h"

struct notification_text {
	const char *public_url; /* the scheduler's */
	const char *configuration_id, *configuration_name;
	enum trigger trigger; /* TRIGGER_COUNT: a verification; the other members below are NULL then */
	const char *run_status, *updated_at, *updated_by;
	const char *run_id, *run_message, *run_created_at, *run_created_by;
	const char *workspace_id, *workspace, *organization;
	const char *due_at; /* of a reminder: when the workspace will be destroyed; it has no run */
	/* Of an assessment: the new result and the one before as JSON, the latter NULL if there is none. It has no run.
	 */
	const char *assessment, *prior_assessment;
	const char *note; /* the sentence of a notification about a workspace; it has no run */
	/* Of a new change request, which has no run. `updated_at` and `updated_by` are its time and its author. */
	const char *change_request_id, *change_request_subject, *change_request_message;
};

/* The exact text that is signed and sent: JSON for `generic`, `slack` and `microsoft-teams`, plain text for `email`.
 * The caller frees it. */
char *notification_body(const struct notification_text *text, const char *destination_type);
/* An e-mail's subject. The caller frees it. */
char *notification_subject(const struct notification_text *text);

#endif
