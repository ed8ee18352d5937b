/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_PLAN_EXPORTS_H
#define SCHEDULER_STORE_RUNS_PLAN_EXPORTS_H

/* Exports of plans. An export's data is generated from the plan's JSON at download, for one hour. Its download needs
 * only the permission to read the export. */

#include "scheduler/store/store.h"

struct new_plan_export {
	const char *plan_id, *data_type, *user_id;
};
/* ERR_INVALID, pointing at the plan, while the plan's JSON does not exist. */
int plan_export_create(struct store *store, const struct new_plan_export *export, struct id *ret_id, struct err *err);
/* One plan_export_row. ERR_NOT_FOUND. */
int plan_export_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int plan_export_delete(struct store *store, const char *id, struct err *err);

#endif
