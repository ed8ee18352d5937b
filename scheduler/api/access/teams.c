/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/teams.h"

#include "scheduler/api/api.h"

#include "scheduler/api/access/permissions.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/teams.sql.h"

enum { MAX_NAME = 90, MAX_SSO = 255 };

/* ---- the resource ---- */

bool team_is_owners(const struct team_row *row)
{
	return text_equal(row->kind, team_kinds[TEAM_OWNERS]);
}

static bool team_is_linked(const struct team_row *row)
{
	return row->scim_group_name != NULL;
}

/* Refuses a change of a team whose members are those of a SCIM group. */
static int unlinked_check(const struct team_row *row, const char *what, struct err *err)
{
	if (!team_is_linked(row))
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"%s: the team follows the SCIM group %s. Change the group at the identity provider, or have a site "
		"administrator end the mapping",
		what, row->scim_group_name);
}

static json_t *team_permissions(const struct team_row *row)
{
	bool owners = team_is_owners(row), plain = !owners, own = !team_is_linked(row);
	bool manage = rights_may(row->rights, owners ? CAN_MANAGE_ORGANIZATION : CAN_MANAGE_TEAMS);
	bool members = rights_may(row->rights, owners ? CAN_MANAGE_ORGANIZATION : CAN_MANAGE_MEMBERSHIP);
	bool access = rights_may(row->rights, CAN_MANAGE_ORGANIZATION_ACCESS);

	return json_pack("{sb sb sb sb sb sb sb sb sb}", "can-destroy", plain && own && manage, "can-update-membership",
		own && members, "can-update-organization-access", plain && access, "can-update-name",
		plain && own && manage, "can-update-visibility", plain && manage, "can-update-sso-team-id",
		own && manage, "can-update-member-token-management", manage, "can-update-api-token", manage,
		"can-view-api-token", manage);
}

/* All flags of the organization access. The owners team has all of them. */
static json_t *access_show(const struct team_row *row)
{
	json_auto_t *set = json_shown(row->organization_access);
	json_t *shown = json_object();

	for (size_t i = 0; i < organization_accesses.rows_count; i++) {
		const char *name = organization_accesses.rows[i].name;

		json_object_set_new(
			shown, name, json_boolean(team_is_owners(row) || json_is_true(json_object_get(set, name))));
	}
	return shown;
}

/* Shown while SCIM is enabled. */
static json_t *scim_shown(const struct team_row *team)
{
	return json_pack("{sb so so sb}", "scim-linked", team_is_linked(team), "scim-group-name",
		json_string_or_null(team->scim_group_name), "scim-updated-at", time_shown(team->scim_synced_at),
		"scim-sync-paused", team->scim_paused);
}

static json_t *team_resource(const void *of_row)
{
	const struct team_row *team = of_row;
	const char *id = team->id;
	_cleanup_(freep) char *self = mem_printf("/api/v2/teams/%s", id);
	json_t *resource = resource_new("teams", id,
		json_pack("{so so so sI sI so sb sb so}", "name", json_string_or_null(team->name), "visibility",
			json_string_or_null(team->visibility), "sso-team-id", json_string_or_null(team->sso_team_id),
			"users-count", (json_int_t)ids_count(team->users), "non-service-users-count",
			(json_int_t)ids_count(team->users), "organization-access", access_show(team),
			"allow-member-token-management", team->allow_member_token_management, "is-unified", 0,
			"permissions", team_permissions(team)),
		json_pack("{so so so}", "organization", to_one("organizations", team->organization_name), "users",
			many_shown("users", team->users), "organization-memberships",
			many_shown("organization-memberships", team->memberships)));

	json_object_update_new(json_object_get(resource, "relationships"),
		json_pack("{so so}", "authentication-token",
			relation_linked(json_object(), "teams", id, "authentication-token"), "authentication-tokens",
			relation_linked(json_object(), "teams", id, "authentication-tokens")));
	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	if (team->scim_enabled)
		json_object_update_new(json_object_get(resource, "attributes"), scim_shown(team));
	return resource;
}

