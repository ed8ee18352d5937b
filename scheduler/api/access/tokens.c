/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/tokens.h"

#include "scheduler/api/include_resolver.h"

#include "scheduler/api/api.h"
#include "scheduler/api/scim/admin.h"

#include <string.h>

#include "scheduler/auth/tokens.sql.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/teams.sql.h"
#include "scheduler/store/workspaces/workspaces.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

enum { MAX_DESCRIPTION = 512 };

/* ---- the resource ---- */

static const struct inclusion includes[] = {
	{"created_by", "authentication-tokens", "created-by", &kind_users},
	{"team", "authentication-tokens", "team", &kind_teams},
};

/* Hides the internal teams as which an organization's own tokens act. */
static const char *team_shown(const struct token_row *row)
{
	const char *kind = row->team_kind;
	bool shown = text_equal(kind, team_kinds[TEAM_OWNERS]) || text_equal(kind, team_kinds[TEAM_PLAIN]);

	return shown ? row->team_id : NULL;
}

static json_t *token_resource(const void *of_row)
{
	const struct token_row *token = of_row;
	json_t *attributes =
		json_pack("{s:o, s:o, s:o, s:o, s:b, s:n}", "description", json_string_or_null(token->description),
			"created-at", time_shown(token->created_at), "last-used-at", time_shown(token->last_used_at),
			"expired-at", time_shown(token->expired_at), "read-only", token->read_only, "token");

	return resource_new("authentication-tokens", token->id, attributes,
		json_pack("{s:o, s:o, s:o}", "created-by", to_one("users", token->creator_id), "team",
			to_one("teams", team_shown(token)), "workspace", to_one("workspaces", token->workspace_id)));
}

const struct resource_kind kind_tokens = {
	.type = "authentication-tokens", .show = token_resource, KIND_INCLUDES(includes)};

int tokens_show(struct request *req, struct response *res, struct token_list *list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	if (includes_check(req, &kind_tokens, err) < 0 || page_read(req, &page, err) < 0)
		return -1;
	list->limit = page.size;
	list->offset = page.offset;
	if (tokens_list(req->store, list, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_tokens, &rows}, err);
}

/* ---- creating ---- */

int token_order_read(const struct request *req, struct token_order *order, struct err *err)
{
	if (body_text(req, "description", &order->description, err) < 0 ||
		body_text(req, "expired-at", &order->expires_at, err) < 0)
		return -1;
	if (order->expires_at && !time_valid(order->expires_at))
		return err_at(
			err, "/data/attributes/expired-at", "Expired at must be a time such as 2026-11-21T01:25:00Z");
	if (strlen(text_or_empty(order->description)) > MAX_DESCRIPTION)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			MAX_DESCRIPTION);
	return 0;
}

int token_order_read_expiring(const struct request *req, struct token_order *order, char fallback[32], struct err *err)
{
	bool empty = !req->body || (json_is_object(req->body) && !json_object_size(req->body));

	if (!empty && body_check(req, "authentication-tokens", err) < 0)
		return -1;
	if (token_order_read(req, order, err) < 0)
		return -1;
	token_expiry_usual(fallback);
	order->expires_by_default = !order->expires_at;
	if (!order->expires_at)
		order->expires_at = fallback;
	return 0;
}

int token_make(struct request *req, struct response *res, const struct token_order *order, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *token = NULL;
	struct id id;
	json_t *resource;

	if (token_create(req->store, order, &token, &id, err) < 0 || token_read(req->store, id.text, &rows, err) < 0)
		return -1;
	resource = token_resource(row_of(token, &rows, 0));
	json_object_set_new(json_object_get(resource, "attributes"), "token", json_string(token));
	return respond_resource(res, 201, resource);
}

/* ---- tokens of a user ---- */

