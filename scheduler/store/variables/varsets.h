/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VARIABLES_VARSETS_H
#define SCHEDULER_STORE_VARIABLES_VARSETS_H

/*
 * Variable sets and their scopes. A set applies to the whole organization (global), to projects or to workspaces. A set
 * that is owned by a project applies only within that project. store/variables/variables.h has their variables and the
 * precedence.
 *
 * Columns read: the table's, organization_name, and ids (JSON) for each of workspaces, projects and vars.
 */

#include "scheduler/store/variables/variables.h"

enum varset_relation { VARSET_WORKSPACES, VARSET_PROJECTS, VARSET_RELATIONS };

struct varset {
	const char *name, *description;
	const char *project_id; /* the owning project, or NULL: the organization; only for creation */
	bool global, priority;
	const json_t *related[VARSET_RELATIONS]; /* arrays of ids that replace the current scope; or NULL: unchanged */
	const struct variable *variables;        /* variables to add */
	size_t variable_count;
};

struct varset_list {
	const char *organization_id;
	const char *workspace_id; /* sets that apply to this workspace, or NULL */
	const char *project_id;   /* sets that apply to this project or that it owns, or NULL */
	const char *search;       /* part of the name, or NULL */
	const char *global;       /* "true", "false" or NULL */
	long long limit, offset;
};
/* Sorted by name, with `total`; a row with a null id if the page is empty. */
int varsets_list(struct store *store, const struct varset_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int varset_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken", or as varset_attach and variable_create. */
int varset_create(
	struct store *store, const char *organization_id, const struct varset *set, struct id *ret_id, struct err *err);
int varset_update(struct store *store, const char *id, const struct varset *set, struct err *err);
int varset_delete(struct store *store, const char *id, struct err *err);

struct varset_members {
	enum varset_relation relation;
	const json_t *ids; /* an array */
};
/* ERR_INVALID at the pointer if one of the ids is outside of the set's organization or owning project. */
int varset_attach(
	struct store *store, const char *id, struct varset_members members, const char *pointer, struct err *err);
/* Ids that are not attached are ignored. */
int varset_detach(struct store *store, const char *id, struct varset_members members, struct err *err);

/* Makes the error pointer refer to one of the variables of a new or changed set. Returns -1. */
int varset_variable_refused(struct err *err, size_t index);

#endif
