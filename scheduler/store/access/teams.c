/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/teams.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"

/* `user` is the number of the requester's parameter (store/access/response_scope.h). Clients remove users by username,
 * so `users` excludes invited users, who have none. `memberships` includes them. */
#define COLUMNS(user)                                                                                                  \
	RIGHTS_IN_ORGANIZATION(user, "t.organization_id")                                                              \
	"as rights, t.id, t.organization_id, t.user_id, t.name, t.kind, t.visibility, t.organization_access, "         \
	"t.sso_team_id, t.allow_member_token_management, t.created_at, o.name as organization_name, "                  \
	"(select coalesce(jsonb_agg(m.user_id order by m.user_id), '[]') from team_members m "                         \
	"join users u on u.id = m.user_id and u.username is not null "                                                 \
	"where m.team_id = t.id and m.user_id <> t.user_id) as users, "                                                \
	"(select coalesce(jsonb_agg(om.id order by m.user_id), '[]') from team_members m "                             \
	"join organization_memberships om on om.organization_id = m.organization_id and om.user_id = m.user_id "       \
	"where m.team_id = t.id and m.user_id <> t.user_id) as memberships "

#define TABLES "from teams t join organizations o on o.id = t.organization_id "

/* ---- reading ---- */

int team_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select " COLUMNS("$2") TABLES
		    "where t.id = $1 and " TEAM_IN_SCOPE(SECRET_TEAMS_IN_SCOPE("$2"), "$2"),
		    P_TEXT(id), P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "team not found");
}

int teams_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS("$2") TABLES
		"where t.id = any($1::text[]) and " TEAM_IN_SCOPE(SECRET_TEAMS_IN_SCOPE("$2"), "$2"),
		P_ARRAY(ids), P_TEXT(response_scope_user(store->scope)));
}

int teams_list(struct store *store, const struct team_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select t.id from teams t where t.organization_id = $1 "
		"and ($2::text is null or strpos(lower(t.name), lower($2)) > 0) "
		"and ($3::text is null or lower(t.name) = any(string_to_array(lower($3), ','))) "
		"and " TEAM_IN_SCOPE("$7::boolean",
			"$6") ") "
			      "select c.total, f.* from (select count(*) as total from found) c left join "
			      "(select " COLUMNS("$6") TABLES
		"where t.id in (select id from found) "
		"order by t.kind <> 'owners', lower(t.name), t.id limit $4 offset $5) f on true "
		"order by f.kind <> 'owners', lower(f.name), f.id",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->names), P_INT(list->limit),
		P_INT(list->offset), P_TEXT(response_scope_user(store->scope)),
		P_BOOL(response_scope_all(store->scope, list->organization_id, CAN_SEE_SECRET_TEAMS)));
}

int team_built_in(
	struct store *store, const char *organization_id, enum team_kind kind, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select id, user_id from teams where organization_id = $1 and kind = $2", P_TEXT(organization_id),
		P_TEXT(team_kinds[kind]));
}

int teams_include_owners(struct store *store, const json_t *team_ids, bool *ret_owners, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, team_ids);
	if (db_query(store->db, &rows, err, "select 1 from teams where id = any($1::text[]) and kind = 'owners'",
		    P_ARRAY(&ids)) < 0)
		return -1;
	*ret_owners = rows.count > 0;
	return 0;
}

int team_has_member(struct store *store, const char *team_id, const char *user_id, bool *ret_member, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, "select 1 from team_members where team_id = $1 and user_id = $2",
		    P_TEXT(team_id), P_TEXT(user_id)) < 0)
		return -1;
	*ret_member = rows.count > 0;
	return 0;
}

/* ---- creating ---- */

int team_create(
	struct store *store, const char *organization_id, const struct team *team, struct id *ret_id, struct err *err)
{
	_cleanup_(freep) char *access = json_text(team->organization_access);
	struct id id = id_new("team"), user = id_sibling(id.text, "user");
	_cleanup_(freep) char *username = mem_printf("api-%s", id.text);

	if (db_query(store->db, NULL, err,
		    "with u as (insert into users (id, username, is_service_account) values ($2, $3, true)), "
		    "t as (insert into teams (id, organization_id, user_id, name, kind, visibility, "
		    "organization_access, sso_team_id, allow_member_token_management, rights) "
		    "values ($1, $4, $2, $5, $6, $7, $8::jsonb, $9, $10, $11)), "
		    "m as (insert into organization_memberships (id, organization_id, user_id) values ($12, $4, $2)) "
		    "insert into team_members (team_id, organization_id, user_id) values ($1, $4, $2)",
		    P_TEXT(id.text), P_TEXT(user.text), P_TEXT(username), P_TEXT(organization_id), P_TEXT(team->name),
		    P_TEXT(team_kinds[team->kind]), P_TEXT(team->visibility), P_TEXT(access), P_TEXT(team->sso_team_id),
		    P_BOOL(team->allow_member_token_management),
		    P_INT((long long)rights_of_team(team->kind, team->organization_access)),
		    P_TEXT(id_new("ou").text)) < 0)
		return name_taken(store, "teams_name", err);
	*ret_id = id;
	return 0;
}

