/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_RECORDS_H
#define WORKER_GIT_RECORDS_H

/*
 * The format of messages between the worker and runyard-git: records of a name and a value, each followed by a zero
 * byte. A name may occur several times. Values may have any other byte. Pure.
 */

#include "common/buf.h"

enum { ORDER_MAX = 160 * 1024 }; /* bytes of all records of a job */

/* -1 if the buffer's limit would be exceeded. A NULL value adds nothing. */
int record_add(struct buf *records, const char *name, const char *value);
/* The same for `len` bytes, which end at the first zero byte. */
int record_add_bytes(struct buf *records, const char *name, const char *bytes, size_t len);

struct record {
	const char *name, *value;
};
/* Reads the record at *at and moves *at behind it. False at the end, or if the rest is incomplete. */
bool record_next(struct bytes records, size_t *at, struct record *ret_record);
/* The first value of that name, or "". Borrowed. */
const char *record_value(struct bytes records, const char *name);

#endif