/* The path's user must be the actor: the tokens of other users are hidden. */
static int user_check(const struct request *req, struct err *err)
{
	return text_equal(param(req, "user"), req->actor.user.text) ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

/* The scope of the new token: `read-only`, and a workspace that the person sees. */
static int scope_read(const struct request *req, struct token_order *order, struct err *err)
{
	struct err why = ERR_INIT;

	if (body_bool(req, "read-only", &order->read_only, err) < 0 ||
		body_to_one(req, "workspace", "workspaces", &order->workspace_id, err) < 0)
		return -1;
	if (!order->workspace_id || token_workspace_visible(req, order->workspace_id, &why) == 0)
		return 0;
	if (why.kind != ERR_NOT_FOUND) {
		*err = why;
		return -1;
	}
	return err_at(err, "/data/relationships/workspace", "Workspace must exist");
}

int tokens_create(struct request *req, struct response *res, struct err *err)
{
	struct token_order order = {.user_id = req->actor.user.text,
		.created_by = req->actor.user.text,
		.provider_id = req->actor.provider.text};
	char fallback[32];

	if (user_check(req, err) < 0 || token_order_read_expiring(req, &order, fallback, err) < 0 ||
		scope_read(req, &order, err) < 0)
		return -1;
	return token_make(req, res, &order, err);
}

int unused_days_read(const struct request *req, long long *days, const long long **ret_days, struct err *err)
{
	enum { MAX_DAYS = 36500 };
	const char *text = query(req, "filter[unused-days]");

	*ret_days = NULL;
	if (!text || !*text)
		return 0;
	if (text_number(text, 0, MAX_DAYS, days) < 0)
		return err_set(
			err, ERR_MALFORMED, "filter[unused-days] must be a number of days from 0 to %d", MAX_DAYS);
	*ret_days = days;
	return 0;
}

int unused_days_check(const json_t *set, struct err *err)
{
	enum { MAX_DAYS = 3650 };
	long long days = json_int_at(set, "unused-token-days", 0);

	if (days >= 0 && days <= MAX_DAYS)
		return 0;
	return err_at(err, "/data/attributes/unused-token-days", "Unused token days must be 1 to %d, or 0 for no limit",
		MAX_DAYS);
}

int token_workspace_visible(const struct request *req, const char *workspace_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct workspace_lookup_row *workspace;

	if (!id_valid(workspace_id, "ws"))
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	if (workspace_lookup(req->store, workspace_id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	workspace = row_of(workspace_lookup, &rows, 0);
	return actor_may(req->store, &req->actor, CAN_READ_WORKSPACE,
		(struct place){.organization = workspace->organization_id, .workspace = workspace_id}, err);
}

int tokens_index(struct request *req, struct response *res, struct err *err)
{
	struct token_list list = {.user_id = req->actor.user.text};
	long long days;

	if (user_check(req, err) < 0 || unused_days_read(req, &days, &list.unused_days, err) < 0)
		return -1;
	return tokens_show(req, res, &list, err);
}

/* ---- any token, by its id ---- */

/* Checks the permission for a token of a team, or of the organization itself. */
static int token_of_team_may(const struct request *req, const struct token_row *token, struct err *err)
{
	_cleanup_(rows_release) struct rows team = ROWS_INIT;

	if (!team_shown(token))
		return may_with(req, CAN_MANAGE_ORGANIZATION, (struct place){.organization = token->organization_id},
			"token", err);
	if (team_read(req->store, token->team_id, &team, err) < 0)
		return err->kind == ERR_NOT_FOUND ? err_set(err, ERR_NOT_FOUND, "token not found") : -1;
	return team_tokens_may(req, row_of(team, &team, 0), err);
}

/* The token of the path, if it is the actor's own or the actor may manage it. */
static int token_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct token_row *token;

	if (token_read(req->store, param(req, "token"), ret_rows, err) < 0)
		return -1;
	token = row_of(token, ret_rows, 0);
	if (token->pool_id)
		return may_with(
			req, CAN_MANAGE_POOLS, (struct place){.organization = token->organization_id}, "token", err);
	if (token->team_id)
		return token_of_team_may(req, token, err);
	if (text_equal(token->user_id, req->actor.user.text) || (token->notifier && req->actor.is_site_admin))
		return 0;
	return err_set(err, ERR_NOT_FOUND, "token not found");
}

/* Site admins reach tokens of SCIM by this path, too. */
static bool is_scim_token(const struct request *req, const struct err *err)
{
	return err->kind == ERR_NOT_FOUND && req->actor.is_site_admin && !req->actor.is_service;
}

int tokens_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_tokens, err) < 0)
		return -1;
	if (token_in_path(req, &rows, err) < 0)
		return is_scim_token(req, err) ? scim_token_show(req, res, param(req, "token"), err) : -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_tokens, &rows}, err);
}

int tokens_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (token_in_path(req, &rows, err) < 0)
		return is_scim_token(req, err) ? scim_token_end(req, res, param(req, "token"), err) : -1;
	if (token_delete(req->store, row_of(token, &rows, 0)->id, err) < 0)
		return -1;
	if (row_of(token, &rows, 0)->pool_id)
		claim_waiters_dismiss(req->services->waiters, req->store->db, row_of(token, &rows, 0)->pool_id);
	return respond_empty(res, 204);
}
