/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_KINDS_H
#define SCHEDULER_API_KINDS_H

/* Kinds of resources: how to read them by ids in one query, how to show a row, and what else a request for them may
 * include. Each kind is defined next to its handlers. Kinds refer to each other, so those of several files are declared
 * here. */

#include "scheduler/api/api.h"

struct inclusion {
	const char *name;                 /* in `include`; "run.created_by" includes "run" too */
	const char *from;                 /* the type of the resources that have the relation */
	const char *relation;             /* to one or to many */
	const struct resource_kind *kind; /* NULL: the name is accepted, and this table includes nothing for it */
};

struct resource_kind {
	const char *type;
	/* Sends the query (db_ask). NULL for kinds that no other resource includes. */
	int (*ask)(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
	/* Shows a row: a struct of the shape that `ask` gives. A new reference. */
	json_t *(*show)(const void *row);
	/* The same, for a kind that needs the store or may fail; `show` is NULL then. */
	int (*make)(struct store *store, const void *row, json_t **ret_resource, struct err *err);
	/* The relations that a request for these resources may include (api/include_resolver.h). A relation of an
	 * included resource must follow the row that includes that resource. */
	const struct inclusion *includes;
	size_t includes_count;
	/* Replaces includes_follow for a kind whose table can't express everything. `resources` is an array. */
	int (*include)(const struct request *req, json_t *resources, json_t **ret_included, struct err *err);
	bool no_page; /* An empty list has the total of 0 pages. Those of other kinds have 1. */
};

/* The members of a kind whose resources may include others. */
#define KIND_INCLUDES(table) .includes = (table), .includes_count = ARRAY_LEN(table)

extern const struct resource_kind kind_users, kind_runs, kind_plans, kind_applies, kind_workspaces, kind_configurations,
	kind_states, kind_outputs, kind_task_stages, kind_cost_estimates, kind_comments, kind_teams, kind_memberships,
	kind_projects, kind_variables, kind_policies, kind_policy_sets, kind_policy_set_versions, kind_organizations,
	kind_run_events, kind_task_results, kind_policy_evaluations, kind_policy_checks, kind_run_waits,
	kind_ingress_attributes, kind_oauth_clients, kind_oauth_tokens, kind_pools, kind_assessment_results;
/* kind_workspaces for a request of one workspace, which may include more. */
extern const struct resource_kind kind_single_workspace;

/* Sends the query and waits for the result. */
int kind_read(struct store *store, const struct resource_kind *kind, struct db_array *ids, struct rows *ret_rows,
	struct err *err);
/* Appends a resource for each row. */
int rows_show(
	struct store *store, const struct resource_kind *kind, const struct rows *rows, json_t *list, struct err *err);

#endif
