/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/users.h"

int user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select id, username, email, is_site_admin, created_at from users where id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

int user_update(struct store *store, const char *id, const char *username, const char *email, struct err *err)
{
	if (db_query(store->db, NULL, err,
		    "update users set username = coalesce($2, username), email = coalesce($3, email) where id = $1",
		    P_TEXT(id), P_TEXT(username), P_TEXT(email)) == 0)
		return 0;
	if (err->kind == ERR_CONFLICT && text_equal(db_constraint(store->db), "users_username"))
		return err_at(err, "/data/attributes/username", "Username has already been taken");
	return -1;
}
