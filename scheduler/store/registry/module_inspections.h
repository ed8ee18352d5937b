/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_MODULE_INSPECTIONS_H
#define SCHEDULER_STORE_REGISTRY_MODULE_INSPECTIONS_H

/*
 * Descriptions of module versions: inputs, outputs, README and so on (common/terraform/module_description.h). A worker
 * makes them of the archives in its sandbox, by git jobs of the kind `module` (store/vcs/git_jobs.h). The scheduler
 * parses no archive.
 *
 * A version can be used before its inspection has ended, and if that fails. The version's error is then the reason.
 */

#include "scheduler/store/store.h"

/* Has the content of a version inspected. Call it in the transaction that stores the content. */
int module_inspection_begin(struct store *store, const char *version_id, struct err *err);
/* The archive that an inspection reads. ERR_NOT_FOUND; ERR_UNAVAILABLE as blob_get. */
int module_inspection_content(struct store *store, const char *version_id, struct buf *out, struct err *err);
/* Stores what a worker has found. ERR_INVALID if it is no description, or too large. */
int module_inspection_store(struct store *store, const char *version_id, const json_t *description, struct err *err);
/* The content can't be inspected. */
int module_inspection_fail(struct store *store, const char *version_id, const char *sentence, struct err *err);
/* Makes the missing jobs, also for versions of earlier releases. For the VCS thread. */
int module_inspections_sweep(struct store *store, struct err *err);

/* The description of a version, a new reference: its inputs are at "root.inputs". ERR_NOT_FOUND while there is none;
 * ERR_UNAVAILABLE as blob_get. It is hostile: read its members by the functions of common/json/json.h. */
int module_inspection_read(struct store *store, const char *version_id, json_t **ret_description, struct err *err);

#endif
