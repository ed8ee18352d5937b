/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/scim/scim.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/rights/rights.h"
#include "scheduler/store/access/scim/scim_groups.h"
#include "scheduler/store/access/scim/scim_settings.sql.h"
#include "scheduler/store/access/scim/scim_teams.h"
#include "scheduler/store/access/scim/scim_teams.sql.h"

/* Teams that follow SCIM groups, for site admins. The sentences are those that clients know. */

/* The team of the path, which is locked. */
static int mapping_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (scim_mapping_read(req->store, param(req, "team"), ret_rows, err) < 0)
		return -1;
	audit_note_place(
		req->audit, &(struct place){.organization = row_of(scim_mapping_read, ret_rows, 0)->organization_id});
	return 0;
}

static int mapped_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (mapping_in_path(req, ret_rows, err) < 0)
		return -1;
	if (!row_of(scim_mapping_read, ret_rows, 0)->group_id)
		return err_set(err, ERR_CONFLICT, "Team is not linked to a SCIM group");
	return 0;
}

/* The documentation and clients name the type differently. */
static int type_check(const struct request *req, struct err *err)
{
	if (text_equal(json_string_at(req->body, "data.type"), "scim-group-mapping"))
		return 0;
	return body_check(req, "scim-group-mappings", err);
}

static int group_check(struct request *req, const char *group_id, struct err *err)
{
	_cleanup_(rows_release) struct rows settings = ROWS_INIT, group = ROWS_INIT;
	static const char pointer[] = "/data/attributes/scim-group-id";

	if (!text_or_null(group_id))
		return err_at(err, pointer, "Scim group id can't be blank");
	if (scim_group_lock(req->store, group_id, &group, err) < 0 ||
		scim_settings_read(req->store, &settings, err) < 0)
		return -1;
	if (text_equal(row_of(scim_settings_read, &settings, 0)->group_id, group_id))
		return err_at(err, pointer, "The site admin group cannot be linked to a team");
	return 0;
}

int team_mappings_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct scim_mapping_read_row *team;
	const char *group_id = NULL;

	if (type_check(req, err) < 0 || body_text(req, "scim-group-id", &group_id, err) < 0 ||
		mapping_in_path(req, &rows, err) < 0)
		return -1;
	team = row_of(scim_mapping_read, &rows, 0);
	if (text_equal(team->kind, team_kinds[TEAM_OWNERS]))
		return err_at(err, "/data", "Owners team SCIM linking is not yet supported");
	if (team->group_id)
		return err_set(err, ERR_CONFLICT, "Team is already linked to a SCIM group");
	if (group_check(req, group_id, err) < 0 ||
		scim_mapping_create(req->store, param(req, "team"), group_id, err) < 0 ||
		scim_follow_group(req, group_id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* A change of the group that is not committed yet has left the team out: resuming waits for it. */
static int mapping_resume(struct request *req, const char *group_id, struct err *err)
{
	_cleanup_(rows_release) struct rows group = ROWS_INIT;

	if (scim_group_lock(req->store, group_id, &group, err) < 0 ||
		scim_mapping_pause(req->store, param(req, "team"), false, err) < 0)
		return -1;
	return scim_follow_group(req, group_id, err);
}

int team_mappings_update(struct request *req, struct response *res, struct err *err)
{
	const json_t *sent = json_object_get(json_at(req->body, "data.attributes"), "scim-sync-paused");
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct scim_mapping_read_row *team;

	if (type_check(req, err) < 0 || mapped_in_path(req, &rows, err) < 0)
		return -1;
	if (!json_is_boolean(sent))
		return err_at(err, "/data/attributes/scim-sync-paused", "Scim sync paused must be true or false");
	team = row_of(scim_mapping_read, &rows, 0);
	if (json_is_true(sent) == team->is_paused)
		return respond_empty(res, 204);
	if ((json_is_true(sent) ? scim_mapping_pause(req->store, param(req, "team"), true, err)
				: mapping_resume(req, team->group_id, err)) < 0)
		return -1;
	return respond_empty(res, 204);
}

int team_mappings_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (mapped_in_path(req, &rows, err) < 0 || scim_mapping_delete(req->store, param(req, "team"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}
