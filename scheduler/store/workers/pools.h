/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_POOLS_H
#define SCHEDULER_STORE_WORKERS_POOLS_H

/*
 * An organization's agent pools and their scopes. A pool is available to the whole organization, or to listed
 * workspaces and projects. An excluded workspace can never use it. One pool has no organization, the shared
 * one: it serves remote execution, and site admins alone see and change it.
 *
 * Columns read: the table's, run_limit, organization_name, agent_count (agents that have not left), and an array of ids
 * (JSON) for each relation: workspaces (that use the pool), allowed_workspaces, allowed_projects, excluded_workspaces.
 */

#include "scheduler/store/store.h"

enum pool_relation { POOL_ALLOWED_WORKSPACES, POOL_ALLOWED_PROJECTS, POOL_EXCLUDED_WORKSPACES, POOL_RELATIONS };

struct pool {
	const char *name;
	bool organization_scoped;
	long long run_limit;                   /* its quota (store/workers/quotas.h); 0: none; -1: unchanged */
	const json_t *related[POOL_RELATIONS]; /* arrays of ids that replace the current ones; NULL: unchanged */
};

struct pool_list {
	const char *organization_id;
	const char *search; /* part of the name, or NULL */
	const char *sort;   /* name, created-at, with a leading hyphen to reverse; NULL: name */
	/* Only pools that this workspace or project may use, by its id or name; or NULL. */
	const char *workspace_id, *workspace_name, *project_id, *project_name;
	long long limit, offset;
};
/* With `total`; a row with a null id if the page is empty. */
int pools_list(struct store *store, const struct pool_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int pool_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Reads the pools with these ids. The rows are available later (db_ask). */
int pools_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The shared pool, in a list: no row before bootstrap. */
int pools_shared(struct store *store, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken", or at the relation if an id is not in the organization. */
int pool_create(
	struct store *store, const char *organization_id, const struct pool *pool, struct id *ret_id, struct err *err);
int pool_update(struct store *store, const char *id, const struct pool *pool, struct err *err);
/* ERR_CONFLICT while a workspace, a default or a run that has not ended uses it. */
int pool_delete(struct store *store, const char *id, struct err *err);

/* A pool as operators name it, for commands: by its id, as ORGANIZATION/NAME, or the shared one as NAME. */
struct pool_name {
	struct id id, organization; /* organization: "" for the shared pool */
};
/* ERR_NOT_FOUND. */
int pool_find(struct store *store, const char *name, struct pool_name *ret_pool, struct err *err);

/* The intended use of a pool: in this workspace, or (NULL) in any workspace of the project. If project_id is NULL, it
 * is the workspace's project, or else the default one. */
struct pool_use {
	const char *organization_id, *project_id, *workspace_id;
	bool anywhere;  /* in the whole organization */
	bool any_scope; /* skips the check of the pool's scope, for a pool that no workspace chooses */
};
/* ERR_INVALID at the pointer if the pool is not in the organization, or may not be used there. Prevents deletion of the
 * pool until the transaction ends. */
int pool_use_check(
	struct store *store, const char *pool_id, const struct pool_use *use, const char *pointer, struct err *err);

#endif
