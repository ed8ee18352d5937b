/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_MIRROR_DOWNLOADS_H
#define SCHEDULER_API_REGISTRY_MIRROR_DOWNLOADS_H

/* Limits the downloads from the mirror that are in progress: each has an open file, and none needs a token. */

#include "common/base.h"

struct err;
struct http_source;

enum { MAX_DOWNLOADS = 200, MAX_DOWNLOADS_OF_ADDRESS = 50 };

/* Counts the source until it is released. ERR_UNAVAILABLE: too many are in progress, and the source is released. */
int download_count(const char *address, struct http_source *source, struct err *err);

#endif
