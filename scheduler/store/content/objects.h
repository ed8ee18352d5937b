/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_OBJECTS_H
#define SCHEDULER_STORE_CONTENT_OBJECTS_H

/*
 * A client of an object store with Amazon S3's protocol: PUT, GET and DELETE of objects below one URL. Requests are
 * signed with AWS Signature Version 4 (libcurl's CURLOPT_AWS_SIGV4), including the body's SHA-256.
 *
 * Calls block on the network: make them outside of transactions, in threads that serve no requests. Each call has
 * bounded retries. After a failure, all calls return ERR_UNAVAILABLE at once for a short pause. Safe from any thread.
 * Errors contain no key, signature or content.
 */

#include "common/buf.h"

struct err;
struct objects;

struct objects_settings {
	const char *url; /* http(s)://host[:port]/bucket[/prefix], or bucket.host; "": no object store */
	const char *region, *access_key, *secret_key;
	long long from_bytes;    /* smaller content stays in PostgreSQL */
	long long after_seconds; /* minimum age of content that is moved */
};

enum { OBJECT_KEY_SIZE = 48 };

/* *ret_objects is NULL if no object store is configured. ERR_INVALID for incomplete settings. Borrows their strings. */
int objects_open(const struct objects_settings *settings, struct objects **ret_objects, struct err *err);
void objects_close(struct objects *objects);
const struct objects_settings *objects_settings(const struct objects *objects);
/* Whether the last call got a valid answer. */
bool objects_up(struct objects *objects);
/* Whether calls are paused after a failure. */
bool objects_resting(struct objects *objects);

/* A part of an object; len 0: the whole object. */
struct object_part {
	char key[OBJECT_KEY_SIZE];
	long long from, len;
};

int object_put(struct objects *objects, const char *key, const void *bytes, size_t len, struct err *err);
/* Appends the bytes. ERR_NOT_FOUND if there is no such object. A part beyond the object's end is truncated. */
int object_get(struct objects *objects, const struct object_part *part, struct buf *out, struct err *err);
/* Succeeds if the object does not exist. */
int object_delete(struct objects *objects, const char *key, struct err *err);

#endif
