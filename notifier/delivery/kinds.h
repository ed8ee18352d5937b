/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_KINDS_H
#define NOTIFIER_DELIVERY_KINDS_H

/* The kinds of requests: run tasks' requests, notifications to a URL, calls of VCS providers, and notifications by
 * mail. A row of the table has all that differs between them. */

#include "common/json/json.h"

struct outcome;

/* What an answer means for the request: acknowledged, retry, or give up. */
enum fate { FATE_TAKEN, FATE_AGAIN, FATE_NEVER };

enum { KIND_TASK, KIND_HOOK, KIND_CALL, KIND_MAIL, KINDS };

struct delivery_kind {
	const char *name;      /* in metrics */
	const char *what;      /* in logs */
	const char *prefix;    /* of its ids */
	const char *signature; /* the header's name; NULL: not signed */
	const char *agent;     /* in its User-Agent */
	bool secret_path;      /* the path is a credential, as in the webhook URLs of chat services */
	bool shows_headers;    /* the answer's headers are reported to the scheduler */
	/* The scheduler made the whole request, and reads the whole answer: there is one try, whose answer is
	 * reported with its headers, and the circuit is the host's. */
	bool one_call;
	bool has_deadline; /* an acknowledged request must be followed by a callback before its deadline */
	enum fate (*judge)(const struct outcome *outcome);
	bool (*in_trouble)(int status); /* whether the server fails whatever it is sent: opens the circuit */
};

extern const struct delivery_kind delivery_kinds[KINDS];

/* The kind of a claimed request, by the prefix of its id; NULL if it is unknown. */
const struct delivery_kind *delivery_kind_of(const json_t *claimed);

#endif
