/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INTERNAL_UPLOADS_H
#define SCHEDULER_API_INTERNAL_UPLOADS_H

/* Uploads of a worker while its job runs (proto/README.md), one or several in a request. The handlers parse them. The
 * batch stores those of several requests in one transaction. */

#include "scheduler/http/batch.h"
#include "scheduler/store/runs/uploads.h"

/* The uploads of one request. */
struct uploads_item {
	struct batch_item item; /* must be the first member */
	struct upload_list list;
};

static inline struct uploads_item *uploads_of(struct batch_item *item)
{
	return (struct uploads_item *)(void *)item;
}

extern const struct batch batch_uploads;

#endif
