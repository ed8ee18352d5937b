/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/auth/account/account_sessions.h"
#include "scheduler/auth/account/account_sessions.sql.h"
#include "scheduler/auth/sessions.h"

/* The sessions of the caller, in a browser or with a token. */

static const char *own_cookie(const struct request *req)
{
	return req->bearer ? NULL : http_cookie(req->http, SESSION_COOKIE);
}

static json_t *session_resource(const struct account_session_row *session, const char *present)
{
	json_t *attributes = json_pack("{so so ss so so so so so sb}", "address", json_string_or_null(session->address),
		"user-agent", json_string_or_null(session->agent), "method", session->method, "factors",
		json_shown(session->factors), "provider", json_string_or_null(session->provider), "impersonator",
		json_string_or_null(session->impersonator), "created-at", time_shown(session->created_at),
		"last-used-at", time_shown(session->last_seen_at), "is-current", text_equal(session->hash, present));

	return resource_new("sessions", session->id, attributes, NULL);
}

int account_sessions_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *list = json_array();
	char present[SHA256_HEX_SIZE] = "";
	struct page page;

	if (page_read(req, &page, err) < 0 || account_sessions(req->store, req->actor.user.text, &rows, err) < 0)
		return -1;
	if (own_cookie(req))
		session_hash(own_cookie(req), present);
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(list, session_resource(row_of(account_session, &rows, i), present));
	return respond_slice(req, res, &page, list, NULL);
}

int account_sessions_delete(struct request *req, struct response *res, struct err *err)
{
	if (account_session_end(req->store, req->actor.user.text, param(req, "session"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int account_sessions_delete_others(struct request *req, struct response *res, struct err *err)
{
	if (account_sessions_end_others(req->store, req->actor.user.text, own_cookie(req), err) < 0)
		return -1;
	return respond_empty(res, 204);
}
