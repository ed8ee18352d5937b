/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/users.h"

#include "scheduler/store/access/invitations.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/names.h"

#define COLUMNS "select id, username, email, is_site_admin, is_service_account, created_at from users "

int user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, COLUMNS "where id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

int user_find(struct store *store, const char *username, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, "select id from users where lower(username) = lower($1)",
		    P_TEXT(username)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "there is no user '%s'", username);
	text_copy(ret_id->text, ID_SIZE, row_text(&rows, 0, "id"));
	return 0;
}

int users_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, COLUMNS "where id = any($1::text[])", P_ARRAY(ids));
}

int user_read_known(
	struct store *store, const char *id, const char *requester_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    COLUMNS "u where id = $1 and ($2::text is null or id = $2 or exists (select 1 from "
			    "organization_memberships m join organization_memberships v on v.organization_id = "
			    "m.organization_id and v.user_id = $2 and v.status = 'active' where m.user_id = u.id))",
		    P_TEXT(id), P_TEXT(requester_id)) < 0)
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

	if (db_query(r->store->db, &rows, err,
		    "with invited as (update users set username = $2, email = $3 where username is null and "
		    "lower(email) = "
		    "lower($3) and not is_service_account returning id), new as (insert into users (id, username, "
		    "email) select $1, $2, $3 where not exists (select 1 from invited) returning id) "
		    "select id from invited union all select id from new",
		    P_TEXT(id_new("user").text), P_TEXT(r->username), P_TEXT(r->email)) < 0)
		return -1;
	text_copy(r->id.text, sizeof(r->id.text), row_text(&rows, 0, "id"));
	if (db_query(r->store->db, NULL, err,
		    "delete from organization_memberships m where user_id = $1 and " INVITATION_EXPIRED,
		    P_TEXT(r->id.text)) < 0)
		return -1;
	return db_query(r->store->db, NULL, err,
		"with gone as (delete from notifications n using organization_memberships m where n.membership_id = "
		"m.id "
		"and m.user_id = $1) update organization_memberships set status = 'active', email = null "
		"where user_id = $1",
		P_TEXT(r->id.text));
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
	if (db_query(store->db, NULL, err,
		    "update users set username = coalesce($2, username), email = coalesce($3, email), "
		    "email_confirmed = email_confirmed and lower(coalesce($3, email)) = lower(email) where id = $1",
		    P_TEXT(id), P_TEXT(username), P_TEXT(email)) < 0)
		return value_taken(store, "users_username", "Username", "/data/attributes/username", err);
	return 0;
}

/* ---- for site admins ---- */

#define SITE_COLUMNS                                                                                                   \
	"select u.id, u.username, u.email, u.is_site_admin, u.is_service_account, u.is_suspended, u.created_at, "      \
	"(select coalesce(jsonb_agg(o.name order by lower(o.name)), '[]') from organization_memberships m "            \
	"join organizations o on o.id = m.organization_id where m.user_id = u.id) as organizations "

int users_list(struct store *store, const struct user_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select id, created_at from users where not is_service_account "
		"and ($1::text is null or strpos(lower(email), lower($1)) > 0 or strpos(lower(username), lower($1)) > "
		"0) "
		"and ($2::text is null or is_site_admin = ($2 = 'true')) "
		"and ($3::text is null or is_suspended = ($3 = 'true'))) "
		"select c.total, f.* from (select count(*) as total from found) c left join "
		"(" SITE_COLUMNS "from users u where u.id in "
		"(select id from found order by created_at, id limit $4 offset $5)) f on true order by f.created_at, "
		"f.id",
		P_TEXT(list->search), P_TEXT(list->admin), P_TEXT(list->suspended), P_INT(list->limit),
		P_INT(list->offset));
}

int user_read_for_site(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, SITE_COLUMNS "from users u where u.id = $1 and not u.is_service_account",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

static int user_found(const struct rows *rows, struct err *err)
{
	return db_affected(rows) ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

int user_suspend(struct store *store, const char *id, bool suspended, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update users set is_suspended = $2 where id = $1 and not is_service_account", P_TEXT(id),
		    P_BOOL(suspended)) < 0)
		return -1;
	return user_found(&rows, err);
}

int user_set_site_admin(struct store *store, const char *id, bool admin, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update users set is_site_admin = $2 where id = $1 and not is_service_account", P_TEXT(id),
		    P_BOOL(admin)) < 0)
		return -1;
	return user_found(&rows, err);
}

struct deletion {
	struct store *store;
	const char *id;
};

/* Locks the owners teams of all the user's organizations first, in one order, so that concurrent removals can't remove
 * the last owners. */
static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows owned = ROWS_INIT, gone = ROWS_INIT;

	if (db_query(d->store->db, &owned, err,
		    "select t.organization_id from teams t join team_members m on m.team_id = t.id where m.user_id = "
		    "$1 "
		    "and t.kind = 'owners' order by t.id for update of t",
		    P_TEXT(d->id)) < 0 ||
		db_query(d->store->db, &gone, err, "delete from users where id = $1 and not is_service_account",
			P_TEXT(d->id)) < 0 ||
		user_found(&gone, err) < 0)
		return -1;
	for (int i = 0; i < owned.count; i++)
		if (owners_check(d->store, row_text(&owned, i, "organization_id"), err) < 0)
			return -1;
	return 0;
}

int user_delete(struct store *store, const char *id, struct err *err)
{
	struct deletion d = {store, id};

	return db_transaction(store->db, delete_in, &d, err);
}
