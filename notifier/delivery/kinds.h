/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_KINDS_H
#define NOTIFIER_DELIVERY_KINDS_H

/* What is sent: run tasks' requests, notifications to an address, and notifications by mail. One row says how they
 * differ; everything else is the same for all of them. */

#include "common/json/json.h"

struct outcome;

/* What an answer means for the request. */
enum fate { FATE_TAKEN, FATE_AGAIN, FATE_NEVER };

enum { KIND_TASK, KIND_HOOK, KIND_MAIL, KINDS };

struct delivery_kind {
	const char *name;      /* in metrics */
	const char *what;      /* in logs */
	const char *prefix;    /* of its ids */
	const char *signature; /* the header's name; NULL: not signed */
	const char *agent;     /* in its User-Agent */
	bool secret_path;      /* who knows the URL's path may write there, as with chats' webhooks */
	bool shows_headers;    /* the scheduler wants to know the answer's headers */
	bool has_deadline;     /* what was taken has to be reported by then */
	enum fate (*judge)(const struct outcome *outcome);
	bool (*in_trouble)(int status); /* the server is, whatever it was asked: what opens a circuit */
};

extern const struct delivery_kind delivery_kinds[KINDS];

/* The kind of a claimed request; NULL if its id is of none. */
const struct delivery_kind *delivery_kind_of(const json_t *claimed);

#endif
