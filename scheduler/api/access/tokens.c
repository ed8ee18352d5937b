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

enum { MAX_DESCRIPTION = 512 };

/* ---- the resource ---- */

static const struct inclusion includes[] = {{"created_by", "authentication-tokens", "created-by", &kind_users}};

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
	json_t *attributes = json_pack("{s:o, s:o, s:o, s:o, s:n}", "description",
		json_string_or_null(token->description), "created-at", time_shown(token->created_at), "last-used-at",
		time_shown(token->last_used_at), "expired-at", time_shown(token->expired_at), "token");

	return resource_new("authentication-tokens", token->id, attributes,
		json_pack("{s:o, s:o}", "created-by", to_one("users", token->creator_id), "team",
			to_one("teams", team_shown(token))));
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

int tokens_create(struct request *req, struct response *res, struct err *err)
{
	struct token_order order = {.user_id = req->actor.user.text,
		.created_by = req->actor.user.text,
		.provider_id = req->actor.provider.text};
	char fallback[32];

	if (user_check(req, err) < 0 || token_order_read_expiring(req, &order, fallback, err) < 0)
		return -1;
	return token_make(req, res, &order, err);
}

int tokens_index(struct request *req, struct response *res, struct err *err)
{
	struct token_list list = {.user_id = req->actor.user.text};

	if (user_check(req, err) < 0)
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
