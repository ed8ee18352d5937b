/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_PLAN_EXPORTS_H
#define SCHEDULER_STORE_PLAN_EXPORTS_H

/* Exports of plans: whoever may read one can download, for an hour, what is made of the plan's JSON then. */

#include "scheduler/store/store.h"

/* ERR_INVALID, pointing at the plan, as long as the plan's JSON is not here. */
int plan_export_create(struct store *store, const char *plan_id, const char *data_type, const char *user_id,
	struct id *ret_id, struct err *err);
/* The table's columns, plan_id, expired, organization_id, workspace_id, json_blob. ERR_NOT_FOUND. */
int plan_export_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int plan_export_delete(struct store *store, const char *id, struct err *err);

#endif
