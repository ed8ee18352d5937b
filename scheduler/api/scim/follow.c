/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/request_audit.h"
#include "scheduler/api/scim/scim.h"
#include "scheduler/store/access/scim/scim_teams.h"
#include "scheduler/store/access/scim/scim_teams.sql.h"

static int membership_note(struct request *req, const struct scim_teams_follow_row *change, struct err *err)
{
	return request_audit_event(req,
		&(const struct request_event){.organization = change->organization_id,
			.action = change->joined ? "add_member" : "remove_member",
			.type = "team",
			.id = change->team_id,
			.details = json_pack("{ss ss}", "user", change->user_id, "source", "scim")},
		err);
}

static int admin_note(struct request *req, const char *user_id, bool granted, struct err *err)
{
	return request_audit_event(req,
		&(const struct request_event){.action = granted ? "grant_admin" : "revoke_admin",
			.type = "user",
			.id = user_id,
			.details = json_pack("{ss}", "source", "scim")},
		err);
}

static int effects_note(struct request *req, const struct scim_effects *effects, struct err *err)
{
	for (int i = 0; i < effects->members.count; i++)
		if (membership_note(req, row_of(scim_teams_follow, &effects->members, i), err) < 0)
			return -1;
	for (int i = 0; i < effects->admins.count; i++) {
		const struct scim_site_admins_follow_row *row = row_of(scim_site_admins_follow, &effects->admins, i);

		if (admin_note(req, row->user_id, row->granted, err) < 0)
			return -1;
	}
	return 0;
}

int scim_follow(struct request *req, struct db_array *groups, struct db_array *users, struct err *err)
{
	struct scim_effects effects;
	int result = scim_teams_follow(req->store, groups, users, &effects, err);

	if (result == 0)
		result = effects_note(req, &effects, err);
	scim_effects_release(&effects);
	return result;
}

int scim_follow_group(struct request *req, const char *group_id, struct err *err)
{
	_cleanup_(db_array_release) struct db_array groups = DB_ARRAY_INIT;

	db_array_add(&groups, group_id);
	return scim_follow(req, &groups, NULL, err);
}

int scim_release(struct request *req, const char *group_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (scim_teams_release(req->store, group_id, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct scim_teams_release_row *row = row_of(scim_teams_release, &rows, i);
		const struct scim_teams_follow_row change = {row->team_id, row->organization_id, row->user_id, false};

		if (membership_note(req, &change, err) < 0)
			return -1;
	}
	return 0;
}

int scim_admins_end(struct request *req, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (scim_site_admins_end(req->store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (admin_note(req, row_of(scim_site_admins_end, &rows, i)->user_id, false, err) < 0)
			return -1;
	return 0;
}
