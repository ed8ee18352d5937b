/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_OUTCOME_H
#define NOTIFIER_DELIVERY_OUTCOME_H

#include "common/json/json.h"

/* The result of one try. Texts are borrowed. */
struct outcome {
	int status; /* 0: no answer */
	double seconds;
	const char
		*answer;   /* filtered by answer_clean; NULL if it is empty or came from an address of the allow-list */
	const char *error; /* what went wrong, for users; or NULL */
	const json_t *headers; /* of the answer, if its kind reports them and the address is not from the allow-list
				  (of a call, in any case); or NULL */
	const json_t *body;    /* a call's answer as a text; NULL: it is empty, or no UTF-8 */
	bool internal;         /* only the allow-list permits the address */
	int retry_after;       /* seconds, or 0 */
	bool forbidden;        /* the request is not permitted, so it is not retried */
	bool unserved;         /* no worker of the request's pool could send it: the service is not to blame */
};

#endif
