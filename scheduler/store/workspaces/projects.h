/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_PROJECTS_H
#define SCHEDULER_STORE_WORKSPACES_PROJECTS_H

/*
 * An organization's projects. Each workspace is in one project, by default in the default project. Rows have the shape
 * `project`; `mode` is the effective execution mode: the project's, or else the organization's.
 */

#include "scheduler/store/store.h"

struct project {
	const char *name, *description;
	const char *pool_id;    /* the default agent pool, or NULL */
	const json_t *settings; /* members named as in the API; null deletes one */
};

struct project_list {
	const char *organization_id;
	const char *search; /* part of the name, or NULL */
	const char *names;  /* whole names separated by commas, or NULL */
	const char *sort;   /* "name", "-name" or NULL: by name, but the default project last */
	/* Required tag keys, each with its required value; "": any value. */
	struct db_array *tag_keys, *tag_values;
	long long limit, offset;
};
/* With `total`; a row with a null id if the page is empty. */
int projects_list(struct store *store, const struct project_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int project_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Reads the projects with these ids. The rows are available later (db_ask). */
int projects_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* Whether the organization has such a project. */
int project_belongs(
	struct store *store, const char *id, const char *organization_id, bool *ret_belongs, struct err *err);
/* The organization's default project. */
int project_default(struct store *store, const char *organization_id, struct id *ret_id, struct err *err);
/* The mode and the pool that the project's workspaces inherit. `id` may be NULL: the default project. No row
 * if the organization has no such project. */
int project_inherited_mode(
	struct store *store, const char *organization_id, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken". */
int project_create(struct store *store, const char *organization_id, const struct project *project, struct id *ret_id,
	struct err *err);
int project_update(struct store *store, const char *id, const struct project *project, struct err *err);
/* ERR_CONFLICT for the default project and for a project with workspaces. */
int project_delete(struct store *store, const char *id, struct err *err);

#endif
