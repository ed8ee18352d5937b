/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/teams.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/access/teams.sql.h"
#include "scheduler/store/names.h"

/* ---- reading ---- */

int team_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, team_read, .id = id, .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "team not found");
}

int teams_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, teams_read_all, .ids = ids, .user = response_scope_user(store->scope));
}

int teams_list(struct store *store, const struct team_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, teams_list, .organization_id = list->organization_id,
		.search = list->search, .names = list->names, .limit = list->limit, .offset = list->offset,
		.user = response_scope_user(store->scope),
		.everywhere = response_scope_all(store->scope, list->organization_id, CAN_SEE_SECRET_TEAMS));
}

int team_built_in(
	struct store *store, const char *organization_id, enum team_kind kind, struct rows *ret_rows, struct err *err)
{
	return db_query(
		store->db, ret_rows, err, team_built_in, .organization_id = organization_id, .kind = team_kinds[kind]);
}

int teams_include_owners(struct store *store, const json_t *team_ids, bool *ret_owners, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, team_ids);
	if (db_query(store->db, &rows, err, owners_among, .ids = &ids) < 0)
		return -1;
	*ret_owners = rows.count > 0;
	return 0;
}

int team_has_member(struct store *store, const char *team_id, const char *user_id, bool *ret_member, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, team_has_member, .team_id = team_id, .user_id = user_id) < 0)
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

	if (db_query(store->db, NULL, err, team_create, .id = id.text, .user_id = user.text, .username = username,
		    .organization_id = organization_id, .name = team->name, .kind = team_kinds[team->kind],
		    .visibility = team->visibility, .access = access, .sso_team_id = team->sso_team_id,
		    .allow_member_token_management = team->allow_member_token_management,
		    .rights = (long long)rights_of_team(team->kind, team->organization_access),
		    .membership_id = id_new("ou").text) < 0)
		return name_taken(store, "teams_name", err);
	*ret_id = id;
	return 0;
}

int team_update(struct store *store, const char *id, const struct team *team, struct err *err)
{
	const json_t *given = team->organization_access;
	_cleanup_(freep) char *access = given ? json_text(given) : NULL;

	if (db_query(store->db, NULL, err, team_update, .id = id, .name = team->name, .visibility = team->visibility,
		    .access = access, .sso_team_id = team->sso_team_id,
		    .allow_member_token_management = team->allow_member_token_management,
		    .rights = (long long)rights_of_team(team->kind, given)) < 0)
		return name_taken(store, "teams_name", err);
	return 0;
}

int team_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, team_delete, .id = id);
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
	return db_query(store->db, NULL, err, organization_join, .organization_id = organization_id, .user_id = user_id,
		.new_id = id_new("ou").text);
}

int owners_join(struct store *store, const char *organization_id, const char *user_id, struct err *err)
{
	if (organization_join(store, organization_id, user_id, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, owners_join, .organization_id = organization_id, .user_id = user_id);
}

/* ---- members ---- */

struct membering {
	struct store *store;
	const char *team_id;
	enum member_name by;
	const json_t *names;
};

static int add_in(void *data, struct err *err)
{
	const struct membering *m = data;
	_cleanup_(db_array_release) struct db_array names = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&names, m->names);
	if (db_query(m->store->db, &rows, err, team_members_add, .team_id = m->team_id, .names = db_array_text(&names),
		    .by_membership = m->by == BY_MEMBERSHIP) < 0)
		return -1;
	if ((size_t)row_of(team_members_add, &rows, 0)->found < json_array_size(m->names))
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

	if (db_query(store->db, NULL, err, owners_lock, .organization_id = organization_id) < 0 ||
		db_query(store->db, &rows, err, owners_any, .organization_id = organization_id) < 0)
		return -1;
	return rows.count ? 0 : err_at(err, "/data", "The last owner of an organization can't be removed");
}

static int remove_in(void *data, struct err *err)
{
	const struct membering *m = data;
	_cleanup_(db_array_release) struct db_array names = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows team = ROWS_INIT;

	db_array_add_texts(&names, m->names);
	if (db_query(m->store->db, &team, err, team_lock, .team_id = m->team_id) < 0 ||
		db_query(m->store->db, NULL, err, team_members_remove, .team_id = m->team_id,
			.names = db_array_text(&names), .by_membership = m->by == BY_MEMBERSHIP) < 0)
		return -1;
	if (!team.count || !text_equal(row_of(team_lock, &team, 0)->kind, team_kinds[TEAM_OWNERS]))
		return 0;
	return owners_check(m->store, row_of(team_lock, &team, 0)->organization_id, err);
}

int team_members_remove(
	struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err)
{
	struct membering m = {store, team_id, by, names};

	return db_transaction(store->db, remove_in, &m, err);
}
