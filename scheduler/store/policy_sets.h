/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICY_SETS_H
#define SCHEDULER_STORE_POLICY_SETS_H

/*
 * Policy sets: policies of one kind, and where they apply: everywhere (global), in projects or in workspaces, less what
 * is excluded. A set has single policies or uploaded versions, never both; a project or workspace that is named for
 * both sides is where it was named last.
 *
 * Columns read: the table's, organization_name, and one of ids (JSON) for each relation: policies, workspaces,
 * workspace_exclusions, projects, project_exclusions.
 */

#include "scheduler/store/store.h"

enum set_relation {
	SET_POLICIES,
	SET_WORKSPACES,
	SET_WORKSPACE_EXCLUSIONS,
	SET_PROJECTS,
	SET_PROJECT_EXCLUSIONS,
	SET_RELATIONS
};

struct policy_set {
	const char *name, *description, *kind;
	bool global, overridable, agent_enabled;
	const char *tool_version, *policies_path; /* or NULL */
	const json_t *settings;                   /* members that change */
	const json_t *related[SET_RELATIONS];     /* of a new set: arrays of ids, or NULL */
};

struct policy_set_list {
	const char *organization_id;
	const char *search; /* part of the name, or NULL */
	const char *kind;   /* or NULL */
	long long limit, offset;
};
/* By name, and `total`; a row with a null id if the page is empty. */
int policy_sets_list(struct store *store, const struct policy_set_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int policy_set_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken", or as policy_set_attach. */
int policy_set_create(struct store *store, const char *organization_id, const struct policy_set *set, struct id *ret_id,
	struct err *err);
/* All but the kind and the relations. */
int policy_set_update(struct store *store, const char *id, const struct policy_set *set, struct err *err);
int policy_set_delete(struct store *store, const char *id, struct err *err);

/* ERR_INVALID at the pointer if one of the ids (an array) is not the organization's, is a policy of another kind, or is
 * a policy for a set that has versions. */
int policy_set_attach(struct store *store, const char *id, enum set_relation relation, const json_t *ids,
	const char *pointer, struct err *err);
/* What is not there is not minded. */
int policy_set_detach(
	struct store *store, const char *id, enum set_relation relation, const json_t *ids, struct err *err);

#endif
