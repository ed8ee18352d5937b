/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/groups.h"

#include "common/log.h"
#include "scheduler/auth/identity/groups.sql.h"
#include "scheduler/store/access/identity_providers.h"
#include "scheduler/store/access/identity_providers.sql.h"
#include "scheduler/store/access/users.h"
#include "scheduler/store/access/users.sql.h"

/* The teams that the groups lead to, and their organizations. */
struct goal {
	struct db_array teams, organizations, new_ids;
};

static void goal_release(struct goal *goal)
{
	db_array_release(&goal->teams);
	db_array_release(&goal->organizations);
	db_array_release(&goal->new_ids);
}

static int goal_read(
	struct store *store, const struct external_person *person, const char *kind, struct goal *goal, struct err *err)
{
	_cleanup_(db_array_release) struct db_array groups = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&groups, person->groups);
	if (db_query(store->db, &rows, err, groups_teams, .kind = kind, .provider_id = person->provider_id,
		    .groups = &groups) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		db_array_add(&goal->teams, row_of(groups_teams, &rows, i)->team_id);
		db_array_add(&goal->organizations, row_of(groups_teams, &rows, i)->organization_id);
		db_array_add(&goal->new_ids, id_new("ou").text);
	}
	return 0;
}

static int goal_join(struct store *store, const struct external_person *person, const char *user_id, struct goal *goal,
	struct err *err)
{
	if (db_query(store->db, NULL, err, groups_organizations_join, .user_id = user_id,
		    .organizations = &goal->organizations, .new_ids = &goal->new_ids) < 0)
		return -1;
	return db_query(store->db, NULL, err, groups_teams_join, .user_id = user_id, .provider_id = person->provider_id,
		.teams = &goal->teams, .organizations = &goal->organizations);
}

static int goal_leave(struct store *store, const struct groups_teams_leave_params *params, struct err *err)
{
	_cleanup_(rows_release) struct rows kept = ROWS_INIT;

	if (db_query(store->db, NULL, err, user_owned_lock, .id = params->user_id) < 0 ||
		db_query(store->db, NULL, err, groups_teams_leave, .kind = params->kind,
			.provider_id = params->provider_id, .user_id = params->user_id, .teams = params->teams) < 0 ||
		db_query(store->db, &kept, err, groups_owners_kept, .kind = params->kind,
			.provider_id = params->provider_id, .user_id = params->user_id, .teams = params->teams) < 0)
		return -1;
	for (int i = 0; i < kept.count; i++)
		log_warn("the last owner of an organization stays, though no group of the identity provider leads "
			 "there",
			"user", params->user_id, "organization", row_of(groups_owners_kept, &kept, i)->organization_id,
			NULL);
	return db_query(store->db, NULL, err, groups_organizations_leave, .user_id = params->user_id);
}

int groups_apply(struct store *store, const struct external_person *person, const char *user_id, struct err *err)
{
	_cleanup_(goal_release) struct goal goal = {DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT};
	_cleanup_(rows_release) struct rows provider = ROWS_INIT;
	const char *kind;

	if (identity_provider_read(store, person->provider_id, &provider, err) < 0)
		return -1;
	kind = row_of(identity_provider, &provider, 0)->kind;
	if (goal_read(store, person, kind, &goal, err) < 0 || goal_join(store, person, user_id, &goal, err) < 0)
		return -1;
	return goal_leave(store,
		&(struct groups_teams_leave_params){
			.kind = kind, .provider_id = person->provider_id, .user_id = user_id, .teams = &goal.teams},
		err);
}
