/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/change_requests/change_requests.h"

#include "scheduler/store/change_requests/change_requests.sql.h"
#include "scheduler/store/notifications/notifications.h"

int change_requests_list(
	struct store *store, const struct change_request_list *list, struct rows *ret_rows, struct err *err)
{
	static const struct db_statement *const statements[] = {
		[CHANGE_REQUESTS_ALL] = &change_requests_list_statement,
		[CHANGE_REQUESTS_OPEN] = &change_requests_open_statement,
		[CHANGE_REQUESTS_ARCHIVED] = &change_requests_archived_statement,
	};

	return db_query_one_of(store->db, ret_rows, err, statements[list->filter], change_requests_list,
		.workspace_id = list->workspace_id, .limit = list->range.limit, .offset = list->range.offset);
}

int change_request_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, change_request_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "change request not found");
}

/* ---- creating ---- */

/* Names the first workspace that is not the organization's. */
static int missing_refuse(const struct rows *found, const json_t *ids, struct err *err)
{
	json_auto_t *known = json_object();
	const json_t *id;
	size_t i;

	for (int row = 0; row < found->count; row++)
		json_object_set_new(known, row_of(change_requests_lock, found, row)->id, json_true());
	json_array_foreach((json_t *)ids, i, id)
	{
		if (!json_object_get(known, json_string_value(id)))
			return err_at(err, "/data/attributes/target_ids",
				"Target ids may only hold workspaces of the organization: %.60s is none",
				json_string_value(id));
	}
	return 0;
}

static int open_check(const struct rows *rows, struct err *err)
{
	for (int i = 0; i < rows->count; i++) {
		const struct change_requests_lock_row *workspace = row_of(change_requests_lock, rows, i);

		if (workspace->open >= MAX_OPEN_CHANGE_REQUESTS)
			return err_at(err, "/data",
				"Workspace %s has %d open change requests, which is the maximum: archive some of them",
				workspace->name, MAX_OPEN_CHANGE_REQUESTS);
	}
	return 0;
}

int change_requests_create(
	struct store *store, const struct change_request_draft *draft, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows workspaces = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array workspace_ids = DB_ARRAY_INIT, ids = DB_ARRAY_INIT;

	db_array_add_texts(&workspace_ids, draft->workspace_ids);
	if (db_query(store->db, &workspaces, err, change_requests_lock, .organization_id = draft->organization_id,
		    .workspace_ids = &workspace_ids) < 0 ||
		missing_refuse(&workspaces, draft->workspace_ids, err) < 0 || open_check(&workspaces, err) < 0)
		return -1;
	if (db_query(store->db, ret_rows, err, change_requests_create, .workspace_ids = &workspace_ids,
		    .seed = id_new("wscr").text, .subject = draft->subject, .message = draft->message,
		    .created_by = draft->created_by) < 0)
		return -1;
	for (int i = 0; i < ret_rows->count; i++)
		db_array_add(&ids, row_of(change_requests_create, ret_rows, i)->id);
	return notifications_of_change_requests_put_up(store, &ids, err);
}

/* ---- archiving ---- */

struct archiving {
	struct store *store;
	const char *id, *archived_by;
};

static int archive_in(void *data, struct err *err)
{
	const struct archiving *a = data;

	if (db_query(a->store->db, NULL, err, change_request_archive, .id = a->id, .archived_by = a->archived_by) < 0)
		return -1;
	return db_query(
		a->store->db, NULL, err, change_requests_prune, .id = a->id, .kept = MAX_ARCHIVED_CHANGE_REQUESTS);
}

int change_request_archive(struct store *store, const char *id, const char *archived_by, struct err *err)
{
	struct archiving archiving = {store, id, archived_by};

	return db_transaction(store->db, archive_in, &archiving, err);
}
