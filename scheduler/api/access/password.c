/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/password.h"

#include "scheduler/api/api.h"

#include "common/clock.h"
#include "scheduler/api/access/account.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/api/request_audit.h"

static int change_check(const struct password_change *change, struct err *err)
{
	if (!change->current)
		return err_at(err, "/data/attributes/current_password", "Current password can't be blank");
	if (password_check("/data/attributes/password", change->wanted, err) < 0)
		return -1;
	if (!text_equal(change->wanted, change->again))
		return err_at(err, "/data/attributes/password_confirmation",
			"Password confirmation doesn't match the password");
	return 0;
}

int password_current_check(struct request *req, const char *current, struct err *err)
{
	const char *key = req->actor.user.text;
	double now = (double)clock_mono_ms() / 1000;
	struct id user;

	if (!bucket_take(req->services->buckets, LIMIT_PASSWORD_CHANGE, key, now).taken)
		return err_set(err, ERR_BUSY, "there were too many attempts: try again in half a minute");
	if (password_verify(req->store, req->actor.username, current, &user, err) < 0)
		return -1;
	if (!text_equal(user.text, req->actor.user.text))
		return err_at(err, "/data/attributes/current_password", "Current password is incorrect");
	bucket_return(req->services->buckets, LIMIT_PASSWORD_CHANGE, key, now);
	return 0;
}

int password_change(struct request *req, const struct password_change *change, struct err *err)
{
	const char *cookie = req->bearer ? NULL : http_cookie(req->http, SESSION_COOKIE);
	char hash[SHA256_HEX_SIZE];

	if (cookie)
		session_hash(cookie, hash);
	if (req->actor.impersonator.text[0])
		return err_set(err, ERR_FORBIDDEN, "a password can't be changed while you act as another user");
	if (change_check(change, err) < 0 || password_current_check(req, change->current, err) < 0 ||
		request_audit_begin(req, err) < 0)
		return -1;
	return password_set(req->store, req->actor.user.text, change->wanted, cookie ? hash : NULL, err);
}

int account_password(struct request *req, struct response *res, struct err *err)
{
	struct password_change change = {.current = NULL};

	if (body_check(req, "users", err) < 0 || body_text(req, "current_password", &change.current, err) < 0 ||
		body_text(req, "password", &change.wanted, err) < 0 ||
		body_text(req, "password_confirmation", &change.again, err) < 0 ||
		password_change(req, &change, err) < 0)
		return -1;
	return account_details(req, res, err);
}
