/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/renewals.h"

#include <stdlib.h>

enum { MAX_RETRY_AFTER = 3600, FIRST_PAUSE = 30, MAX_PAUSE = 900 };

#define NOTIFY "select pg_notify('" RENEWALS_CHANNEL "', '')"

/* A row whose time is sooner than that of the others is announced. PostgreSQL joins equal notices of a transaction. */
static int announce(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, NOTIFY);
}

int renewal_plan_token(struct store *store, const char *connection_id, long long expires_in, struct err *err)
{
	if (expires_in <= 0)
		return db_query(store->db, NULL, err,
			"delete from vcs_renewals where token_id = (select id from vcs_tokens where connection_id = "
			"$1)",
			P_TEXT(connection_id));
	if (db_query(store->db, NULL, err,
		    "insert into vcs_renewals as r (token_id, due_at) select id, "
		    "now() + make_interval(secs => $2::bigint * 0.75) from vcs_tokens where connection_id = $1 "
		    "on conflict (token_id) do update set due_at = excluded.due_at, generation = r.generation + 1, "
		    "failures = 0, renewed_at = now()",
		    P_TEXT(connection_id), P_INT(expires_in)) < 0)
		return -1;
	return announce(store, err);
}

int renewal_plan_installation(struct store *store, const char *installation_id, long long in_seconds, struct err *err)
{
	if (db_query(store->db, NULL, err,
		    "insert into vcs_renewals as r (installation_id, due_at) values ($1, "
		    "now() + make_interval(secs => $2::bigint)) on conflict (installation_id) do update set "
		    "due_at = excluded.due_at, generation = r.generation + 1, failures = 0, renewed_at = now()",
		    P_TEXT(installation_id), P_INT(in_seconds)) < 0)
		return -1;
	return announce(store, err);
}

/* A token that was renewed within the last seconds is not renewed again: the refused login had the older one, or the
 * provider refuses for another reason. */
static const char hasten_sql[] =
	"with s as (select n.subject_id, n.renewed_at > now() - interval '10 seconds' as fresh from vcs_repositories r "
	"left join vcs_tokens t on t.connection_id = r.connection_id and t.refresh_sealed is not null and "
	"t.state <> 'refused' join vcs_renewals n on n.token_id = t.id or n.installation_id = r.installation_id "
	"where r.id = $1), "
	"h as (update vcs_renewals set due_at = least(due_at, now()) where subject_id = any(array(select subject_id "
	"from s where not fresh)) returning subject_id) "
	"select (select count(*) from s) as known, (select count(*) from h) as hastened";

int renewal_hasten(struct store *store, const char *repository_id, bool *ret_again, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, hasten_sql, P_TEXT(repository_id)) < 0)
		return -1;
	*ret_again = row_int(&rows, 0, "known") > 0;
	return row_int(&rows, 0, "hastened") ? announce(store, err) : 0;
}

int renewals_take(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"update vcs_renewals set due_at = now() + interval '1 minute' where subject_id = any(array("
		"select subject_id from vcs_renewals where due_at <= now() order by due_at limit $1 for update skip "
		"locked)) returning subject_id, token_id, installation_id, generation, failures",
		P_INT(max));
}

int renewals_wait(struct store *store, long long *ret_ms, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	long long ms;

	if (db_query(store->db, &rows, err,
		    "select ceil(extract(epoch from min(due_at) - now()) * 1000)::bigint as ms from vcs_renewals") < 0)
		return -1;
	ms = row_int(&rows, 0, "ms");
	*ret_ms = row_null(&rows, 0, "ms") ? -1 : ms < 0 ? 0 : ms;
	return 0;
}

int renewal_is_current(struct store *store, const struct renewal *renewal, bool *ret_current, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select 1 from vcs_renewals where subject_id = $1 and generation = $2 for update",
		    P_TEXT(renewal->subject_id), P_INT(renewal->generation)) < 0)
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
	return db_query(store->db, NULL, err,
		"update vcs_renewals set failures = failures + 1, due_at = now() + make_interval(secs => $3::bigint) "
		"where subject_id = $1 and generation = $2",
		P_TEXT(renewal->subject_id), P_INT(renewal->generation), P_INT(pause_of(renewal, retry_after)));
}

int renewal_note(struct store *store, const char *connection_id, const char *message, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into vcs_events (id, organization_id, connection_id, found_by, kind, state, level, message, "
		"done_at) select $1, organization_id, id, 'request', 'connection', 'done', 'error', $3, now() from "
		"vcs_connections "
		"where id = $2",
		P_TEXT(id_new("ve").text), P_TEXT(connection_id), P_TEXT(message));
}

int renewal_end(struct store *store, const struct renewal *renewal, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from vcs_renewals where subject_id = $1 and generation = $2",
		P_TEXT(renewal->subject_id), P_INT(renewal->generation));
}
