/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_PARCEL_H
#define PROTO_PARCEL_H

/*
 * A batch of uploads of one job in one request (README.md in this folder). It begins with a line of JSON that has the
 * paths and sizes of the parts. The bytes of the parts follow one after another. The answer has a status for each part.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct err;

enum {
	PARCEL_PARTS_MOST = 16,
	PARCEL_HEAD_MOST = 16 * 1024,                     /* of the line of JSON */
	PARCEL_BYTES_MOST = 128 * 1024 - PARCEL_HEAD_MOST /* limit of a worker; a scheduler accepts more */
};

struct parcel_part {
	const char *path; /* path below the job's own URL: "log?offset=0" */
	const void *bytes;
	size_t len;
};

struct parcel {
	struct parcel_part parts[PARCEL_PARTS_MOST]; /* the bytes are borrowed from the text */
	size_t count;
	json_t *head; /* owns the paths */
};

/* Appends a batch of at most PARCEL_PARTS_MOST parts. */
void parcel_write(const struct parcel_part *parts, size_t count, struct buf *out);
/* Parses a batch; the result borrows from the text. ERR_MALFORMED. */
int parcel_read(const char *text, size_t len, struct parcel *ret_parcel, struct err *err);
void parcel_release(struct parcel *parcel);

struct parcel_answer {
	int status;
	struct buf body; /* JSON; empty: none. Owned */
};

void parcel_answers_write(const struct parcel_answer *answers, size_t count, struct buf *out);
/* Returns -1, with nothing to release, unless there are exactly `count` answers. */
int parcel_answers_read(const char *text, size_t len, struct parcel_answer *ret_answers, size_t count);
void parcel_answers_release(struct parcel_answer *answers, size_t count);

#endif
