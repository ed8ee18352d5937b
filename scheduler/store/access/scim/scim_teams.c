/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/scim/scim_teams.h"

#include "scheduler/store/access/scim/scim_settings.sql.h"
#include "scheduler/store/access/scim/scim_teams.sql.h"

int scim_settings_read(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_settings_read);
}

int scim_settings_update(struct store *store, const struct scim_settings *settings, struct err *err)
{
	return db_query(store->db, NULL, err, scim_settings_update, .enabled = settings->enabled,
		.paused = settings->paused, .sets_group = settings->sets_group, .group_id = settings->group_id,
		.sets_provider = settings->sets_provider, .provider_id = settings->provider_id);
}

int scim_disable(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err, scim_mappings_end) < 0)
		return -1;
	return db_query(store->db, NULL, err, scim_disable);
}

/* ---- mappings ---- */

int scim_mapping_read(struct store *store, const char *team_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, scim_mapping_read, .team_id = team_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "team not found");
}

int scim_mapping_create(struct store *store, const char *team_id, const char *group_id, struct err *err)
{
	return db_query(store->db, NULL, err, scim_mapping_create, .team_id = team_id, .group_id = group_id);
}

int scim_mapping_pause(struct store *store, const char *team_id, bool paused, struct err *err)
{
	return db_query(store->db, NULL, err, scim_mapping_pause, .team_id = team_id, .paused = paused);
}

int scim_mapping_delete(struct store *store, const char *team_id, struct err *err)
{
	return db_query(store->db, NULL, err, scim_mapping_delete, .team_id = team_id);
}

/* ---- members ---- */

void scim_effects_release(struct scim_effects *effects)
{
	rows_release(&effects->members);
	rows_release(&effects->admins);
}

static int organizations_leave(struct store *store, const struct rows *members, struct err *err)
{
	_cleanup_(db_array_release) struct db_array left = DB_ARRAY_INIT;

	for (int i = 0; i < members->count; i++)
		if (!row_of(scim_teams_follow, members, i)->joined)
			db_array_add(&left, row_of(scim_teams_follow, members, i)->user_id);
	return left.count ? db_query(store->db, NULL, err, scim_organizations_leave, .user_ids = &left) : 0;
}

int scim_teams_follow(struct store *store, struct db_array *groups, struct db_array *users,
	struct scim_effects *ret_effects, struct err *err)
{
	*ret_effects = (struct scim_effects){ROWS_INIT, ROWS_INIT};
	if (!groups->count)
		return 0;
	if (db_queue(store->db, err, scim_mapped_teams_lock, .group_ids = groups) < 0 ||
		db_ask(store->db, &ret_effects->admins, err, scim_site_admins_follow, .group_ids = groups) < 0 ||
		db_query(store->db, &ret_effects->members, err, scim_teams_follow, .group_ids = groups,
			.users = users) < 0)
		return -1;
	return organizations_leave(store, &ret_effects->members, err);
}

int scim_teams_release(struct store *store, const char *group_id, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array groups = DB_ARRAY_INIT, left = DB_ARRAY_INIT;

	db_array_add(&groups, group_id);
	if (db_queue(store->db, err, scim_mapped_teams_lock, .group_ids = &groups) < 0 ||
		db_query(store->db, ret_rows, err, scim_teams_release, .group_id = group_id) < 0)
		return -1;
	for (int i = 0; i < ret_rows->count; i++)
		db_array_add(&left, row_of(scim_teams_release, ret_rows, i)->user_id);
	return left.count ? db_query(store->db, NULL, err, scim_organizations_leave, .user_ids = &left) : 0;
}

int scim_site_admins_end(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_site_admins_end);
}
