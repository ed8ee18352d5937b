/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_PARCEL_H
#define PROTO_PARCEL_H

/*
 * Several uploads of one job in one request (README.md in this folder): a line of JSON that says what the parts are and
 * how many bytes each has, and these bytes one after another. The answer has a status for each part.
 */

#include "common/buf.h"
#include "common/json.h"

struct err;

enum {
	PARCEL_PARTS_MOST = 16,
	PARCEL_HEAD_MOST = 16 * 1024,                     /* its line */
	PARCEL_BYTES_MOST = 128 * 1024 - PARCEL_HEAD_MOST /* what a worker puts into one; a scheduler takes more */
};

struct parcel_part {
	const char *path; /* what it is, as below the job's own address: "log?offset=0" */
	const void *bytes;
	size_t len;
};

struct parcel {
	struct parcel_part parts[PARCEL_PARTS_MOST]; /* their bytes are borrowed from the text */
	size_t count;
	json_t *head; /* has their paths; owned */
};

/* At most PARCEL_PARTS_MOST. */
void parcel_write(const struct parcel_part *parts, size_t count, struct buf *out);
/* ERR_MALFORMED. */
int parcel_read(const char *text, size_t len, struct parcel *ret_parcel, struct err *err);
void parcel_release(struct parcel *parcel);

struct parcel_answer {
	int status;
	struct buf body; /* JSON; empty: none. Owned */
};

void parcel_answers_write(const struct parcel_answer *answers, size_t count, struct buf *out);
/* -1 if there are not just as many, with nothing to be released. */
int parcel_answers_read(const char *text, size_t len, struct parcel_answer *ret_answers, size_t count);
void parcel_answers_release(struct parcel_answer *answers, size_t count);

#endif
