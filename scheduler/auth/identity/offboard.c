/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/offboard.h"

#include "scheduler/auth/identity/offboard.sql.h"

void offboarding_release(struct offboarding *offboarding)
{
	rows_release(&offboarding->tokens);
	rows_release(&offboarding->runs);
	rows_release(&offboarding->owned);
}

struct offboard {
	struct store *store;
	const char *id;
	struct offboarding *result;
};

static int user_suspend_first(struct offboard *o, struct err *err)
{
	_cleanup_(rows_release) struct rows user = ROWS_INIT;

	if (db_query(o->store->db, &user, err, offboard_suspend, .id = o->id) < 0)
		return -1;
	if (!user.count)
		return err_set(err, ERR_NOT_FOUND, "user not found");
	o->result->was_suspended = row_of(offboard_suspend, &user, 0)->was_suspended;
	text_copy(o->result->username, sizeof(o->result->username),
		text_or_empty(row_of(offboard_suspend, &user, 0)->username));
	return 0;
}

static int offboard_in(void *data, struct err *err)
{
	struct offboard *o = data;
	struct db *db = o->store->db;
	_cleanup_(rows_release) struct rows sessions = ROWS_INIT, run_tokens = ROWS_INIT;

	offboarding_release(o->result);
	*o->result = (struct offboarding){.tokens = ROWS_INIT, .runs = ROWS_INIT, .owned = ROWS_INIT};
	if (user_suspend_first(o, err) < 0 || db_ask(db, &sessions, err, offboard_sessions, .id = o->id) < 0 ||
		db_ask(db, &o->result->tokens, err, offboard_tokens, .id = o->id) < 0 ||
		db_ask(db, &run_tokens, err, offboard_run_tokens, .id = o->id) < 0 ||
		db_ask(db, &o->result->runs, err, offboard_runs, .id = o->id) < 0 ||
		db_query(db, &o->result->owned, err, offboard_owned, .id = o->id) < 0)
		return -1;
	o->result->sessions = row_of(offboard_sessions, &sessions, 0)->ended;
	o->result->run_tokens = row_of(offboard_run_tokens, &run_tokens, 0)->ended;
	return 0;
}

int user_offboard(struct store *store, const char *id, struct offboarding *ret_offboarding, struct err *err)
{
	struct offboard o = {store, id, ret_offboarding};

	*ret_offboarding = (struct offboarding){.tokens = ROWS_INIT, .runs = ROWS_INIT, .owned = ROWS_INIT};
	return db_transaction(store->db, offboard_in, &o, err);
}

int user_forget(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, offboard_leave, .id = id);
}
