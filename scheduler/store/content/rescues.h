/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_RESCUES_H
#define SCHEDULER_STORE_CONTENT_RESCUES_H

/*
 * Rescue objects: where the worker of an apply that can't reach a scheduler uploads the last state and the result
 * (proto/rescue.h). The claim of an apply makes the address and the key of a random object, and the row with both. So
 * no object is without a row.
 *
 *  - Objects are looked for only while their attempt holds its workspace, less and less often (background/rescues.c).
 *  - An object whose attempt has ended without a hold is deleted a while later, when no upload can be under way.
 *  - Each object is deleted when its URL has expired.
 *
 * Functions with `objects` call the object store, and hold no transaction meanwhile.
 */

#include "scheduler/store/content/rescues.sql.h"
#include "scheduler/store/store.h"

struct objects;

/* The right to write the object, for the attempt's worker. */
struct rescue_grant {
	char *object; /* its key in the object store */
	char *key;    /* that encrypts it: 64 hexadecimal digits */
};

struct rescue_grant rescue_grant_new(void);
void rescue_grant_release(struct rescue_grant *grant);
/* Stores the grants of claimed applies: an array of {"job", "object", "sealed"} (rescue_grant_json). Within the claim's
 * transaction. */
json_t *rescue_grant_json(struct store *store, const struct rescue_grant *grant, const char *job);
int rescues_insert(struct store *store, const json_t *grants, struct err *err);

/* At most `max` objects of held workspaces that are due. Sets when each is looked for again. */
int rescues_due(struct store *store, int max, struct rows *ret_rows, struct err *err);
/* Opens the object's key. */
int rescue_key(struct store *store, const struct rescues_due_row *row, struct buf *ret_key, struct err *err);
/* Records the first bytes of the object that was read, in hex. */
int rescue_saw(struct store *store, const char *object_key, const char *seen, struct err *err);

/* Deletes a batch of objects that are due; there may be more if *ret_count is MAX_RESCUES_DELETED. */
enum { MAX_RESCUES_DELETED = 50 };
int rescues_delete(struct store *store, struct objects *objects, long long *ret_count, struct err *err);

#endif
