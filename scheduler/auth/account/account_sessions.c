/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/account/account_sessions.h"

#include "scheduler/auth/account/account_sessions.sql.h"
#include "scheduler/auth/sessions.h"

int account_sessions(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, account_sessions, .user_id = user_id);
}

int account_session_end(struct store *store, const char *user_id, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, account_session_end, .user_id = user_id, .id = id) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_NOT_FOUND, "session not found");
}

int account_sessions_end_others(struct store *store, const char *user_id, const char *cookie, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	if (cookie)
		session_hash(cookie, hash);
	return sessions_end_others(store, user_id, cookie ? hash : NULL, err);
}

int session_confirmed(struct store *store, const char *cookie, bool *ret_confirmed, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	session_hash(text_or_empty(cookie), hash);
	if (db_query(store->db, &rows, err, session_confirmed, .hash = hash) < 0)
		return -1;
	*ret_confirmed = row_of(session_confirmed, &rows, 0)->confirmed;
	return 0;
}
