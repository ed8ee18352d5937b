/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VARSETS_H
#define SCHEDULER_STORE_VARSETS_H

/*
 * Variable sets, and where they apply: in the whole organization (global), in projects or in workspaces. A set that a
 * project owns applies nowhere else. What they hold is in store/variables.h, which also says whose value wins.
 *
 * Columns read: the table's, organization_name, and ids (JSON) for each of workspaces, projects and vars.
 */

#include "scheduler/store/variables.h"

enum varset_relation { VARSET_WORKSPACES, VARSET_PROJECTS, VARSET_RELATIONS };

struct varset {
	const char *name, *description;
	const char *project_id; /* that owns it, or NULL: the organization. Of a new set only */
	bool global, priority;
	const json_t *related[VARSET_RELATIONS]; /* arrays of ids: all that it applies to; or NULL: as it is */
	const struct variable *variables;        /* to be added */
	size_t variable_count;
};

struct varset_list {
	const char *organization_id;
	const char *workspace_id; /* those that apply to it, or NULL */
	const char *project_id;   /* those that apply to it or that it owns, or NULL */
	const char *search;       /* part of the name, or NULL */
	long long limit, offset;
};
/* By name, and `total`; a row with a null id if the page is empty. */
int varsets_list(struct store *store, const struct varset_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int varset_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken", or as varset_attach and variable_create. */
int varset_create(
	struct store *store, const char *organization_id, const struct varset *set, struct id *ret_id, struct err *err);
int varset_update(struct store *store, const char *id, const struct varset *set, struct err *err);
int varset_delete(struct store *store, const char *id, struct err *err);
/* After a change of its variables, in the same transaction. ERR_INVALID if it is global and another global set of the
 * organization has a variable of the same name and category. */
int varset_touch(struct store *store, const char *id, struct err *err);

/* ERR_INVALID at the pointer if one of the ids (an array) is not where the set may apply. */
int varset_attach(struct store *store, const char *id, enum varset_relation relation, const json_t *ids,
	const char *pointer, struct err *err);
/* What is not there is not minded. */
int varset_detach(
	struct store *store, const char *id, enum varset_relation relation, const json_t *ids, struct err *err);

/* Lets the error of one variable among those of a new or changed set point there. Returns -1. */
int varset_variable_refused(struct err *err, size_t index);

#endif
