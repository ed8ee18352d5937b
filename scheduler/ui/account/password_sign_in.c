/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/auth/passwords.h"
#include "scheduler/ui/account/factor_step.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/sign_in_limits.h"

/* Sign-in with a password. */

static int password_refuse(struct request *req, struct response *res, struct err *err)
{
	return sign_in_refuse(req, res,
		&(struct sign_in_refusal){.status = 401,
			.username = page_sent(req, "username"),
			.method = "password",
			.sentence = "The username or the password is wrong.",
			.return_path = page_sent(req, "return")},
		err);
}

static int attempts_refuse(struct request *req, struct response *res, struct err *err)
{
	text_copy(res->http->retry_after, sizeof(res->http->retry_after), "30");
	return sign_in_show(req, res,
		&(struct sign_in_refusal){.status = 429,
			.sentence = "There were too many attempts. Try again in half a minute.",
			.return_path = page_sent(req, "return")},
		err);
}

int ui_sign_in(struct request *req, struct response *res, struct err *err)
{
	const char *username = page_sent(req, "username"), *password = page_sent(req, "password");
	struct sign_in_limits limits = sign_in_limits_of(req, username);
	bool allowed = false;
	struct id user;

	if (!page_form_ours(req))
		return page_say(req, res, 403, "Not from here", "The form was sent from another site.");
	if (strlen(username) > MAX_SIGN_IN_NAME || strlen(password) > MAX_PASSWORD)
		return sign_in_show(req, res,
			&(struct sign_in_refusal){.status = 401, .sentence = "The username or the password is wrong."},
			err);
	if (sign_in_limits_take(req, &limits, &allowed, err) < 0)
		return -1;
	if (!allowed)
		return attempts_refuse(req, res, err);
	if (password_verify(req->store, username, password, &user, err) < 0)
		return -1;
	if (!user.text[0])
		return password_refuse(req, res, err);
	sign_in_limits_return(req, &limits);
	return factor_step(req, res,
		&(struct sign_in){.user = &user,
			.username = username,
			.method = "password",
			.return_path = page_sent(req, "return")},
		err);
}
