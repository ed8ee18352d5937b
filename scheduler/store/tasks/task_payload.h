/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASKS_TASK_PAYLOAD_H
#define SCHEDULER_STORE_TASKS_TASK_PAYLOAD_H

/* The body of a run task's request: data of a row of task_results and of its run, as JSON. */

#include "scheduler/store/store.h"

struct task_call_row;

/* The context that a task's HMAC key is sealed with. */
#define TASK_KEY_CONTEXT "task-hmac-key"

struct task_address {
	const char *public_url;   /* base of the callback URL */
	const char *callback_url; /* of the callbacks */
	const char *token;
};

/* The exact JSON text that is signed and sent. The caller frees it. */
char *task_payload(const struct task_call_row *call, const struct task_address *address);

#endif
