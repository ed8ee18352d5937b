/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_UNRECORDED_H
#define SCHEDULER_API_RUNS_UNRECORDED_H

/* The unrecorded resources of a run (store/runs/unrecorded.h) in the API. */

#include "scheduler/api/api.h"

/* Appends an import block for each open resource that exists: those that were created or changed. A resource without a
 * known id gets a comment instead. */
int unrecorded_import_blocks(struct store *store, const struct rows *rows, struct buf *out, struct err *err);

#endif
