/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_RESCUE_H
#define PROTO_RESCUE_H

/*
 * The rescue object of an apply (README.md in this folder). A worker that can't reach a scheduler uploads the last
 * state and the result to the object store. The object is a line of JSON and the state's bytes, sealed
 * (common/crypto.h) with a key that only the scheduler and the attempt's worker know. The seal is bound to the job and
 * the attempt.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct err;

/* The attempt that an object belongs to. Borrowed. */
struct rescue_attempt {
	const char *key; /* 64 hexadecimal digits */
	const char *job, *run;
	int attempt;
};

struct rescue_content {
	json_t *head;       /* final, result, unrecorded; owned */
	struct bytes state; /* empty: none; borrowed from the opened bytes */
};

/* False if the text is not 64 hexadecimal digits. */
bool rescue_key_valid(const char *key);
/* Appends the object. `head` gets the members that name the attempt. -1 if it is too large. */
int rescue_seal(const struct rescue_attempt *of, json_t *head, struct bytes state, struct buf *out, struct err *err);
/* Opens an object into `plain` (empty). ERR_INVALID: it is no object of this attempt, with the reason. */
int rescue_open(const struct rescue_attempt *of, struct bytes sealed, struct buf *plain,
	struct rescue_content *ret_content, struct err *err);
void rescue_content_release(struct rescue_content *content);

#endif
