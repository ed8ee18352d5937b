/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/run_views.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/runs/run_views.sql.h"

enum { SNAPSHOT_LIMIT = 64 << 20 };

int run_view_ask(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	const char *user = response_scope_user(store->scope);

	if (!user)
		return db_ask(store->db, ret_rows, err, run_view_for_all_rights, .run_id = run_id);
	return db_ask(store->db, ret_rows, err, run_view, .run_id = run_id, .user = user);
}

int run_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	const char *user = response_scope_user(store->scope);
	int result = user ? db_query(store->db, ret_rows, err, run_view, .run_id = run_id, .user = user)
			  : db_query(store->db, ret_rows, err, run_view_for_all_rights, .run_id = run_id);

	if (result < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

int run_views_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, run_views_of, .ids = ids, .user = response_scope_user(store->scope));
}

int run_belongs(struct store *store, const char *run_id, const char *workspace_id, bool *ret_belongs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, run_belongs, .run_id = run_id, .workspace_id = workspace_id) < 0)
		return -1;
	*ret_belongs = rows.count > 0;
	return 0;
}

struct run run_of_words(const char *status, const char *stage, const struct run *rest)
{
	int status_read = run_status_parse(status), stage_read = stage_parse(stage);
	struct run run = *rest;

	run.status = status_read < 0 ? RUN_ERRORED : (enum run_status)status_read;
	run.stage = stage_read < 0 ? STAGE_NONE : (enum stage)stage_read;
	return run;
}

int query_runs_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, query_runs_list, .workspace_id = workspace_id,
		.user = response_scope_user(store->scope), .limit = range.limit, .offset = range.offset);
}

/* Whether the filter excludes ended runs. */
static bool filter_is_live(const struct run_filter *filter)
{
	return filter->queue || text_equal(filter->status_group, "non_final") ||
		text_equal(filter->status_group, "discardable") || run_statuses_are_live(filter->status);
}

static bool filter_is_by_inputs(const struct run_filter *filter)
{
	return filter->operation || filter->source || filter->search || filter->pool_names || filter->user;
}

/* The condition that an index serves; [1]: for filters that refer to run_inputs. */
static const struct {
	const struct db_statement *page[2], *count[2];
} places[] = {
	{{&runs_page_queue_statement, &runs_page_queue_by_inputs_statement},
		{&runs_count_live_statement, &runs_count_live_by_inputs_statement}},
	{{&runs_page_workspace_statement, &runs_page_workspace_by_inputs_statement},
		{&runs_count_workspace_statement, &runs_count_workspace_by_inputs_statement}},
	{{&runs_page_live_statement, &runs_page_live_by_inputs_statement},
		{&runs_count_live_statement, &runs_count_live_by_inputs_statement}},
	{{&runs_page_organization_statement, &runs_page_organization_by_inputs_statement},
		{&runs_count_organization_statement, &runs_count_organization_by_inputs_statement}},
};

static size_t filter_place(const struct run_filter *filter)
{
	if (filter->queue)
		return 0;
	if (filter->workspace_id)
		return 1;
	return filter_is_live(filter) ? 2 : 3;
}

static bool filter_is_whole(const struct run_filter *filter)
{
	return filter->workspace_id && !filter->status && !filter->status_group && !filter->workspace_names &&
		!filter->year && !filter->past_year && !filter->commit && !filter->queue &&
		!filter_is_by_inputs(filter);
}

/* Asks with the filter's values and the parameters that follow. */
#define ASK_FILTERED(store, rows, err, f, statement, name, ...)                                                        \
	db_ask_one_of((store)->db, rows, err, statement, name, .organization_id = (f)->organization_id,                \
		.workspace_id = (f)->workspace_id, .status = (f)->status, .status_group = (f)->status_group,           \
		.operation = (f)->operation, .source = (f)->source, .workspace_names = (f)->workspace_names,           \
		.search = (f)->search, .queue = (f)->queue, .pool_names = (f)->pool_names, .creator = (f)->user,       \
		.year = (f)->year, .past_year = (f)->past_year, .commit = (f)->commit,                                 \
		.everywhere =                                                                                          \
			(f)->workspace_id || response_scope_all((store)->scope, (f)->organization_id, CAN_READ_RUNS),  \
		.user = response_scope_user((store)->scope), ##__VA_ARGS__)

int run_views_ask_page(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err)
{
	const struct db_statement *page = places[filter_place(filter)].page[filter_is_by_inputs(filter)];

	return ASK_FILTERED(
		store, ret_rows, err, filter, page, runs_page_queue, .limit = filter->limit, .offset = filter->offset);
}

int run_views_ask_count(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err)
{
	const struct db_statement *count = places[filter_place(filter)].count[filter_is_by_inputs(filter)];

	if (filter_is_whole(filter))
		return db_ask(store->db, ret_rows, err, runs_count, .workspace_id = filter->workspace_id);
	return ASK_FILTERED(store, ret_rows, err, filter, count, runs_count_workspace);
}

int runs_recent_of(struct store *store, struct db_array *workspace_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, runs_recent_of, .workspace_ids = workspace_ids,
		.user = response_scope_user(store->scope));
}

int operation_view(struct store *store, const char *operation_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, operation_view, .operation_id = operation_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%.5s not found", operation_id);
}

int operation_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, operation_views_of, .ids = ids);
}

/* Appends the values of the sensitive variables in a row of run_inputs. */
static int secrets_add(struct store *store, const struct run_secrets_row *row, json_t *values, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SNAPSHOT_LIMIT);
	json_auto_t *snapshot = NULL;
	json_t *variable;
	size_t i;

	if (seal_open(store, row->run_id, row->snapshot_sealed, &text, err) < 0 ||
		json_parse(buf_str(&text), text.len, &snapshot, err) < 0)
		return -1;
	json_array_foreach(snapshot, i, variable) if (json_bool_at(variable, "sensitive", false))
		json_array_append(values, json_object_get(variable, "value"));
	return 0;
}

int run_secrets(struct store *store, const char *run_id, json_t **ret_values, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *values = json_array();

	if (db_query(store->db, &rows, err, run_secrets, .run_id = run_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	for (int i = 0; i < rows.count; i++)
		if (secrets_add(store, row_of(run_secrets, &rows, i), values, err) < 0)
			return -1;
	*ret_values = json_incref(values);
	return 0;
}

/* ---- the runs of all organizations ---- */

int site_runs_list(struct store *store, const struct site_runs *list, struct rows *ret_rows, struct err *err)
{
	if (list->run_id)
		return db_query(store->db, ret_rows, err, site_run, .run_id = list->run_id, .limit = list->limit,
			.offset = list->offset);
	return db_query(store->db, ret_rows, err, site_runs_list, .statuses = list->statuses, .search = list->search,
		.from = list->from, .to = list->to, .limit = list->limit, .offset = list->offset);
}