int team_update(struct store *store, const char *id, const struct team *team, struct err *err)
{
	const json_t *given = team->organization_access;
	_cleanup_(freep) char *access = given ? json_text(given) : NULL;

	if (db_query(store->db, NULL, err,
		    "update teams set name = $2, visibility = $3, sso_team_id = $5, "
		    "organization_access = coalesce($4::jsonb, organization_access), "
		    "rights = case when $4::jsonb is null then rights else $7 end, "
		    "allow_member_token_management = $6, updated_at = now() where id = $1",
		    P_TEXT(id), P_TEXT(team->name), P_TEXT(team->visibility), P_TEXT(access), P_TEXT(team->sso_team_id),
		    P_BOOL(team->allow_member_token_management),
		    P_INT((long long)rights_of_team(team->kind, given))) < 0)
		return name_taken(store, "teams_name", err);
	return 0;
}

int team_delete(struct store *store, const char *id, struct err *err)
{
	/* Its service user is kept, because other rows refer to it; its membership is deleted. */
	return db_query(store->db, NULL, err,
		"with t as (delete from teams where id = $1 returning organization_id, user_id) "
		"delete from organization_memberships m using t where m.organization_id = t.organization_id "
		"and m.user_id = t.user_id",
		P_TEXT(id));
}

int teams_begin(struct store *store, const char *organization_id, struct err *err)
{
	static const enum team_kind kinds[] = {TEAM_OWNERS, TEAM_ORGANIZATION, TEAM_AUDIT};
	json_auto_t *none = json_object();
	struct id id;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct team team = {.kind = kinds[i],
			.name = team_kinds[kinds[i]],
			.visibility = kinds[i] == TEAM_OWNERS ? "organization" : "secret",
			.organization_access = none,
			.allow_member_token_management = true};

		if (team_create(store, organization_id, &team, &id, err) < 0)
			return -1;
	}
	return 0;
}

/* Makes the user a member, also one that is only invited. Does nothing for a member. */
static int organization_join(struct store *store, const char *organization_id, const char *user_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into organization_memberships (id, organization_id, user_id) values ($3, $1, $2) "
		"on conflict (organization_id, user_id) do update set status = 'active'",
		P_TEXT(organization_id), P_TEXT(user_id), P_TEXT(id_new("ou").text));
}

int owners_join(struct store *store, const char *organization_id, const char *user_id, struct err *err)
{
	if (organization_join(store, organization_id, user_id, err) < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"insert into team_members (team_id, organization_id, user_id) select id, organization_id, $2 from "
		"teams where organization_id = $1 and kind = 'owners' on conflict do nothing",
		P_TEXT(organization_id), P_TEXT(user_id));
}

/* ---- members ---- */

struct membering {
	struct store *store;
	const char *team_id;
	enum member_name by;
	const json_t *names;
};

/* The selected members of the team's organization: columns organization_id and user_id. */
#define NAMED                                                                                                          \
	"select t.organization_id, m.user_id from teams t "                                                            \
	"join organization_memberships m on m.organization_id = t.organization_id "                                    \
	"join users u on u.id = m.user_id and not u.is_service_account where t.id = $1 and "                           \
	"case when $3::boolean then m.id = any($2::text::text[]) else lower(u.username) = "                            \
	"any(lower($2::text)::text[]) end "

static int add_in(void *data, struct err *err)
{
	const struct membering *m = data;
	_cleanup_(db_array_release) struct db_array names = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&names, m->names);
	if (db_query(m->store->db, &rows, err,
		    "with n as (" NAMED "), i as (insert into team_members (team_id, organization_id, user_id) "
		    "select $1, organization_id, user_id from n on conflict do nothing) select count(*) as found from "
		    "n",
		    P_TEXT(m->team_id), P_ARRAY(&names), P_BOOL(m->by == BY_MEMBERSHIP)) < 0)
		return -1;
	if ((size_t)row_int(&rows, 0, "found") < json_array_size(m->names))
		return err_at(err, "/data", "Users must be members of the organization");
	return 0;
}

int team_members_add(
	struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err)
{
	struct membering m = {store, team_id, by, names};

	return db_transaction(store->db, add_in, &m, err);
}

int owners_check(struct store *store, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* Locks the team, so that concurrent removals can't remove the last two owners. */
	if (db_query(store->db, NULL, err,
		    "select 1 from teams where organization_id = $1 and kind = 'owners' for update",
		    P_TEXT(organization_id)) < 0 ||
		db_query(store->db, &rows, err,
			"select 1 from teams t join team_members m on m.team_id = t.id and m.user_id <> t.user_id "
			"join users u on u.id = m.user_id and u.username is not null "
			"where t.organization_id = $1 and t.kind = 'owners' limit 1",
			P_TEXT(organization_id)) < 0)
		return -1;
	return rows.count ? 0 : err_at(err, "/data", "The last owner of an organization can't be removed");
}

static int remove_in(void *data, struct err *err)
{
	const struct membering *m = data;
	_cleanup_(db_array_release) struct db_array names = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows team = ROWS_INIT;

	db_array_add_texts(&names, m->names);
	if (db_query(m->store->db, &team, err, "select organization_id, kind from teams where id = $1 for update",
		    P_TEXT(m->team_id)) < 0 ||
		db_query(m->store->db, NULL, err,
			"delete from team_members d using (" NAMED ") n where d.team_id = $1 and d.user_id = n.user_id",
			P_TEXT(m->team_id), P_ARRAY(&names), P_BOOL(m->by == BY_MEMBERSHIP)) < 0)
		return -1;
	if (!team.count || !text_equal(row_text(&team, 0, "kind"), team_kinds[TEAM_OWNERS]))
		return 0;
	return owners_check(m->store, row_text(&team, 0, "organization_id"), err);
}

int team_members_remove(
	struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err)
{
	struct membering m = {store, team_id, by, names};

	return db_transaction(store->db, remove_in, &m, err);
}
