/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/renewals.h"

#include "scheduler/auth/vcs/renewals.sql.h"

#include <stdlib.h>

enum { MAX_RETRY_AFTER = 3600, FIRST_PAUSE = 30, MAX_PAUSE = 900 };

/* A row whose time is sooner than that of the others is announced. PostgreSQL joins equal notices of a transaction. */
static int announce(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, renewals_announce);
}

int renewal_plan_token(struct store *store, const char *connection_id, long long expires_in, struct err *err)
{
	if (expires_in <= 0)
		return db_query(store->db, NULL, err, renewal_plan_token_delete, .connection_id = connection_id);
	if (db_query(store->db, NULL, err, renewal_plan_token_insert, .connection_id = connection_id,
		    .expires_in = expires_in) < 0)
		return -1;
	return announce(store, err);
}

int renewal_plan_installation(struct store *store, const char *installation_id, long long in_seconds, struct err *err)
{
	if (db_query(store->db, NULL, err, renewal_plan_installation, .installation_id = installation_id,
		    .in_seconds = in_seconds) < 0)
		return -1;
	return announce(store, err);
}

int renewal_hasten(struct store *store, const char *repository_id, bool *ret_again, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct renewals_hasten_row *counts;

	if (db_query(store->db, &rows, err, renewals_hasten, .repository_id = repository_id) < 0)
		return -1;
	counts = row_of(renewals_hasten, &rows, 0);
	*ret_again = counts->known > 0;
	return counts->hastened ? announce(store, err) : 0;
}

int renewals_take(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, renewals_take, .max = max);
}

int renewals_wait(struct store *store, long long *ret_ms, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct renewals_wait_row *next;

	if (db_query(store->db, &rows, err, renewals_wait) < 0)
		return -1;
	next = row_of(renewals_wait, &rows, 0);
	*ret_ms = next->ms_null ? -1 : next->ms < 0 ? 0 : next->ms;
	return 0;
}

int renewal_is_current(struct store *store, const struct renewal *renewal, bool *ret_current, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, renewal_is_current, .subject_id = renewal->subject_id,
		    .generation = renewal->generation) < 0)
		return -1;
	*ret_current = rows.count > 0;
	return 0;
}

static long long pause_of(const struct renewal *renewal, long long retry_after)
{
	long long pause = FIRST_PAUSE;

	if (retry_after > 0)
		return retry_after < MAX_RETRY_AFTER ? retry_after : MAX_RETRY_AFTER;
	for (long long i = 0; i < renewal->failures && pause < MAX_PAUSE; i++)
		pause *= 2;
	return pause < MAX_PAUSE ? pause : MAX_PAUSE;
}

int renewal_postpone(struct store *store, const struct renewal *renewal, long long retry_after, struct err *err)
{
	return db_query(store->db, NULL, err, renewal_postpone, .subject_id = renewal->subject_id,
		.generation = renewal->generation, .pause = pause_of(renewal, retry_after));
}

int renewal_note(struct store *store, const char *connection_id, const char *message, struct err *err)
{
	return db_query(store->db, NULL, err, renewal_note, .new_id = id_new("ve").text, .connection_id = connection_id,
		.message = message);
}

int renewal_end(struct store *store, const struct renewal *renewal, struct err *err)
{
	return db_query(store->db, NULL, err, renewal_end, .subject_id = renewal->subject_id,
		.generation = renewal->generation);
}
