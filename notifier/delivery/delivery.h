/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_DELIVERY_H
#define NOTIFIER_DELIVERY_DELIVERY_H

/*
 * One claimed request, from the claim until the scheduler has answered its last report.
 *
 *   QUEUED ----> SENDING ----> ENDING ----> gone
 *     ^             |
 *     +-- WAITING <-+   (for its next try, or for the URL's circuit)
 */

#include "common/crypto.h"
#include "common/ids.h"
#include "common/json/json.h"
#include "common/loop/loop.h"
#include "notifier/delivery/kinds.h"
#include "notifier/delivery/outcome.h"
#include "notifier/table.h"

struct dispatch;
struct forwarding;
struct host;
struct route;
struct sending;

enum delivery_state { DELIVERY_QUEUED, DELIVERY_SENDING, DELIVERY_WAITING, DELIVERY_ENDING, DELIVERY_STATES };

struct delivery {
	struct table_entry entry; /* in dispatch's table, by id */
	const struct delivery_kind *kind;
	struct id id, run; /* `run`: "" if there is none */
	int attempt;
	enum delivery_state state;
	bool settled; /* the service has reported its result, or this notifier has lost the request: no more tries */
	char *body;
	size_t body_len;
	const char *method; /* of a call: static */
	char *url;          /* of a call; NULL: the route's */
	json_t *headers;    /* of a call: "Name: value", with its token; or NULL */
	json_t *mail;       /* {"to","subject"}, or NULL */
	char *pool;         /* the agent pool whose workers send the request; NULL: this notifier does */
	char *secret;       /* the access token in the body, which is redacted from answers; or NULL */
	char signature[SHA512_HEX_SIZE];
	int64_t give_up_ms; /* by clock_mono_ms */
	int failures;
	struct route *route;           /* the URL and its circuit */
	struct host *host;             /* the host of the URL */
	struct delivery *next;         /* in the host's queue */
	struct dispatch *dispatch;     /* while WAITING; borrowed */
	struct loop_timer timer;       /* while WAITING */
	struct sending *sending;       /* while SENDING */
	struct forwarding *forwarding; /* while SENDING by a worker */
};

/* Creates a delivery from an item of a claim's answer. NULL if a member is missing or invalid. */
struct delivery *delivery_new(const json_t *claimed, int64_t now_ms);
void delivery_free(struct delivery *delivery);

/* The URL that the request is sent to. Borrowed. */
const char *delivery_url(const struct delivery *delivery);

/* The item of `POST deliveries` for a try; `end` is "acknowledged", "gave-up" or NULL. The caller frees it. */
char *delivery_report(const struct delivery *delivery, const struct outcome *outcome, const char *end);
/* The X-TFC-Task-Signature of a request: the hex HMAC-SHA512 of the exact bytes of the body; "" without a key. */
void request_sign(const char *key, const char *body, size_t len, char ret_signature[SHA512_HEX_SIZE]);
/* {"id","attempt"}: for heartbeats and releases. A new reference. */
json_t *delivery_name(const struct delivery *delivery);

#endif
