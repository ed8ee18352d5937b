/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_WATCHED_OBJECTS_H
#define SCHEDULER_STORE_ACCESS_WATCHED_OBJECTS_H

#include "scheduler/store/store.h"

/* Finds the objects of event topics: `kinds` ("org", "workspace", "run", "log") and `names` (an organization's name, or
 * ids) have one item for each. Columns n (from 1), object_id, organization_id, workspace_id. An object that does not
 * exist has no row. The scope of the request does not matter: the caller checks the permission. */
int watched_objects_find(
	struct store *store, struct db_array *kinds, struct db_array *names, struct rows *ret_rows, struct err *err);

#endif
