/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_H
#define SCHEDULER_API_WORKSPACES_H

#include "scheduler/api/scope.h"

/* One row of store/workspaces.h as a resource. */
json_t *workspace_resource(const struct rows *rows, int row);
/* The same for rows of workspaces_read_all, without the relations back to runs, which clients would follow in
 * circles; added to the list unless they are there. */
void workspaces_include(const struct rows *rows, json_t *included);

/* Answers with the workspace, and what the request's `include` asks for. */
int workspace_show(struct request *req, struct response *res, int status, const char *id, struct err *err);

/* What a create or update sets, checked. All are new references, also after an error. */
struct workspace_input {
	json_t *fields;              /* with columns of their own (store/workspaces.h) */
	json_t *settings;            /* all others */
	json_t *tag_ids, *tag_names; /* tags to be added; NULL: none */
	json_t *bindings;            /* all tag bindings from now on; NULL: as they are */
};
/* A create has a scope without a workspace. */
int workspace_input_read(
	const struct request *req, const struct scope *scope, struct workspace_input *ret_input, struct err *err);
void workspace_input_release(struct workspace_input *input);
/* For the attribute "terraform-version". ERR_INVALID if the text names no version of an engine, no constraint and not
 * "latest", or if a site admin has disabled the version. */
int engine_version_check(const struct request *req, const char *version, struct err *err);
/* Adds the settings, as they are or by default. */
void workspace_settings_show(const json_t *settings, json_t *attributes);

#endif
