/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/account.h"

#include "scheduler/api/access/emails.h"
#include "scheduler/api/api.h"
#include "scheduler/api/kinds.h"
#include "scheduler/store/access/users.h"
#include "scheduler/store/access/users.sql.h"
#include "scheduler/store/names.h"

/* Clients expect a picture. This generic one reveals no address. */
static const char avatar[] = "https://www.gravatar.com/avatar/00000000000000000000000000000000?s=100&d=mm";

json_t *user_resource(const void *of_row)
{
	const struct user_row *user = of_row;
	bool admin = user->is_site_admin;
	json_t *attributes = json_pack("{s:o, s:o, s:s, s:b, s:b, s:b, s:b, s:n, s:{s:b, s:b}, s:{s:b, s:b, s:b, s:b}}",
		"username", json_string_or_null(user->username), "email", json_string_or_null(user->email),
		"avatar-url", avatar, "is-service-account", user->is_service_account, "is-site-admin", admin,
		"is-admin", admin, "v2-only", 0, "unconfirmed-email", "two-factor", "enabled", user->has_factor,
		"verified", user->has_factor, "permissions", "can-create-organizations", 1, "can-change-email", 1,
		"can-change-username", 1, "can-manage-user-tokens", 1);

	if (user->scim_enabled)
		json_object_update_new(attributes,
			json_pack("{sb so so}", "is-scim-managed", user->scim_user_name != NULL, "scim-username",
				json_string_or_null(user->scim_user_name), "scim-updated-at",
				time_shown(user->scim_updated_at)));
	return resource_new("users", user->id, attributes,
		json_pack("{so}", "authentication-tokens",
			relation_linked(json_object(), "users", user->id, "authentication-tokens")));
}

const struct resource_kind kind_users = {.type = "users", .ask = users_read_all, .show = user_resource};

int account_details(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (user_read(req->store, req->actor.user.text, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, user_resource(row_of(user, &rows, 0)));
}

int users_show(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *requester = req->actor.is_site_admin ? NULL : req->actor.user.text;

	if (user_read_known(req->store, param(req, "user"), requester, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, user_resource(row_of(user, &rows, 0)));
}

int account_update(struct request *req, struct response *res, struct err *err)
{
	const char *username = NULL, *email = NULL;

	if (body_check(req, "users", err) < 0 || body_text(req, "username", &username, err) < 0 ||
		body_text(req, "email", &email, err) < 0)
		return -1;
	if (username && name_check("Username", "/data/attributes/username", username, err) < 0)
		return -1;
	if (email && email_check(email, err) < 0)
		return -1;
	if (user_update(req->store, req->actor.user.text, username, email, err) < 0)
		return -1;
	return account_details(req, res, err);
}
