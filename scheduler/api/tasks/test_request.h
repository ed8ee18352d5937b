/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TASKS_TEST_REQUEST_H
#define SCHEDULER_API_TASKS_TEST_REQUEST_H

/*
 * Sends a test request to an address that a client chose, and waits for the answer. The guard checks the address. The
 * request takes at most 10 s and the answer is bounded. For handlers of JSON_BLOCKING routes.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct err;
struct guard;

struct test_request {
	const char *url;
	const char *body;            /* JSON */
	const char *signature;       /* name of the header */
	const char *signature_value; /* "": the header is sent without a value */
	const char *user_agent;
};

struct test_request_answer {
	int status;    /* 0: no answer; `why` has the reason */
	char why[512]; /* readable: the error, or the status */
	/* Both are empty if the guard allows the address only by its allow-list. */
	struct buf body; /* the first ANSWER_COLLECTED bytes (common/http/answer.h), unchanged */
	json_t *headers; /* {"name": ["value"]} */
};

void test_request_answer_release(struct test_request_answer *answer);
/* Fills *ret_answer in any case. */
void test_request_send(
	const struct guard *guard, const struct test_request *test_request, struct test_request_answer *ret_answer);

/* 0 if clients may use such a URL, else ERR_INVALID at /data/attributes/url. The guard checks the resolved address when
 * the request is sent. */
int test_request_url_check(const char *url, struct err *err);

#endif