/* ---- reading ---- */

static const struct inclusion includes[] = {
	{"users", "teams", "users", &kind_users},
	{"organization-memberships", "teams", "organization-memberships", &kind_memberships},
};

const struct resource_kind kind_teams = {
	.type = "teams", .ask = teams_read_all, .show = team_resource, KIND_INCLUDES(includes)};

int team_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (team_read(req->store, param(req, "team"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(team, ret_rows, 0)->organization_id}, "team", err);
}

/* Only owners change the owners team and its members. */
static int team_to_change(struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct team_row *team;

	if (team_in_path(req, ret_rows, err) < 0)
		return -1;
	team = row_of(team, ret_rows, 0);
	if (!team_is_owners(team))
		return 0;
	return may_with(
		req, CAN_MANAGE_ORGANIZATION, (struct place){.organization = team->organization_id}, "team", err);
}

static int team_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (team_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_teams, &rows}, err);
}

int teams_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_teams, err) < 0 || team_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_teams, &rows}, err);
}

static int page_of_teams(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct team_list list = {.organization_id = scope->organization.text,
		.search = query(req, "q"),
		.names = query(req, "filter[names]"),
		.limit = page->size,
		.offset = page->offset};

	return teams_list(req->store, &list, ret_rows, err);
}

int teams_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_teams, scope_organization, page_of_teams}, err);
}

/* ---- input ---- */

static bool sees_secrets(const struct request *req, const char *organization_id)
{
	return response_scope_all(&req->actor.scope, organization_id, CAN_SEE_SECRET_TEAMS);
}

/* Only users who see secret teams may make a team secret: it would disappear for others. */
static int visibility_check(
	const struct request *req, const char *organization_id, const struct team *team, struct err *err)
{
	static const char pointer[] = "/data/attributes/visibility";

	if (!text_equal(team->visibility, "secret") && !text_equal(team->visibility, "organization"))
		return err_at(err, pointer, "Visibility must be secret or organization");
	if (body_has(req, "visibility") && text_equal(team->visibility, "secret") &&
		!sees_secrets(req, organization_id))
		return err_at(err, pointer, "Visibility can be secret only for those who see secret teams");
	return 0;
}

/* The organization access of a team needs a permission of its own to change. */
static int access_read_input(
	const struct request *req, const char *organization_id, struct team *team, json_t **ret_access, struct err *err)
{
	const json_t *sent = json_at(req->body, "data.attributes.organization-access");
	const struct access_level *level = access_level_find(&organization_accesses, "custom");

	if (access_read(&organization_accesses,
		    &(struct access_change){
			    level, sent, team->organization_access, "/data/attributes/organization-access"},
		    ret_access, err) < 0)
		return -1;
	if (json_equal(*ret_access, team->organization_access))
		return 0;
	team->organization_access = *ret_access;
	return may_with(req, CAN_MANAGE_ORGANIZATION_ACCESS, (struct place){.organization = organization_id},
		"organization access", err);
}

/* Reads a body into *team. Attributes that were not sent stay as they are. *ret_access, a new reference, holds the
 * team's flags. */
static int input_read(
	const struct request *req, const char *organization_id, struct team *team, json_t **ret_access, struct err *err)
{
	if (body_check(req, "teams", err) < 0 || body_text(req, "name", &team->name, err) < 0 ||
		body_text(req, "visibility", &team->visibility, err) < 0 ||
		body_text(req, "sso-team-id", &team->sso_team_id, err) < 0 ||
		body_bool(req, "allow-member-token-management", &team->allow_member_token_management, err) < 0 ||
		title_check("Name", "/data/attributes/name", team->name, MAX_NAME, err) < 0 ||
		length_check("Sso team id", "/data/attributes/sso-team-id", team->sso_team_id, MAX_SSO, err) < 0 ||
		visibility_check(req, organization_id, team, err) < 0)
		return -1;
	return access_read_input(req, organization_id, team, ret_access, err);
}

/* ---- creating and changing ---- */

