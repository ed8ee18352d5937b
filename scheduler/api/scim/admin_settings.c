/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/scim/scim.h"
#include "scheduler/store/access/identity_providers.h"
#include "scheduler/store/access/scim/scim_groups.h"
#include "scheduler/store/access/scim/scim_groups.sql.h"
#include "scheduler/store/access/scim/scim_settings.sql.h"
#include "scheduler/store/access/scim/scim_teams.h"

/* The settings of SCIM and its groups, for site admins. */

int admin_scim_settings_show(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct scim_settings_read_row *row;

	if (scim_settings_read(req->store, &rows, err) < 0)
		return -1;
	row = row_of(scim_settings_read, &rows, 0);
	return respond_resource(res, 200,
		resource_new("scim-settings", "scim",
			json_pack("{sb sb so so so s{sb sb sb}}", "enabled", row->is_enabled, "paused", row->is_paused,
				"site-admin-group-scim-id", json_string_or_null(row->group_id),
				"site-admin-group-display-name", json_string_or_null(row->group_name),
				"identity-provider-id", json_string_or_null(row->provider_id), "permissions",
				"can-read", true, "can-update", true, "can-destroy", true),
			json_pack("{so}", "authentication-tokens",
				relation_linked(json_object(), "admin", "scim-tokens", ""))));
}

static int enabled_check(const struct scim_settings_read_row *old, bool enabled, struct err *err)
{
	static const char pointer[] = "/data/attributes/enabled";

	if (!enabled && old->is_enabled)
		return err_at(err, pointer, "Enabled can't be false here: DELETE these settings to disable SCIM");
	if (enabled && !old->is_enabled && !old->has_provider)
		return err_at(err, pointer,
			"Enabled can't be true before people can sign in by SAML or OpenID Connect: configure that "
			"first");
	return 0;
}

/* Locks the group, so that its members stay until its rights are given. */
static int group_check(struct request *req, const struct scim_settings *settings, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!settings->group_id || scim_group_lock(req->store, settings->group_id, &rows, err) == 0)
		return 0;
	if (err->kind != ERR_NOT_FOUND)
		return -1;
	return err_at(err, "/data/attributes/site-admin-group-scim-id", "There is no SCIM group with this id");
}

static int provider_check(struct request *req, const char *provider_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!provider_id || identity_provider_read(req->store, provider_id, &rows, err) == 0)
		return 0;
	if (err->kind != ERR_NOT_FOUND)
		return -1;
	return err_at(err, "/data/attributes/identity-provider-id", "There is no identity provider with this id");
}

static int input_read(
	struct request *req, const struct scim_settings_read_row *old, struct scim_settings *settings, struct err *err)
{
	*settings = (struct scim_settings){.enabled = old->is_enabled, .paused = old->is_paused};
	settings->sets_group = body_has(req, "site-admin-group-scim-id");
	settings->sets_provider = body_has(req, "identity-provider-id");
	if (body_check(req, "scim-settings", err) < 0 || body_bool(req, "enabled", &settings->enabled, err) < 0 ||
		body_bool(req, "paused", &settings->paused, err) < 0 ||
		body_text(req, "site-admin-group-scim-id", &settings->group_id, err) < 0 ||
		body_text(req, "identity-provider-id", &settings->provider_id, err) < 0 ||
		enabled_check(old, settings->enabled, err) < 0 || group_check(req, settings, err) < 0)
		return -1;
	if (!settings->enabled && (settings->paused || settings->group_id))
		return err_at(
			err, "/data/attributes/enabled", "Enabled must be true before other settings are changed");
	return 0;
}

int admin_scim_settings_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scim_settings settings;

	if (scim_settings_read(req->store, &rows, err) < 0 ||
		input_read(req, row_of(scim_settings_read, &rows, 0), &settings, err) < 0)
		return -1;
	if (provider_check(req, settings.provider_id, err) < 0 || scim_settings_update(req->store, &settings, err) < 0)
		return -1;
	if (settings.sets_group &&
		(settings.group_id ? scim_follow_group(req, settings.group_id, err) : scim_admins_end(req, err)) < 0)
		return -1;
	return admin_scim_settings_show(req, res, err);
}

int admin_scim_settings_delete(struct request *req, struct response *res, struct err *err)
{
	return scim_disable(req->store, err) < 0 ? -1 : admin_scim_settings_show(req, res, err);
}

/* ---- groups ---- */

int admin_scim_groups_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;
	json_t *list;

	if (page_read(req, &page, err) < 0)
		return -1;
	const struct scim_group_search search = {text_or_null(query(req, "q")), page.size, page.offset};
	if (scim_groups_search(req->store, &search, &rows, err) < 0)
		return -1;
	list = json_array();
	for (int i = 0; i < rows.count && row_of(scim_groups_named, &rows, i)->id; i++) {
		const struct scim_groups_named_row *group = row_of(scim_groups_named, &rows, i);

		json_array_append_new(list,
			resource_new("scim-groups", group->id,
				json_pack("{ss sI so}", "name", group->display_name, "members-count",
					(json_int_t)group->members, "mapped-teams", json_shown(group->teams)),
				NULL));
	}
	page.total = row_of(scim_groups_named, &rows, 0)->total;
	return respond_page(req, res, &page, list, NULL);
}
