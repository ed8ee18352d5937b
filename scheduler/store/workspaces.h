/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_H
#define SCHEDULER_STORE_WORKSPACES_H

/*
 * Workspaces. One is locked while a user holds it (locked_by), a run is its current one (current_run_id), or it waits
 * for the last state of a lost apply (hold_job_id, store/holds.h).
 *
 * What clients set comes in as a JSON object with the attributes' names. Those with a column of their own: name,
 * description, auto-apply, execution-mode, terraform-version ("" is whichever there is), working-directory,
 * structured-run-output-enabled, agent-pool-id, project-id. All others stand in `settings`.
 */

#include "scheduler/store/store.h"

/* The table's columns and: organization_name, locker (username), locker_team (id, of a team whose token it is),
 * variable_ids and tag_names (JSON arrays), retention_id and retains_all (its data retention policy), admins_delete (by
 * force), hold_run_id, hold_worker and hold_until (of its hold), kept_states (how many were kept beside), destroy_after
 * and destroy_at (what the activity-duration that holds for it is, and comes to). What is counted and averaged is of
 * the last 30 runs that ended. ERR_NOT_FOUND. */
int workspace_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same by its name, and that of its organization. */
int workspace_read_named(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err);

/* The same for many ids, those that are there, by name; for later (db_ask). */
int workspaces_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

struct workspace_list {
	const char *organization_id;
	const char *project_ids;  /* separated by commas, or NULL */
	const char *name;         /* part of the name, or NULL */
	const char *wildcard;     /* the whole name with *, or NULL */
	const char *run_status;   /* of the current run, or NULL */
	const char *without_tags; /* keys separated by commas, or NULL */
	/* Keys that it must have, with the value beside each unless that is empty. */
	struct db_array *tag_keys, *tag_values;
	const char *sort; /* name, current-run.created-at, latest-change-at, with a hyphen before it for the reverse */
	long long limit, offset;
};
/* The same columns and `total`; a row with a null id if the page is empty. */
int workspaces_list(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err);

/* ERR_INVALID "Name has already been taken". */
int workspace_create(struct store *store, const char *organization_id, const json_t *fields, const json_t *settings,
	struct id *ret_id, struct err *err);
/* Changes the members that are there. */
int workspace_update(
	struct store *store, const char *id, const json_t *fields, const json_t *settings, struct err *err);
/* Takes the default of the project or else of the organization over into those of the organization's workspaces that
 * have no execution mode of their own. */
int workspaces_inherit_mode(struct store *store, const char *organization_id, struct err *err);

/* Plans underway are fenced off and stop. ERR_CONFLICT while an apply is, or its last state is waited for: what it
 * makes would belong to nobody. With `safe` also while it is locked or has resources. */
int workspace_delete(struct store *store, const char *id, bool safe, struct err *err);

/* Whether only owners may delete it by force: it manages resources, and the organization does not let others do that.
 */
int workspace_guarded(struct store *store, const char *id, bool *ret_guarded, struct err *err);

/* Puts them into the project. ERR_INVALID if one is not the organization's. */
int workspaces_move(
	struct store *store, const char *organization_id, const char *project_id, const json_t *ids, struct err *err);

/* ERR_CONFLICT if it is locked. */
int workspace_lock(struct store *store, const char *id, const char *user_id, const char *reason, struct err *err);
/* ERR_CONFLICT if it is not locked, or "is locked by Run", or by someone else and not `force`. A hold is no lock: with
 * `force` it is ended before (dispatch/holds.h). */
int workspace_unlock(struct store *store, const char *id, const char *user_id, bool force, struct err *err);

#endif
