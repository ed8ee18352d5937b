/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TASKS_TASK_VERIFY_H
#define SCHEDULER_API_TASKS_TASK_VERIFY_H

#include "scheduler/store/store.h"

struct task;

/* The token in requests that belong to no run. No endpoint accepts it. */
#define TASK_TEST_TOKEN "test-token"

struct task_request {
	char *body; /* the exact bytes that are signed and sent; the caller frees it */
	char signature[SHA512_HEX_SIZE];
	char *user_agent; /* the caller frees it */
};

void task_request_release(struct task_request *request);
/* Signs the body, which it takes, with the key ("": no signature). */
void task_request_sign(const struct store *store, char *body, const char *key, struct task_request *ret_request);
/* The request that tests a task: stage "test", with ids and addresses of no real object, none of them null. */
void task_request_test(
	const struct store *store, const char *organization, const char *key, struct task_request *ret_request);

/* Sends the test request to the task's URL and waits for the answer, for at most 10 s, or 20 s if a worker of its pool
 * sends the request. Returns -1 with ERR_INVALID at /data/attributes/url, and the reason, unless the answer is 200.
 * While no worker of the pool forwards requests, the task is accepted without a test. */
int task_verify(
	const struct store *store, const char *organization, const struct task *task, const char *key, struct err *err);

#endif
