/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/account.h"
#include "scheduler/api/access/offboarding.h"
#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/auth/account/break_glass.h"
#include "scheduler/auth/factors/factors.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/store/access/users.h"
#include "scheduler/store/access/users.sql.h"

/* All users of the installation, for site admins. */

static json_t *admin_user_resource(const void *of_row)
{
	const struct user_row *user = of_row;
	json_t *resource = user_resource(user), *attributes = json_object_get(resource, "attributes");

	json_object_set_new(attributes, "is-suspended", json_boolean(user->is_suspended));
	json_object_set_new(attributes, "is-break-glass", json_boolean(user->is_break_glass));
	json_object_set_new(resource, "relationships",
		json_pack("{so}", "organizations", many_shown("organizations", user->organizations)));
	return resource;
}

static const struct inclusion includes[] = {{"organizations", "users", "organizations", &kind_organizations}};

static const struct resource_kind kind_admin_users = {
	.type = "users", .show = admin_user_resource, KIND_INCLUDES(includes)};

static int flag_read(const struct request *req, const char *name, const char **ret_value, struct err *err)
{
	const char *value = text_or_null(query(req, name));

	if (value && !text_equal(value, "true") && !text_equal(value, "false"))
		return err_set(err, ERR_MALFORMED, "%s must be true or false", name);
	*ret_value = value;
	return 0;
}

int admin_users_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct user_list list = {.search = query(req, "q")};
	struct page page;

	if (includes_check(req, &kind_admin_users, err) < 0 || page_read(req, &page, err) < 0 ||
		flag_read(req, "filter[admin]", &list.admin, err) < 0 ||
		flag_read(req, "filter[suspended]", &list.suspended, err) < 0)
		return -1;
	list.limit = page.size;
	list.offset = page.offset;
	if (users_list(req->store, &list, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_admin_users, &rows}, err);
}

static int admin_user_show(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (user_read_for_site(req->store, param(req, "user"), &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_admin_users, &rows}, err);
}

int admin_users_read(struct request *req, struct response *res, struct err *err)
{
	if (includes_check(req, &kind_admin_users, err) < 0)
		return -1;
	return admin_user_show(req, res, err);
}

/* A site admin must not remove their own rights: the installation could be left without one. */
static int other_user_check(const struct request *req, struct err *err)
{
	if (text_equal(param(req, "user"), req->actor.user.text))
		return err_set(err, ERR_INVALID, "site admins can't do this to themselves: another one has to");
	return 0;
}

static int admin_user_act(struct request *req, struct response *res,
	int (*act)(struct store *store, const char *id, bool wanted, struct err *err), bool wanted, struct err *err)
{
	if (other_user_check(req, err) < 0 || act(req->store, param(req, "user"), wanted, err) < 0)
		return -1;
	return admin_user_show(req, res, err);
}

int admin_users_suspend(struct request *req, struct response *res, struct err *err)
{
	if (other_user_check(req, err) < 0 || user_end_access(req, param(req, "user"), err) < 0 ||
		password_alternatives_keep(req->store, err) < 0)
		return -1;
	return admin_user_show(req, res, err);
}

static int reinstate(struct store *store, const char *id, bool wanted, struct err *err)
{
	(void)wanted;
	return user_reinstate(store, id, err);
}

int admin_users_unsuspend(struct request *req, struct response *res, struct err *err)
{
	return admin_user_act(req, res, reinstate, false, err);
}

int admin_users_grant(struct request *req, struct response *res, struct err *err)
{
	return admin_user_act(req, res, user_set_site_admin, true, err);
}

int admin_users_revoke(struct request *req, struct response *res, struct err *err)
{
	return admin_user_act(req, res, user_set_site_admin, false, err);
}

int admin_users_grant_break_glass(struct request *req, struct response *res, struct err *err)
{
	if (break_glass_set(req->store, param(req, "user"), true, err) < 0)
		return -1;
	return admin_user_show(req, res, err);
}

int admin_users_revoke_break_glass(struct request *req, struct response *res, struct err *err)
{
	if (break_glass_set(req->store, param(req, "user"), false, err) < 0 ||
		password_alternatives_keep(req->store, err) < 0)
		return -1;
	return admin_user_show(req, res, err);
}

/* For people who have lost their factors and their recovery codes. */
int admin_users_second_factor(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (user_read_for_site(req->store, param(req, "user"), &rows, err) < 0 ||
		factors_remove_all(req->store, param(req, "user"), err) < 0)
		return -1;
	return admin_user_show(req, res, err);
}

int admin_users_delete(struct request *req, struct response *res, struct err *err)
{
	if (other_user_check(req, err) < 0 || user_delete(req->store, param(req, "user"), err) < 0 ||
		password_alternatives_keep(req->store, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
