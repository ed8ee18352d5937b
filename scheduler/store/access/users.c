/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/users.h"

#include "scheduler/store/access/invitations.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/users.sql.h"
#include "scheduler/store/names.h"

int user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, user_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

int user_find(struct store *store, const char *username, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, user_of_name, .username = username) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "there is no user '%s'", username);
	text_copy(ret_id->text, ID_SIZE, row_of(user_of_name, &rows, 0)->id);
	return 0;
}

int users_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, users_read_all, .ids = ids);
}

int user_read_known(
	struct store *store, const char *id, const char *requester_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, user_read_known, .id = id, .requester_id = requester_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

struct registration {
	struct store *store;
	const char *username, *email;
	struct id id;
};

static int register_in(void *data, struct err *err)
{
	struct registration *r = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(r->store->db, &rows, err, user_register, .new_id = id_new("user").text, .username = r->username,
		    .email = r->email) < 0)
		return -1;
	text_copy(r->id.text, sizeof(r->id.text), row_of(user_register, &rows, 0)->id);
	if (db_query(r->store->db, NULL, err, user_invitations_expire, .id = r->id.text) < 0)
		return -1;
	return db_query(r->store->db, NULL, err, user_invitations_accept, .id = r->id.text);
}

int user_register(struct store *store, const char *username, const char *email, struct id *ret_id, struct err *err)
{
	struct registration r = {.store = store, .username = username, .email = email};

	if (db_transaction(store->db, register_in, &r, err) < 0)
		return value_taken(store, "users_username", "Username", "/data/attributes/username", err);
	*ret_id = r.id;
	return 0;
}

int user_update(struct store *store, const char *id, const char *username, const char *email, struct err *err)
{
	/* Another user may have the same address: an error would reveal which addresses are registered. */
	if (db_query(store->db, NULL, err, user_update, .id = id, .username = username, .email = email) < 0)
		return value_taken(store, "users_username", "Username", "/data/attributes/username", err);
	return 0;
}

/* ---- for site admins ---- */

int users_list(struct store *store, const struct user_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, users_list, .search = list->search, .admin = list->admin,
		.suspended = list->suspended, .limit = list->limit, .offset = list->offset);
}

int user_read_for_site(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, user_read_for_site, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

static int user_found(const struct rows *rows, struct err *err)
{
	return db_affected(rows) ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

int user_reinstate(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, user_reinstate, .id = id) < 0)
		return -1;
	return user_found(&rows, err);
}

int user_set_site_admin(struct store *store, const char *id, bool admin, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, user_set_site_admin, .id = id, .admin = admin) < 0)
		return -1;
	return user_found(&rows, err);
}

struct deletion {
	struct store *store;
	const char *id;
};

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows owned = ROWS_INIT, gone = ROWS_INIT;

	if (db_query(d->store->db, &owned, err, user_owned_lock, .id = d->id) < 0 ||
		db_query(d->store->db, &gone, err, user_delete, .id = d->id) < 0 || user_found(&gone, err) < 0)
		return -1;
	for (int i = 0; i < owned.count; i++)
		if (owners_check(d->store, row_of(user_owned_lock, &owned, i)->organization_id, err) < 0)
			return -1;
	return 0;
}

int user_delete(struct store *store, const char *id, struct err *err)
{
	struct deletion d = {store, id};

	return db_transaction(store->db, delete_in, &d, err);
}
