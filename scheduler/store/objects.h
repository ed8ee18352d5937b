/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_OBJECTS_H
#define SCHEDULER_STORE_OBJECTS_H

/*
 * An object store that speaks Amazon S3's protocol: PUT, GET and DELETE of objects below one address, signed with
 * AWS Signature Version 4 (libcurl's CURLOPT_AWS_SIGV4; the body's SHA-256 is signed with the rest).
 *
 * The calls wait for the network, so they are for threads that nobody waits for, outside of any transaction. Each is
 * tried a few times within bounds. A store that has just failed is left alone for a moment: until then every call is
 * ERR_UNAVAILABLE at once. Safe from any thread. No key, signature or content stands in an error.
 */

#include "common/buf.h"

struct err;
struct objects;

struct objects_settings {
	const char *url; /* http(s)://host[:port]/bucket[/prefix], or bucket.host; "": there is none */
	const char *region, *access_key, *secret_key;
	long long from_bytes;    /* content below that stays in PostgreSQL */
	long long after_seconds; /* how long content rests there before it is moved */
};

enum { OBJECT_KEY_SIZE = 48 };

/* *ret_objects is NULL if there is none. ERR_INVALID for settings that lack something. Borrows their texts. */
int objects_open(const struct objects_settings *settings, struct objects **ret_objects, struct err *err);
void objects_close(struct objects *objects);
const struct objects_settings *objects_settings(const struct objects *objects);
/* Whether the last call was answered as it should be. */
bool objects_up(struct objects *objects);
/* Whether it has just failed, and is left alone. */
bool objects_resting(struct objects *objects);

/* A part of an object: len 0 is all of it. */
struct object_part {
	char key[OBJECT_KEY_SIZE];
	long long from, len;
};

int object_put(struct objects *objects, const char *key, const void *bytes, size_t len, struct err *err);
/* Appends the bytes. ERR_NOT_FOUND if there is no such object; a part that reaches beyond its end is shorter. */
int object_get(struct objects *objects, const struct object_part *part, struct buf *out, struct err *err);
/* One that is not there is as good as deleted. */
int object_delete(struct objects *objects, const char *key, struct err *err);

#endif
