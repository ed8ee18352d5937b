/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_H
#define SCHEDULER_API_WORKSPACES_H

#include "scheduler/api/api.h"

/* One row of store/workspaces.h as a resource. */
json_t *workspace_resource(const struct rows *rows, int row);
/* The same for an `included` list: without the relation back to `run_id`'s run, which clients would follow in circles
 * (API 4). A new reference; ERR_NOT_FOUND. */
int workspace_included(struct store *store, const char *workspace_id, json_t **ret_resource, struct err *err);

/* The same for rows of workspaces_read_all, added to the list unless they are there. */
void workspaces_include(const struct rows *rows, json_t *included);

/* What a create or update sets, checked. Both objects are new references, also after an error. */
struct workspace_input {
	json_t *fields;   /* with columns of their own (store/workspaces.h) */
	json_t *settings; /* all others */
};
int workspace_input_read(const struct request *req, const char *organization_id, bool creating,
	struct workspace_input *ret_input, struct err *err);
void workspace_input_release(struct workspace_input *input);
/* Adds the settings, as they are or by default. */
void workspace_settings_show(const json_t *settings, json_t *attributes);

#endif
