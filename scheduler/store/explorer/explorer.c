/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/explorer/explorer.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/explorer/explorer.sql.h"

/* Resources that a filter finds by an index are sorted and counted up to this number: that takes 0.1 s. */
enum { MAX_SORTED = 10000 };

/* By the order of enum explorer_view_id. Resources have statements by their order. `mask` in explorer.sql has the bit
 * of the permission. */
static const struct {
	const struct db_statement *statement;
	const char *sort; /* without another one */
	enum permission permission;
} views[] = {
	[EXPLORER_VIEW_workspaces] = {&explorer_workspaces_statement, "workspace_name", CAN_READ_WORKSPACE},
	[EXPLORER_VIEW_tf_versions] = {&explorer_tf_versions_statement, "version", CAN_READ_WORKSPACE},
	[EXPLORER_VIEW_providers] = {&explorer_providers_statement, "source", CAN_READ_WORKSPACE},
	[EXPLORER_VIEW_modules] = {&explorer_modules_statement, "source", CAN_READ_WORKSPACE},
	[EXPLORER_VIEW_resources] = {NULL, "address", CAN_READ_RUNS},
	[EXPLORER_VIEW_outputs] = {&explorer_outputs_statement, "name", CAN_READ_OUTPUTS},
	[EXPLORER_VIEW_tags] = {&explorer_tags_statement, "key", CAN_READ_WORKSPACE},
	[EXPLORER_VIEW_projects] = {&explorer_projects_statement, "name", CAN_READ_WORKSPACE},
};

/* The texts of explorer_candidates. */
static const char *const columns[] = {
	[EXPLORER_ADDRESS] = "address",
	[EXPLORER_TYPE] = "type",
	[EXPLORER_NAME] = "name",
	[EXPLORER_MODULE] = "module",
	[EXPLORER_PROVIDER] = "provider",
};

struct running {
	struct store *store;
	const char *organization_id;
	struct explorer_query *query;
	struct list_range range;
	struct rows *ret_rows;
};

static int resources_run(const struct running *r, struct err *err)
{
	bool everywhere = response_scope_all(r->store->scope, r->organization_id, CAN_READ_RUNS);
	struct explorer_filters *own = &r->query->filters, *place = &r->query->place_filters;
	const struct explorer_field *sort = r->query->sort;
	enum explorer_column by = explorer_query_index(r->query);
	bool indexed = by != EXPLORER_NO_COLUMN;
	/* Without an order: that of the index which finds them. Of many with the same module, those in the order of
	 * addresses are far apart. */
	enum explorer_column order = sort ? sort->column : indexed ? by : EXPLORER_ADDRESS;
	const struct db_statement *statement = &explorer_resources_by_place_statement;
	bool all_places = everywhere && !place->fields.count;
	char **equal = r->query->equal;

	if (order != EXPLORER_NO_COLUMN)
		statement = explorer_resources_statements[2 * order + r->query->down];
	return db_query_one_of(r->store->db, r->ret_rows, err, statement, explorer_resources_address,
		.organization_id = r->organization_id, .user = response_scope_user(r->store->scope),
		.everywhere = everywhere, .fields = &own->fields, .operators = &own->operators,
		.operands = &own->operands, .place_fields = &place->fields, .place_operators = &place->operators,
		.place_operands = &place->operands, .all_places = all_places,
		.uncounted = own->fields.count > 0 || indexed,
		.by = indexed        ? columns[by]
			: all_places ? ""
				     : "place",
		.pattern = text_or_empty(r->query->pattern), .name = equal[EXPLORER_NAME], .type = equal[EXPLORER_TYPE],
		.module = equal[EXPLORER_MODULE], .provider = equal[EXPLORER_PROVIDER], .max = MAX_SORTED,
		.sort = sort ? sort->name : "address", .by_version = sort && sort->kind == EXPLORER_VERSION,
		.down = r->query->down, .limit = r->range.limit, .offset = r->range.offset);
}

static int run_in(void *data, struct err *err)
{
	const struct running *r = data;
	enum explorer_view_id id = r->query->view.id;
	const struct explorer_field *sort = r->query->sort;

	if (db_queue(r->store->db, err, explorer_planner) < 0)
		return -1;
	if (id == EXPLORER_VIEW_resources)
		return resources_run(r, err);
	return db_query_one_of(r->store->db, r->ret_rows, err, views[id].statement, explorer_workspaces,
		.organization_id = r->organization_id, .user = response_scope_user(r->store->scope),
		.everywhere = response_scope_all(r->store->scope, r->organization_id, views[id].permission),
		.fields = &r->query->filters.fields, .operators = &r->query->filters.operators,
		.operands = &r->query->filters.operands, .sort = sort ? sort->name : views[id].sort,
		.by_version = sort ? sort->kind == EXPLORER_VERSION : id == EXPLORER_VIEW_tf_versions,
		.down = r->query->down, .limit = r->range.limit, .offset = r->range.offset);
}

int explorer_run(struct store *store, const char *organization_id, struct explorer_query *query,
	struct list_range range, struct rows *ret_rows, struct err *err)
{
	struct running running = {store, organization_id, query, range, ret_rows};

	return db_transaction(store->db, run_in, &running, err);
}
