/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_WORKSPACES_H
#define SCHEDULER_API_WORKSPACES_WORKSPACES_H

#include "scheduler/api/vcs/vcs_repo.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

/* A workspace as a resource. */
json_t *workspace_resource(const struct store *store, const struct workspace_view_row *workspace);
/* The same, as a kind needs it (api/kinds.h). */
int workspace_make(struct store *store, const void *of_row, json_t **ret_resource, struct err *err);
/* Appends the resources for rows of workspaces_read_all to the list, unless they are in it already. They lack the
 * relations back to runs, which clients would follow in circles. */
void workspaces_include(const struct store *store, const struct rows *rows, json_t *included);

/* Answers with the workspace and the resources that the request includes. */
int workspace_show(struct request *req, struct response *res, int status, const char *id, struct err *err);

/* The checked body of a create or update. All members are new references, also after an error. */
struct workspace_input {
	json_t *fields;                   /* attributes with their own columns (store/workspaces/workspaces.h) */
	json_t *settings;                 /* all other attributes */
	json_t *tag_ids, *tag_names;      /* tags to be added; NULL: none */
	json_t *bindings;                 /* replaces all tag bindings; NULL: unchanged */
	struct vcs_repo_input repository; /* borrows from the body */
};
/* For a create, the scope has no workspace. */
int workspace_input_read(
	const struct request *req, const struct scope *scope, struct workspace_input *ret_input, struct err *err);
void workspace_input_release(struct workspace_input *input);
/* Whether the requester may create workspaces in the project of the fields, or else in the default project.
 * ERR_NOT_FOUND.
 */
int workspace_may_create(const struct request *req, const struct scope *scope, const json_t *fields, struct err *err);
/* Checks the attribute "terraform-version". ERR_INVALID if the text is no version of an engine, no constraint and not
 * "latest", or if a site admin has disabled the version. */
int engine_version_check(const struct request *req, const char *version, struct err *err);
/* Adds the settings with their values or defaults. */
void workspace_settings_show(const json_t *settings, json_t *attributes);

#endif