int teams_create(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *access = NULL, *none = NULL;
	struct team team = {.kind = TEAM_PLAIN, .visibility = "secret", .allow_member_token_management = true};
	struct scope scope;
	struct id id;

	none = json_loads(organization_accesses.levels[0].detail, 0, NULL);
	team.organization_access = none;
	if (scope_organization(req, &scope, err) < 0)
		return -1;
	if (!sees_secrets(req, scope.organization.text))
		team.visibility = "organization";
	if (input_read(req, scope.organization.text, &team, &access, err) < 0 ||
		team_create(req->store, scope.organization.text, &team, &id, err) < 0)
		return -1;
	return team_show(req, res, 201, id.text, err);
}

/* Of the owners team only the SSO id and the management of tokens by members can be changed. */
static int owners_unchanged(const struct team_row *old, const struct team *team, struct err *err)
{
	if (!team_is_owners(old))
		return 0;
	if (!text_equal(team->name, old->name))
		return err_at(err, "/data/attributes/name", "Name of the owners team can't be changed");
	if (!text_equal(team->visibility, old->visibility))
		return err_at(err, "/data/attributes/visibility", "Visibility of the owners team can't be changed");
	return 0;
}

int teams_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *access = NULL, *old = NULL;
	const struct team_row *row;
	struct team team;

	if (team_to_change(req, &rows, err) < 0)
		return -1;
	row = row_of(team, &rows, 0);
	old = team_is_owners(row) ? access_show(row) : json_shown(row->organization_access);
	team = (struct team){.kind = team_is_owners(row) ? TEAM_OWNERS : TEAM_PLAIN,
		.name = row->name,
		.visibility = row->visibility,
		.sso_team_id = row->sso_team_id,
		.organization_access = old,
		.allow_member_token_management = row->allow_member_token_management};
	if (input_read(req, row->organization_id, &team, &access, err) < 0 || owners_unchanged(row, &team, err) < 0)
		return -1;
	if (!text_equal(team.name, row->name) && unlinked_check(row, "The team can't be renamed", err) < 0)
		return -1;
	if (team_is_linked(row))
		team.sso_team_id = row->sso_team_id;
	if (team.organization_access == old)
		team.organization_access = NULL; /* unchanged, so not written: it may have been reduced meanwhile */
	if (team_update(req->store, row->id, &team, err) < 0)
		return -1;
	return team_show(req, res, 200, row->id, err);
}

int teams_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct team_row *team;

	if (team_in_path(req, &rows, err) < 0)
		return -1;
	team = row_of(team, &rows, 0);
	if (team_is_owners(team))
		return err_at(err, "/data", "The owners team can't be deleted");
	if (unlinked_check(team, "The team can't be deleted", err) < 0)
		return -1;
	if (team_delete(req->store, team->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- members ---- */

/* Indexed by enum member_name. */
static const struct relation member_relations[] = {
	[BY_USERNAME] = {.name = "users", .type = "users"},
	[BY_MEMBERSHIP] = {.name = "organization-memberships", .type = "organization-memberships"},
};

static int members_of_path(
	struct request *req, struct rows *ret_rows, size_t *ret_by, json_t **ret_names, struct err *err)
{
	if (team_to_change(req, ret_rows, err) < 0 ||
		relation_in_path(req, member_relations, ARRAY_LEN(member_relations), ret_by, err) < 0)
		return -1;
	return body_linkage(req, member_relations[*ret_by].type, ret_names, err);
}

static int members_change(struct request *req, struct response *res,
	int (*change)(
		struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err),
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *names = NULL;
	size_t by;

	if (members_of_path(req, &rows, &by, &names, err) < 0 ||
		unlinked_check(row_of(team, &rows, 0), "Members can't be changed", err) < 0 ||
		change(req->store, row_of(team, &rows, 0)->id, (enum member_name)by, names, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int teams_join(struct request *req, struct response *res, struct err *err)
{
	return members_change(req, res, team_members_add, err);
}

int teams_leave(struct request *req, struct response *res, struct err *err)
{
	return members_change(req, res, team_members_remove, err);
}
