/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/runs/runs.h"

/* GET runs/:run/plan and the other resources that a run is related to, by the name of the relation. */

static const struct related {
	const char *name;
	const struct resource_kind *kind;
	const char *column; /* of the run's row; NULL: the id is derived from the run's */
	const char *prefix;
} related[] = {
	{"plan", &kind_plans, NULL, "plan"},
	{"apply", &kind_applies, NULL, "apply"},
	{"configuration-version", &kind_configurations, "configuration_version_id", NULL},
	{"cost-estimate", &kind_cost_estimates, "cost_estimate_id", NULL},
	{"created-by", &kind_users, "created_by", NULL},
	{"input-state-version", &kind_states, "base_state_id", NULL},
};

static const struct related *related_of(const struct route *route)
{
	const char *name = strrchr(route->pattern, '/') + 1;

	for (size_t i = 0; i < ARRAY_LEN(related); i++)
		if (text_equal(related[i].name, name))
			return &related[i];
	return NULL;
}

static int related_read(
	struct request *req, const struct related *to, const struct rows *run, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct id sibling = {""};

	if (to->prefix)
		sibling = id_sibling(row_text(run, 0, "id"), to->prefix);
	db_array_add(&ids, to->column ? row_text(run, 0, to->column) : sibling.text);
	return kind_read(req->store, to->kind, &ids, ret_rows, err);
}

int runs_related(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, rows = ROWS_INIT;
	const struct related *to = related_of(req->route);
	json_auto_t *shown = json_array();

	if (includes_check(req, NULL, err) < 0 || run_in_path(req, &run, err) < 0 ||
		related_read(req, to, &run, &rows, err) < 0 || rows_show(req->store, to->kind, &rows, shown, err) < 0)
		return -1;
	if (!json_array_size(shown))
		return err_set(err, ERR_NOT_FOUND, "the run has no %s", to->name);
	return respond_resource(res, 200, json_incref(json_array_get(shown, 0)));
}
