/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_PLAN_EXPORTS_H
#define SCHEDULER_STORE_RUNS_PLAN_EXPORTS_H

/* Exports of plans. An export's data is generated from the plan's JSON at download, for one hour. Its download needs
 * only the permission to read the export. */

#include "scheduler/store/store.h"

/* ERR_INVALID, pointing at the plan, while the plan's JSON does not exist. */
int plan_export_create(struct store *store, const char *plan_id, const char *data_type, const char *user_id,
	struct id *ret_id, struct err *err);
/* The table's columns, plan_id, expired, organization_id, workspace_id, json_blob. ERR_NOT_FOUND. */
int plan_export_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int plan_export_delete(struct store *store, const char *id, struct err *err);

#endif
