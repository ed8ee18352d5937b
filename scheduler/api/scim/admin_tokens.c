/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/scim/admin.h"
#include "scheduler/auth/identity/scim_tokens.h"
#include "scheduler/auth/identity/scim_tokens.sql.h"

/* Tokens of identity providers, for site admins. */

enum { MAX_DESCRIPTION = 512 };

static json_t *token_resource(const struct scim_token_row *token, const char *text)
{
	return resource_new("authentication-tokens", token->id,
		json_pack("{so so so so so}", "description", json_string_or_null(token->description), "created-at",
			time_shown(token->created_at), "last-used-at", time_shown(token->last_used_at), "expired-at",
			time_shown(token->expired_at), "token", json_string_or_null(text)),
		json_pack("{so}", "created-by", to_one("users", token->creator_id)));
}

int admin_scim_tokens_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *list;

	if (scim_tokens_list(req->store, &rows, err) < 0)
		return -1;
	list = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(list, token_resource(row_of(scim_token, &rows, i), NULL));
	return respond_resource(res, 200, list);
}

int admin_scim_tokens_create(struct request *req, struct response *res, struct err *err)
{
	struct scim_token_order order = {.created_by = req->actor.user.text};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *token = NULL;

	/* Clients send the options without a type. */
	if (body_check(req, "authentication-tokens", err) < 0 ||
		body_text(req, "description", &order.description, err) < 0 ||
		body_text(req, "expired-at", &order.expires_at, err) < 0)
		return -1;
	if (order.expires_at && !time_valid(order.expires_at))
		return err_set(err, ERR_MALFORMED, "Expired at must be a time such as 2026-11-21T01:25:00Z");
	if (strlen(text_or_empty(order.description)) > MAX_DESCRIPTION)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			MAX_DESCRIPTION);
	if (scim_token_create(req->store, &order, &token, &rows, err) < 0)
		return -1;
	return respond_resource(res, 201, token_resource(row_of(scim_token, &rows, 0), token));
}

int scim_token_show(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (scim_token_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, token_resource(row_of(scim_token, &rows, 0), NULL));
}

int scim_token_end(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (scim_token_read(req->store, id, &rows, err) < 0 || scim_token_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int admin_scim_tokens_read(struct request *req, struct response *res, struct err *err)
{
	return scim_token_show(req, res, param(req, "scim_token"), err);
}

int admin_scim_tokens_delete(struct request *req, struct response *res, struct err *err)
{
	return scim_token_end(req, res, param(req, "scim_token"), err);
}
