/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/account/impersonation.h"

#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/http/audit_note.h"

/* Site admins who act as another user (auth/account/impersonation.h). */

static void cookie_set(const struct request *req, struct response *res, const char *cookie)
{
	_cleanup_(freep) char *header = session_set_cookie(req->store, cookie);

	http_add_header(res->http, "Set-Cookie", header);
}

/* The body is {"reason": "..."}, as Terraform Enterprise has it. */
int admin_users_impersonate(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *cookie = NULL;
	const struct impersonation impersonation = {
		.cookie = req->bearer ? NULL : http_cookie(req->http, SESSION_COOKIE),
		.admin_id = req->actor.user.text,
		.user_id = param(req, "user"),
		.reason = text_or_empty(json_string_at(req->body, "reason")),
	};

	if (req->actor.impersonator.text[0])
		return err_set(err, ERR_FORBIDDEN, "you act as another user already");
	if (!impersonation.reason[strspn(impersonation.reason, " \t\r\n")])
		return err_set(err, ERR_MALFORMED, "a reason is needed");
	if (strlen(impersonation.reason) > MAX_IMPERSONATION_REASON)
		return err_set(err, ERR_MALFORMED, "the reason is longer than %d bytes", MAX_IMPERSONATION_REASON);
	if (impersonation_begin(req->store, &impersonation, &cookie, err) < 0)
		return -1;
	audit_note_detail(req->audit, "reason", impersonation.reason);
	cookie_set(req, res, cookie);
	return respond_empty(res, 204);
}

int admin_users_unimpersonate(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *cookie = NULL;

	if (impersonation_end(req->store, req->bearer ? NULL : http_cookie(req->http, SESSION_COOKIE), &cookie, err) <
		0)
		return -1;
	text_copy(req->audit->type, sizeof(req->audit->type), "user");
	text_copy(req->audit->resource, sizeof(req->audit->resource), req->actor.user.text);
	cookie_set(req, res, cookie);
	return respond_empty(res, 204);
}
