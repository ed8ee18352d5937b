/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/memberships.h"

#include "scheduler/store/access/invitations.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/response_scope.h"

/* `user` is the number of the requester's parameter (store/access/response_scope.h). */
#define COLUMNS(user)                                                                                                  \
	"m.id, m.organization_id, o.name as organization_name, m.user_id, coalesce(m.email, u.email) as email, "       \
	"u.username, m.status, "                                                                                       \
	"m.created_at, (select coalesce(jsonb_agg(tm.team_id order by tm.team_id), '[]') from team_members tm "        \
	"join teams t on t.id = tm.team_id where tm.organization_id = m.organization_id and "                          \
	"tm.user_id = m.user_id and " TEAM_IN_SCOPE(SECRET_TEAMS_IN_SCOPE(user), user) ") as teams "

#define TABLES                                                                                                         \
	"from organization_memberships m join organizations o on o.id = m.organization_id "                            \
	"join users u on u.id = m.user_id and not u.is_service_account "

/* ---- reading ---- */

int memberships_list(struct store *store, const struct membership_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select m.id " TABLES "where m.organization_id = $1 "
		"and ($2::text is null or strpos(lower(u.email), lower($2)) > 0 "
		"or strpos(lower(u.username), lower($2)) > 0) "
		"and ($3::text is null or lower(u.email) = any(string_to_array(lower($3), ','))) "
		"and ($4::text is null or m.status = $4)) "
		"select c.total, f.* from (select count(*) as total from found) c left join "
		"(select " COLUMNS("$7") TABLES
		"where m.id in (select id from found) "
		"order by m.created_at, m.id limit $5 offset $6) f on true order by f.created_at, f.id",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->emails), P_TEXT(list->status),
		P_INT(list->limit), P_INT(list->offset), P_TEXT(response_scope_user(store->scope)));
}

int memberships_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, "select " COLUMNS("$2") TABLES "where m.id = any($1::text[])",
		P_ARRAY(ids), P_TEXT(response_scope_user(store->scope)));
}

int membership_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS("$2") TABLES "where m.id = $1", P_TEXT(id),
		    P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "organization membership not found");
}

int membership_guarded(
	struct store *store, const char *organization_id, const char *user_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select t.kind = 'owners' as owners from teams t join team_members m on m.team_id = t.id "
		"where t.organization_id = $1 and m.user_id = $2 and (t.kind = 'owners' or not (" TEAM_IN_SCOPE(
			"$3::boolean", "$4") ")) order by t.kind <> 'owners' limit 1",
		P_TEXT(organization_id), P_TEXT(user_id),
		P_BOOL(response_scope_all(store->scope, organization_id, CAN_SEE_SECRET_TEAMS)),
		P_TEXT(response_scope_user(store->scope)));
}

/* ---- inviting ---- */

struct inviting {
	struct store *store;
	const struct invitation *invitation;
	struct id id;
};

static int email_taken(struct err *err)
{
	return err_at(err, "/data/attributes/email", "Email belongs to a member of the organization");
}

/* Checks members of this organization only: the result does not reveal whether the address is registered elsewhere. */
static int member_check(const struct inviting *i, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(i->store->db, &rows, err,
		    "select 1 from organization_memberships m join users u on u.id = m.user_id "
		    "and u.username is not null and not u.is_service_account "
		    "where m.organization_id = $1 and lower(u.email) = lower($2) limit 1",
		    P_TEXT(i->invitation->organization_id), P_TEXT(i->invitation->email)) < 0)
		return -1;
	return rows.count ? email_taken(err) : 0;
}

/* Finds or creates the nameless user of the address, and deletes an expired invitation of theirs. */
static int invited_user(const struct inviting *i, struct rows *ret_user, struct err *err)
{
	struct db *db = i->store->db;

	if (db_query(db, ret_user, err,
		    "insert into users (id, email) values ($1, lower($2)) on conflict (lower(email)) where username is "
		    "null do update set email = users.email returning id",
		    P_TEXT(id_new("user").text), P_TEXT(i->invitation->email)) < 0)
		return -1;
	return db_query(db, NULL, err,
		"delete from organization_memberships m where m.organization_id = $1 and m.user_id = $2 "
		"and " INVITATION_EXPIRED,
		P_TEXT(i->invitation->organization_id), P_TEXT(row_text(ret_user, 0, "id")));
}

static int invited_teams(struct inviting *i, const char *user_id, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct invitation *invitation = i->invitation;

	db_array_add_texts(&ids, invitation->team_ids);
	if (db_query(i->store->db, &rows, err,
		    "with j as (insert into team_members (team_id, organization_id, user_id) "
		    "select t.id, t.organization_id, $3 from teams t where t.id = any($1::text[]) "
		    "and t.organization_id = $2 and " TEAM_IN_SCOPE(
			    SECRET_TEAMS_IN_SCOPE("$4"), "$4") "returning 1) "
							       "select count(*) as joined from j",
		    P_ARRAY(&ids), P_TEXT(invitation->organization_id), P_TEXT(user_id),
		    P_TEXT(response_scope_user(i->store->scope))) < 0)
		return -1;
	if ((size_t)row_int(&rows, 0, "joined") < json_array_size(invitation->team_ids))
		return err_at(err, "/data/relationships/teams", "Teams must be teams of the organization");
	return 0;
}

static int invite_in(void *data, struct err *err)
{
	struct inviting *i = data;
	_cleanup_(rows_release) struct rows user = ROWS_INIT;
	const char *user_id;

	if (member_check(i, err) < 0 || invited_user(i, &user, err) < 0)
		return -1;
	user_id = row_text(&user, 0, "id");
	i->id = id_new("ou");
	if (db_query(i->store->db, NULL, err,
		    "insert into organization_memberships (id, organization_id, user_id, status, email) "
		    "values ($1, $2, $3, 'invited', $4)",
		    P_TEXT(i->id.text), P_TEXT(i->invitation->organization_id), P_TEXT(user_id),
		    P_TEXT(i->invitation->email)) < 0)
		return err->kind == ERR_CONFLICT ? email_taken(err) : -1;
	if (invitation_mail_queue(i->store, i->id.text, err) < 0)
		return -1;
	return i->invitation->team_ids ? invited_teams(i, user_id, err) : 0;
}

int membership_create(struct store *store, const struct invitation *invitation, struct id *ret_id, struct err *err)
{
	struct inviting i = {.store = store, .invitation = invitation};

	if (db_transaction(store->db, invite_in, &i, err) < 0)
		return -1;
	*ret_id = i.id;
	return 0;
}

/* ---- leaving ---- */

struct leaving {
	struct store *store;
	const char *id;
};

static int leave_in(void *data, struct err *err)
{
	const struct leaving *l = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* Locks the owners team first, so that concurrent removals can't remove the last two owners. */
	if (db_query(l->store->db, NULL, err,
		    "select 1 from teams t join organization_memberships m on m.organization_id = t.organization_id "
		    "where m.id = $1 and t.kind = 'owners' for update of t",
		    P_TEXT(l->id)) < 0 ||
		db_query(l->store->db, &rows, err,
			"delete from organization_memberships where id = $1 returning organization_id, user_id",
			P_TEXT(l->id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "organization membership not found");
	if (owners_check(l->store, row_text(&rows, 0, "organization_id"), err) < 0)
		return -1;
	return invited_users_delete(l->store, row_text(&rows, 0, "user_id"), err);
}

int membership_delete(struct store *store, const char *id, struct err *err)
{
	struct leaving l = {store, id};

	return db_transaction(store->db, leave_in, &l, err);
}
