/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/explorer/explorer_views.h"

#include "scheduler/store/explorer/explorer_views.sql.h"
#include "scheduler/store/names.h"

int explorer_views_list(struct store *store, const char *organization_id, struct list_range range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, explorer_views_list, .organization_id = organization_id,
		.limit = range.limit, .offset = range.offset);
}

int explorer_view_read(
	struct store *store, const char *organization_id, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, explorer_view_read, .organization_id = organization_id, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "saved view not found");
}

int explorer_view_create(struct store *store, const char *organization_id, const struct explorer_view_input *input,
	struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *query = json_text(input->query);
	struct id id = id_new("sq");

	if (db_query(store->db, &rows, err, explorer_view_create, .id = id.text, .organization_id = organization_id,
		    .name = input->name, .query_type = input->query_type, .query = query,
		    .created_by = input->created_by, .max = EXPLORER_MAX_VIEWS) < 0)
		return name_taken(store, "explorer_views_name", err);
	if (!rows.count)
		return err_at(err, "/data", "an organization has at most %d saved views", EXPLORER_MAX_VIEWS);
	*ret_id = id;
	return 0;
}

int explorer_view_update(struct store *store, const char *id, const struct explorer_view_input *input, struct err *err)
{
	_cleanup_(freep) char *query = json_text(input->query);

	if (db_query(store->db, NULL, err, explorer_view_update, .id = id, .name = input->name,
		    .query_type = input->query_type, .query = query) < 0)
		return name_taken(store, "explorer_views_name", err);
	return 0;
}

int explorer_view_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, explorer_view_delete, .id = id);
}
