/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/teams.h"
#include "scheduler/api/access/tokens.h"
#include "scheduler/api/api.h"
#include "scheduler/auth/tokens.sql.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/teams.sql.h"

/* Tokens of teams and organizations. A team has any number of tokens with distinct descriptions, and one without. An
 * organization has one token, and one that only reads its audit trail. */

/* ---- permissions ---- */

/* Members may manage the tokens of a team that allows it. */
static int member_may(const struct request *req, const struct team_row *team, bool *ret_may, struct err *err)
{
	*ret_may = false;
	if (req->actor.is_service || !team->allow_member_token_management)
		return 0;
	return team_has_member(req->store, team->id, req->actor.user.text, ret_may, err);
}

int team_tokens_may(const struct request *req, const struct team_row *team, struct err *err)
{
	enum permission needed = team_is_owners(team) ? CAN_MANAGE_ORGANIZATION : CAN_MANAGE_TEAMS;
	bool member;

	if (member_may(req, team, &member, err) < 0)
		return -1;
	if (member)
		needed = CAN_READ_ORGANIZATION; /* still checked: the organization may refuse tokens of users */
	return may_with(req, needed, (struct place){.organization = team->organization_id}, "team", err);
}

static int team_of_tokens(struct request *req, struct rows *ret_team, struct err *err)
{
	if (team_read(req->store, param(req, "team"), ret_team, err) < 0)
		return -1;
	return team_tokens_may(req, row_of(team, ret_team, 0), err);
}

/* ---- tokens of a team ---- */

static int team_token_make(struct request *req, struct response *res, bool single, struct err *err)
{
	_cleanup_(rows_release) struct rows team = ROWS_INIT;
	struct token_order order = {.created_by = req->actor.user.text};
	char fallback[32];

	if (team_of_tokens(req, &team, err) < 0 || token_order_read_expiring(req, &order, fallback, err) < 0)
		return -1;
	order.team_id = row_of(team, &team, 0)->id;
	order.user_id = row_of(team, &team, 0)->user_id;
	if (single)
		order.description = NULL;
	return token_make(req, res, &order, err);
}

int team_tokens_create(struct request *req, struct response *res, struct err *err)
{
	return team_token_make(req, res, false, err);
}

int team_token_create(struct request *req, struct response *res, struct err *err)
{
	return team_token_make(req, res, true, err);
}

static int single_in_path(struct request *req, struct rows *ret_token, struct err *err)
{
	_cleanup_(rows_release) struct rows team = ROWS_INIT;

	if (team_of_tokens(req, &team, err) < 0)
		return -1;
	return token_of_team(req->store, row_of(team, &team, 0)->id, ret_token, err);
}

int team_token_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (single_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_tokens, &rows}, err);
}

int team_token_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (single_in_path(req, &rows, err) < 0 || token_delete(req->store, row_of(token, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

static int page_of_team_tokens(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	struct team_token_list list = {.organization_id = scope->organization.text,
		.search = query(req, "q"),
		.sort = query(req, "sort"),
		.limit = page->size,
		.offset = page->offset};
	long long days;

	if (unused_days_read(req, &days, &list.unused_days, err) < 0)
		return -1;
	return tokens_of_teams(req->store, &list, ret_rows, err);
}

int team_tokens_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_tokens, scope_organization, page_of_team_tokens}, err);
}

/* Whether the actor may revoke the token of one of the organization's teams. */
static int revoke_check(const struct request *req, const char *organization_id, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows token = ROWS_INIT, team = ROWS_INIT;
	const char *team_id;

	if (token_read(req->store, id, &token, err) < 0)
		return -1;
	team_id = row_of(token, &token, 0)->team_id;
	if (!team_id || !text_equal(row_of(token, &token, 0)->organization_id, organization_id))
		return err_set(err, ERR_NOT_FOUND, "token not found");
	return team_read(req->store, team_id, &team, err) < 0 ? -1 : team_tokens_may(req, row_of(team, &team, 0), err);
}

/* Revokes all of the tokens or none. */
int team_tokens_revoke(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *ids = NULL;
	struct scope scope;
	const json_t *id;
	size_t i;

	if (scope_organization(req, &scope, err) < 0 || body_linkage(req, "authentication-tokens", &ids, err) < 0)
		return -1;
	json_array_foreach(ids, i, id)
	{
		if (revoke_check(req, scope.organization.text, json_string_value(id), err) < 0)
			return -1;
	}
	return tokens_delete_all(req->store, ids, err) < 0 ? -1 : respond_empty(res, 204);
}

/* ---- tokens of an organization ---- */

/* The internal team as which the token acts: columns id and user_id. Only its tokens refer to it. */
static int hidden_team(struct request *req, struct rows *ret_team, struct err *err)
{
	const char *wanted = query(req, "token");
	bool audit = text_equal(wanted, "audit-trails");
	struct scope scope;

	if (wanted && *wanted && !audit)
		return err_set(err, ERR_MALFORMED, "token must be audit-trails, or left out");
	if (scope_organization(req, &scope, err) < 0)
		return -1;
	return team_built_in(
		req->store, scope.organization.text, audit ? TEAM_AUDIT : TEAM_ORGANIZATION, ret_team, err);
}

int organization_token_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows team = ROWS_INIT;
	struct token_order order = {.created_by = req->actor.user.text};
	char fallback[32];

	if (hidden_team(req, &team, err) < 0 || token_order_read_expiring(req, &order, fallback, err) < 0)
		return -1;
	order.team_id = row_of(team_built_in, &team, 0)->id;
	order.user_id = row_of(team_built_in, &team, 0)->user_id;
	order.description = NULL;
	return token_make(req, res, &order, err);
}

/* The token as a list, which is empty if there is none. */
int organization_tokens_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows team = ROWS_INIT;
	struct token_list list = {0};

	if (hidden_team(req, &team, err) < 0)
		return -1;
	list.team_id = row_of(team_built_in, &team, 0)->id;
	return tokens_show(req, res, &list, err);
}

static int organization_token(struct request *req, struct rows *ret_token, struct err *err)
{
	_cleanup_(rows_release) struct rows team = ROWS_INIT;

	if (hidden_team(req, &team, err) < 0)
		return -1;
	return token_of_team(req->store, row_of(team_built_in, &team, 0)->id, ret_token, err);
}

int organization_token_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (organization_token(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_tokens, &rows}, err);
}

int organization_token_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (organization_token(req, &rows, err) < 0 || token_delete(req->store, row_of(token, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
