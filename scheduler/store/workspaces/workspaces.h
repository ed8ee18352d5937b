/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_WORKSPACES_H
#define SCHEDULER_STORE_WORKSPACES_WORKSPACES_H

/*
 * Workspaces. A workspace is locked in three cases:
 *
 *  - a user holds its lock (locked_by);
 *  - a run is its current one (current_run_id);
 *  - it waits for the last state of a lost apply (hold_job_id, store/runs/holds.h).
 */

#include "scheduler/store/store.h"

/*
 * The shape `workspace_view`: the table's columns and:
 *  - organization_name, locker (username), locker_team (the id of the team whose token holds the lock);
 *  - variable_ids and tag_names (JSON arrays), retention_id and retains_all (its data retention policy);
 *  - admins_delete (whether workspace admins may force its deletion);
 *  - hold_run_id, hold_worker, hold_since and hold_deadline (of its hold), kept_states (the number of detached
 *    states);
 *  - repository (its VCS repository, store/vcs/repositories.h);
 *  - destroy_after (the effective auto-destroy activity duration) and destroy_at (the resulting time).
 *
 * Counts and averages cover the last 30 runs that ended. ERR_NOT_FOUND.
 */
int workspace_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same, by the names of the workspace and its organization. */
int workspace_read_named(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err);
/* The same two, available later (db_ask); no row if there is no such workspace. */
int workspace_read_ask(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int workspace_read_named_ask(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err);

/* The same for many ids, sorted by name; unknown ids are skipped. The rows are available later (db_ask). */
int workspaces_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

/* A quick read for checks: the shape `workspace_lookup`. No row if there is no such workspace. */
int workspace_lookup(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same; the row is available later (db_ask). */
int workspace_lookup_ask(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int workspace_lookup_named(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err);

struct workspace_list {
	const char *organization_id;
	const char *project_ids; /* separated by commas, or NULL */
	const char *name;        /* part of the name, or NULL */
	const char *wildcard;    /* the whole name, with * as wildcard, or NULL */
	const char *run_status;  /* statuses of the current run, or NULL */
	/* Outcomes of the current assessment, separated by commas: drifted, checks-failed, failed, healthy; or NULL. */
	const char *health;
	const char *without_tags; /* excluded keys, separated by commas, or NULL */
	/* Required tag keys, each with its required value; "": any value. */
	struct db_array *tag_keys, *tag_values;
	const char *sort; /* name, current-run.created-at, latest-change-at, with a leading hyphen to reverse */
	long long limit, offset;
};
/* The same columns and `total`; a row with a null id if the page is empty. */
int workspaces_list(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err);

/* The values that a client sets: objects with the API's attribute names. */
struct workspace_attributes {
	/* Those with columns of their own: name, description, auto-apply, execution-mode, terraform-version ("" selects
	 * any available version), working-directory, structured-run-output-enabled, agent-pool-id, project-id. */
	const json_t *fields;
	const json_t *settings; /* all others */
};
/* ERR_INVALID "Name has already been taken". */
int workspace_create(struct store *store, const char *organization_id, struct workspace_attributes attributes,
	struct id *ret_id, struct err *err);
/* Changes the members that are present. */
int workspace_update(struct store *store, const char *id, struct workspace_attributes attributes, struct err *err);
/* Applies the execution mode of the project, or else of the organization, to the organization's workspaces that inherit
 * it. */
int workspaces_inherit_mode(struct store *store, const char *organization_id, struct err *err);

/* Deletes a workspace. Running plans are fenced off and stop. ERR_CONFLICT while an apply runs or its last state is
 * pending, since its resources would belong to no workspace. With `safe` it is also ERR_CONFLICT while the workspace is
 * locked, has resources, or has had a pending state version for less than 10 minutes. */
int workspace_delete(struct store *store, const char *id, bool safe, struct err *err);

/* Whether only owners may force its deletion: it manages resources, and the organization does not allow others to do
 * that. */
int workspace_guarded(struct store *store, const char *id, bool *ret_guarded, struct err *err);

/* Moves workspaces to the project. ERR_INVALID if one is not in the organization. */
int workspaces_move(
	struct store *store, const char *organization_id, const char *project_id, const json_t *ids, struct err *err);

/* ERR_CONFLICT if it is locked. */
int workspace_lock(struct store *store, const char *id, const char *user_id, const char *reason, struct err *err);
/* ERR_CONFLICT if the workspace is not locked, if it "is locked by Run", or if another user holds the lock and `force`
 * is not set. ERR_INVALID without `force` while a state version of the lock's holder is pending. A hold is not a lock:
 * with `force` the caller ends it first (runs/holds.h). */
int workspace_unlock(struct store *store, const char *id, const char *user_id, bool force, struct err *err);

#endif
