/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_UNRECORDED_H
#define SCHEDULER_API_UNRECORDED_H

/* Unrecorded resources of a run (store/unrecorded.h) as people see them. */

#include "scheduler/api/api.h"

/* Appends an import block for each open resource that exists: created and changed ones. One without a known id gets a
 * comment in its place. */
int unrecorded_import_blocks(struct store *store, const struct rows *rows, struct buf *out, struct err *err);

#endif
