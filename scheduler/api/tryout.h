/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TRYOUT_H
#define SCHEDULER_API_TRYOUT_H

/*
 * A request to an address that a client chose, sent while the client waits for what comes of it: under guard, for 10 s
 * at the most, its answer bounded. For handlers of JSON_ASIDE routes.
 */

#include "common/buf.h"
#include "common/json.h"

struct err;
struct guard;

struct tryout {
	const char *url;
	const char *body;            /* JSON */
	const char *signature;       /* the header's name */
	const char *signature_value; /* "": the header is sent without a value */
	const char *user_agent;
};

struct tryout_answer {
	int status;    /* 0: nothing came; `why` says so */
	char why[512]; /* for people: what went wrong, or which status it was */
	/* Both are empty if the allow-list of the guard names the address. */
	struct buf body; /* its first ANSWER_COLLECTED bytes (common/answer.h), as they came */
	json_t *headers; /* {"name": ["value"]} */
};

void tryout_answer_release(struct tryout_answer *answer);
/* Fills *ret_answer, whatever comes of it. */
void tryout_send(const struct guard *guard, const struct tryout *tryout, struct tryout_answer *ret_answer);

/* 0 if such a URL may be asked for by clients (what it leads to is the guard's to say); else ERR_INVALID at
 * /data/attributes/url. */
int tryout_url_check(const char *url, struct err *err);

#endif
