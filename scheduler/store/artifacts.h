/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ARTIFACTS_H
#define SCHEDULER_STORE_ARTIFACTS_H

/* What a plan leaves for the apply and for its readers, each a sealed blob named by the plan's row. */

#include "scheduler/store/store.h"

enum artifact { ARTIFACT_PLAN, ARTIFACT_PLAN_JSON, ARTIFACT_INIT, ARTIFACT_SCHEMAS };

/* Keeps the content as the plan's; the same content again is harmless. */
int artifact_put(struct store *store, enum artifact artifact, const char *plan_id, const void *bytes, size_t len,
	struct err *err);
/* Names schemas that are here already, by the SHA-256 of their content. ERR_NOT_FOUND if they are not. */
int artifact_link_schemas(struct store *store, const char *plan_id, const char *sha256_hex, struct err *err);
/* One row: configuration_blob, state_blob (the workspace's current state), plan_blob, json_blob, init_blob,
 * schemas_blob. */
int artifacts_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);

#endif
