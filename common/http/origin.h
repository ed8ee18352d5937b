/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_ORIGIN_H
#define COMMON_HTTP_ORIGIN_H

/*
 * Distinguishes the answers of a scheduler from the answers of a proxy in front of it. All schedulers of one
 * installation send the installation's id in a header of every answer. A client learns the id from the first answer
 * that carries one, and accepts no other answer from then on. A scheduler of an earlier version sends no id: a client
 * accepts its answers until the first one with an id.
 *
 * Pure, but for one log line; the caller owns the structure, which is zero-initialized, and uses it from one thread.
 */

#include <stdbool.h>

#define ORIGIN_HEADER "Runyard-Installation"

enum { ORIGIN_ID_SIZE = 64 };

struct origin {
	char id[ORIGIN_ID_SIZE];     /* of the installation; empty: not known yet */
	bool sends_no_id;            /* an earlier version answered as only a scheduler does */
	unsigned long long accepted; /* number of answers that were accepted */
};

/* Whether an answer with this value of the header (NULL: without the header) comes from the scheduler. Learns the id
 * from the first answer that has one. */
bool origin_accepts(struct origin *origin, const char *id);
/* The same for a request whose caller checks that a scheduler made the answer. As long as nothing is known of the
 * scheduler, a success without an id is accepted. If the answer is right, the caller calls origin_recognize. */
bool origin_accepts_first(struct origin *origin, int status, const char *id);
/* Accepts answers without an id, unless the id is known. Logs this once. `url` is the scheduler's. */
void origin_recognize(struct origin *origin, const char *url);

#endif
