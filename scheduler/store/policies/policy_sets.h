/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICIES_POLICY_SETS_H
#define SCHEDULER_STORE_POLICIES_POLICY_SETS_H

/*
 * Policy sets: policies of one kind, and their scope. A set applies everywhere (global), or to projects, workspaces or
 * tags of workspaces, except those that are excluded. It has individual policies or uploaded versions, never both. If a
 * project or workspace is both included and excluded, the last call wins.
 *
 * Rows are policy_set_row. `repository`: store/vcs/repositories.h.
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
	const json_t *settings;                   /* the members to change */
	const json_t *related[SET_RELATIONS];     /* for a new set: arrays of ids, or NULL */
	const json_t *tags;                       /* selectors, which replace all others; NULL: no change */
};

struct policy_set_list {
	const char *organization_id;
	const char *search;    /* part of the name, or NULL */
	const char *kind;      /* or NULL */
	const char *versioned; /* "true", "false" or NULL */
	long long limit, offset;
};
/* Sorted by name, with `total`; a row with a null id if the page is empty. */
int policy_sets_list(struct store *store, const struct policy_set_list *list, struct rows *ret_rows, struct err *err);
/* Reads the sets with these ids. The rows are available later (db_ask). */
int policy_sets_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int policy_set_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken", or as policy_set_attach. */
int policy_set_create(struct store *store, const char *organization_id, const struct policy_set *set, struct id *ret_id,
	struct err *err);
/* Changes everything but the kind and the relations. */
int policy_set_update(struct store *store, const char *id, const struct policy_set *set, struct err *err);
int policy_set_delete(struct store *store, const char *id, struct err *err);

struct policy_set_members {
	enum set_relation relation;
	const json_t *ids; /* an array */
};
/* ERR_INVALID at the pointer if one of the ids is not in the set's organization or is a policy of another kind.
 * Likewise for policies if the set has versions. */
int policy_set_attach(
	struct store *store, const char *id, struct policy_set_members members, const char *pointer, struct err *err);
/* Ids that are not attached are ignored. */
int policy_set_detach(struct store *store, const char *id, struct policy_set_members members, struct err *err);

/* Selectors of tags: an array of {"tag-key", "tag-value", "is-exclude"}, each tag once. A tag without a value has the
 * value null. ERR_INVALID at the pointer for too many. */
int policy_set_tags_include(
	struct store *store, const char *id, const json_t *selectors, const char *pointer, struct err *err);
int policy_set_tags_drop(struct store *store, const char *id, const json_t *selectors, struct err *err);

#endif
