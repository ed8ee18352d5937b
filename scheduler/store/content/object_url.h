/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_OBJECT_URL_H
#define SCHEDULER_STORE_CONTENT_OBJECT_URL_H

/* Presigned URLs: each lets a client without the store's keys write one object (AWS Signature Version 4 in the query).
 * No I/O. */

#include "scheduler/store/content/objects.h"

enum { OBJECT_URL_SECONDS = 7 * 24 * 60 * 60 }; /* the longest time that Signature Version 4 allows */

/* Returns the URL of a PUT of that object, valid from `now` (Unix time) for OBJECT_URL_SECONDS. The caller frees it. */
char *object_put_url(const struct objects_settings *settings, const char *key, long long now);

#endif
