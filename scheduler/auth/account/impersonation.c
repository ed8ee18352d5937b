/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/account/impersonation.h"

#include "scheduler/auth/account/impersonation.sql.h"
#include "scheduler/auth/sessions.h"

static int target_check(struct store *store, const struct impersonation *impersonation, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct impersonation_target_row *user;

	if (db_query(store->db, &rows, err, impersonation_target, .user_id = impersonation->user_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "user not found");
	user = row_of(impersonation_target, &rows, 0);
	if (user->is_service_account || user->is_suspended || !user->username ||
		text_equal(impersonation->user_id, impersonation->admin_id))
		return err_set(err, ERR_FORBIDDEN,
			"nobody can act as this user: it is you, or a service account, or suspended, or only invited");
	return 0;
}

int impersonation_begin(
	struct store *store, const struct impersonation *impersonation, char **ret_cookie, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *cookie = crypto_token("");
	char hash[SHA256_HEX_SIZE], new_hash[SHA256_HEX_SIZE];

	if (target_check(store, impersonation, err) < 0)
		return -1;
	session_hash(text_or_empty(impersonation->cookie), hash);
	session_hash(cookie, new_hash);
	if (db_query(store->db, &rows, err, impersonation_begin, .hash = hash, .new_hash = new_hash,
		    .user_id = impersonation->user_id, .reason = impersonation->reason) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_FORBIDDEN, "acting as another user needs a session of your own in a browser");
	*ret_cookie = cookie;
	cookie = NULL;
	return 0;
}

int impersonation_end(struct store *store, const char *cookie, char **ret_cookie, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *own = crypto_token("");
	char hash[SHA256_HEX_SIZE], new_hash[SHA256_HEX_SIZE];

	session_hash(text_or_empty(cookie), hash);
	session_hash(own, new_hash);
	if (db_query(store->db, &rows, err, impersonation_end, .hash = hash, .new_hash = new_hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_MALFORMED, "you do not act as another user");
	*ret_cookie = own;
	own = NULL;
	return 0;
}
