/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_KINDS_H
#define SCHEDULER_API_KINDS_H

/* Kinds of resources that other resources refer to: how to read them by ids in one query, and how to show a row. */

#include "scheduler/api/api.h"

struct resource_kind {
	const char *type;
	/* Sends the query (db_ask). NULL for kinds that no other resource includes. */
	int (*ask)(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
	/* A new reference. */
	int (*make)(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err);
};

/* Defines a `make` for a kind that needs only its row. */
#define KIND_MAKE(name, resource)                                                                                      \
	static int name(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err) \
	{                                                                                                              \
		(void)store;                                                                                           \
		(void)err;                                                                                             \
		*ret_resource = resource(rows, row);                                                                   \
		return 0;                                                                                              \
	}

extern const struct resource_kind kind_users, kind_runs, kind_plans, kind_applies, kind_workspaces, kind_configurations,
	kind_states, kind_outputs, kind_task_stages, kind_cost_estimates, kind_comments, kind_teams, kind_memberships,
	kind_projects, kind_variables, kind_policies, kind_policy_set_versions, kind_organizations, kind_pools,
	kind_agents;

/* Sends the query and waits for the result. */
int kind_read(struct store *store, const struct resource_kind *kind, struct db_array *ids, struct rows *ret_rows,
	struct err *err);
/* Appends a resource for each row. */
int rows_show(
	struct store *store, const struct resource_kind *kind, const struct rows *rows, json_t *list, struct err *err);

#endif
