/* SPDX-License-Identifier: MPL-2.0 */
#include <stddef.h>
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/runs/runs.h"

/* GET runs/:run/plan and the other resources that a run is related to, by the name of the relation. */

static const struct related {
	const char *name;
	const struct resource_kind *kind;
	const char *prefix; /* the id is derived from the run's; NULL: it is a column of the run's row */
	size_t column;
} related[] = {
	{"plan", &kind_plans, "plan", 0},
	{"apply", &kind_applies, "apply", 0},
	{"configuration-version", &kind_configurations, NULL, offsetof(struct run_view_row, configuration_version_id)},
	{"cost-estimate", &kind_cost_estimates, NULL, offsetof(struct run_view_row, cost_estimate_id)},
	{"created-by", &kind_users, NULL, offsetof(struct run_view_row, created_by)},
	{"input-state-version", &kind_states, NULL, offsetof(struct run_view_row, base_state_id)},
};

static const struct related *related_of(const struct route *route)
{
	const char *name = strrchr(route->pattern, '/') + 1;

	for (size_t i = 0; i < ARRAY_LEN(related); i++)
		if (text_equal(related[i].name, name))
			return &related[i];
	return NULL;
}

static int related_read(struct request *req, const struct related *to, const struct run_view_row *run,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	if (to->prefix)
		db_array_add(&ids, id_sibling(run->id, to->prefix).text);
	else
		db_array_add(&ids, *(const char *const *)((const char *)run + to->column));
	return kind_read(req->store, to->kind, &ids, ret_rows, err);
}

int runs_related(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, rows = ROWS_INIT;
	const struct related *to = related_of(req->route);
	json_auto_t *shown = json_array();

	if (includes_check(req, NULL, err) < 0 || run_in_path(req, &run, err) < 0 ||
		related_read(req, to, run_of(&run), &rows, err) < 0 ||
		rows_show(req->store, to->kind, &rows, shown, err) < 0)
		return -1;
	if (!json_array_size(shown))
		return err_set(err, ERR_NOT_FOUND, "the run has no %s", to->name);
	return respond_resource(res, 200, json_incref(json_array_get(shown, 0)));
}
