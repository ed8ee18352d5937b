/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/access/emails.h"
#include "scheduler/api/access/teams.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/memberships.h"
#include "scheduler/store/access/memberships.sql.h"
#include "scheduler/store/access/teams.h"

static json_t *membership_resource(const void *of_row)
{
	const struct membership_row *membership = of_row;
	return resource_new("organization-memberships", membership->id,
		json_pack("{so so so so sb}", "status", json_string_or_null(membership->status), "email",
			json_string_or_null(membership->email), "username", json_string_or_null(membership->username),
			"created-at", time_shown(membership->created_at), "is-org-two-factor-required",
			membership->needs_factor),
		json_pack("{so so so}", "organization", to_one("organizations", membership->organization_name), "user",
			to_one("users", membership->user_id), "teams", many_shown("teams", membership->teams)));
}

/* ---- reading ---- */

static const struct inclusion includes[] = {
	{"user", "organization-memberships", "user", &kind_users},
	{"teams", "organization-memberships", "teams", &kind_teams},
	{"organization", "organization-memberships", "organization", &kind_organizations},
};

const struct resource_kind kind_memberships = {.type = "organization-memberships",
	.ask = memberships_read_all,
	.show = membership_resource,
	KIND_INCLUDES(includes)};

static int membership_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (membership_read(req->store, param(req, "membership"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(membership, ret_rows, 0)->organization_id},
		"organization membership", err);
}

static int page_of_memberships(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct membership_list list = {.organization_id = scope->organization.text,
		.search = query(req, "q"),
		.emails = query(req, "filter[email]"),
		.status = query(req, "filter[status]"),
		.limit = page->size,
		.offset = page->offset};

	return memberships_list(req->store, &list, ret_rows, err);
}

int memberships_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_memberships, scope_organization, page_of_memberships}, err);
}

static int page_of_own(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	(void)scope;
	return memberships_of_user(
		req->store, req->actor.user.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

/* The memberships of the requester. */
int memberships_own(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_memberships, .read = page_of_own}, err);
}

static int scope_team(const struct request *req, struct scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	(void)ret_scope;
	return team_in_path(req, &rows, err);
}

static int page_of_team(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	(void)scope;
	return memberships_of_team(req->store, param(req, "team"), text_or_null(query(req, "filter[status]")),
		(struct list_range){page->size, page->offset}, ret_rows, err);
}

int memberships_of_team_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_memberships, scope_team, page_of_team}, err);
}

int memberships_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_memberships, err) < 0 || membership_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_memberships, &rows}, err);
}

/* ---- changing ---- */

/* Only owners add members to the owners team. */
static int teams_check(const struct request *req, const char *organization_id, const json_t *team_ids, struct err *err)
{
	bool owners;

	if (teams_include_owners(req->store, team_ids, &owners, err) < 0)
		return -1;
	if (!owners)
		return 0;
	return may_with(req, CAN_MANAGE_ORGANIZATION, (struct place){.organization = organization_id}, "team", err);
}

/* The answer always includes the user. */
static int created_show(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, users = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	json_auto_t *included = json_array();

	if (membership_read(req->store, id, &rows, err) < 0)
		return -1;
	db_array_add(&ids, row_of(membership, &rows, 0)->user_id);
	if (kind_read(req->store, &kind_users, &ids, &users, err) < 0 ||
		rows_show(req->store, &kind_users, &users, included, err) < 0)
		return -1;
	return respond_including(res, 201, membership_resource(row_of(membership, &rows, 0)), json_incref(included));
}

int memberships_create(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *team_ids = NULL;
	struct invitation invitation = {.email = NULL};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || body_check(req, "organization-memberships", err) < 0 ||
		body_text(req, "email", &invitation.email, err) < 0 || email_check(invitation.email, err) < 0 ||
		body_relations(req, "teams", "teams", &team_ids, err) < 0 ||
		teams_check(req, scope.organization.text, team_ids, err) < 0)
		return -1;
	invitation.organization_id = scope.organization.text;
	invitation.team_ids = team_ids;
	if (membership_create(req->store, &invitation, &id, err) < 0)
		return -1;
	return created_show(req, res, id.text, err);
}

/* Only owners remove an owner. Only actors who see all teams of a member remove that member. */
static int removal_check(const struct request *req, const struct membership_row *membership, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *organization_id = membership->organization_id;

	if (membership_guarded(req->store, organization_id, membership->user_id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return may_with(req,
		row_of(membership_guarded, &rows, 0)->owners ? CAN_MANAGE_ORGANIZATION : CAN_SEE_SECRET_TEAMS,
		(struct place){.organization = organization_id}, "organization membership", err);
}

int memberships_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (membership_in_path(req, &rows, err) < 0 || removal_check(req, row_of(membership, &rows, 0), err) < 0 ||
		membership_delete(req->store, row_of(membership, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
