/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/scim/scim_groups.h"

#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/scim/scim_groups.sql.h"

static int write_failed(struct store *store, struct err *err)
{
	if (err->kind != ERR_CONFLICT || !text_equal(db_constraint(store->db), "scim_groups_name"))
		return -1;
	return err_set(err, ERR_CONFLICT, "another group has that displayName");
}

int scim_group_create(struct store *store, const char *display_name, const char *external_id, char ret_id[SCIM_ID_SIZE],
	struct err *err)
{
	audit_uuid(ret_id);
	if (db_query(store->db, NULL, err, scim_group_create, .id = ret_id, .display_name = display_name,
		    .external_id = external_id) < 0)
		return write_failed(store, err);
	return 0;
}

int scim_group_update(
	struct store *store, const char *id, const char *display_name, const char *external_id, struct err *err)
{
	if (db_query(store->db, NULL, err, scim_group_update, .id = id, .display_name = display_name,
		    .external_id = external_id) < 0)
		return write_failed(store, err);
	return 0;
}

static int group_found(const struct rows *rows, struct err *err)
{
	return rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "there is no such group");
}

int scim_group_read(struct store *store, const char *id, bool members, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, scim_group_read, .id = id, .members = members) < 0)
		return -1;
	return group_found(ret_rows, err);
}

int scim_group_lock(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_group_lock, .id = id) < 0 ? -1 : group_found(ret_rows, err);
}

static int filtered_list(struct store *store, const struct scim_list *list, struct rows *ret_rows, struct err *err)
{
	struct scim_conditions c;
	int result = scim_conditions_make(list->alternatives, &c, err);

	if (result == 0)
		result = db_query(store->db, ret_rows, err, scim_groups_found, .members = list->members,
			.limit = list->limit, .offset = list->offset, .alternatives = &c.alternatives,
			.names = &c.names, .subs = &c.subs, .operators = &c.operators, .values = &c.values,
			.exact = &c.exact, .negated = &c.negated);
	scim_conditions_release(&c);
	return result;
}

int scim_groups_list(struct store *store, const struct scim_list *list, struct rows *ret_rows, struct err *err)
{
	static const struct db_statement *const statements[] = {
		[SCIM_BY_NAME] = &scim_groups_of_name_statement,
		[SCIM_BY_EXTERNAL_ID] = &scim_groups_of_external_statement,
		[SCIM_BY_ID] = &scim_groups_of_id_statement,
	};

	if (list->by == SCIM_BY_FILTER)
		return filtered_list(store, list, ret_rows, err);
	if (list->by == SCIM_BY_ALL)
		return db_query(store->db, ret_rows, err, scim_groups_all, .members = list->members,
			.limit = list->limit, .offset = list->offset);
	return db_query_one_of(store->db, ret_rows, err, statements[list->by], scim_groups_of_name,
		.members = list->members, .value = list->value, .limit = list->limit, .offset = list->offset);
}

int scim_groups_search(
	struct store *store, const struct scim_group_search *search, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_groups_named, .search = search->text, .limit = search->limit,
		.offset = search->offset);
}

int scim_group_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, scim_group_delete, .id = id);
}

/* ---- members ---- */

void scim_members_init(struct scim_members *members)
{
	*members = (struct scim_members){.added = json_object(), .removed = json_object()};
}

void scim_members_release(struct scim_members *members)
{
	json_decref(members->added);
	json_decref(members->removed);
}

void scim_members_add(struct scim_members *members, const char *id, const char *display)
{
	json_object_del(members->removed, id);
	json_object_set_new(members->added, id, json_string_or_null(display));
}

void scim_members_remove(struct scim_members *members, const char *id)
{
	json_object_del(members->added, id);
	json_object_set_new(members->removed, id, json_null());
}

void scim_members_clear(struct scim_members *members)
{
	members->cleared = true;
	json_object_clear(members->added);
	json_object_clear(members->removed);
}

bool scim_members_any(const struct scim_members *members)
{
	return members->cleared || json_object_size(members->added) || json_object_size(members->removed);
}

static void ids_of(const json_t *object, struct db_array *ids, struct db_array *displays)
{
	const char *id;
	json_t *display;

	json_object_foreach((json_t *)object, id, display)
	{
		db_array_add(ids, id);
		if (displays)
			db_array_add(displays, json_string_value(display));
	}
}

static int members_take(struct store *store, const char *group_id, const struct scim_members *members, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	ids_of(members->cleared ? members->added : members->removed, &ids, NULL);
	if (members->cleared)
		return db_queue(store->db, err, scim_members_keep, .group_id = group_id, .ids = &ids);
	return ids.count ? db_queue(store->db, err, scim_members_remove, .group_id = group_id, .ids = &ids) : 0;
}

int scim_members_write(struct store *store, const char *group_id, const struct scim_members *members, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT, displays = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	ids_of(members->added, &ids, &displays);
	if (members_take(store, group_id, members, err) < 0)
		return -1;
	if (!ids.count)
		return 0;
	if (db_query(store->db, &rows, err, scim_members_add, .group_id = group_id, .ids = &ids,
		    .displays = &displays) < 0)
		return -1;
	if (row_of(scim_members_add, &rows, 0)->missing)
		return err_set(err, ERR_NOT_FOUND, "a member is not the id of a user");
	if (row_of(scim_members_add, &rows, 0)->members > SCIM_MAX_MEMBERS)
		return err_set(err, ERR_TOO_LARGE, "a group has at most %d members", SCIM_MAX_MEMBERS);
	return 0;
}
