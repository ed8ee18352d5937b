/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/workers.h"

#include <string.h>

#include "proto/messages.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/quotas.h"

enum { MAX_KINDS = 200 /* limit of distinct capabilities */, MAX_STILL_WAITING = 64 };

/* The attempts as JSON, with the digests of their tokens. */
static char *attempts_text(const json_t *jobs)
{
	json_auto_t *attempts = json_array();
	const json_t *job;
	size_t i;

	json_array_foreach((json_t *)jobs, i, job)
	{
		const char *token = text_or_empty(json_string_at(job, "token"));
		char hash[SHA256_HEX_SIZE];

		crypto_sha256_hex(token, strlen(token), hash);
		json_array_append_new(attempts,
			json_pack("{ss sI ss}", "job", text_or_empty(json_string_at(job, "job")), "attempt",
				(json_int_t)json_int_at(job, "attempt", 0), "hash", hash));
	}
	return json_text(attempts);
}

/* Announces on runyard.events that a worker changed: the message's number and topic are parameters of the statement,
 * the worker, the pool and `status` are SQL. */
#define WORKER_TOLD(number, topic, worker, pool, status)                                                               \
	"told as (insert into outbox (id, topic, key, payload) select " number ", " topic                              \
	", p.id, json_build_object('v', 1, 'worker', " worker                                                          \
	", 'pool', p.id, 'organization', p.organization_id, 'status', " status                                         \
	")::text from agent_pools p where p.id = " pool " returning key, payload) "

/* Passes the message that the statement has written to the publisher: columns key and payload. */
static void worker_tell(struct store *store, long long number, const struct rows *told)
{
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	if (told->count && !row_null(told, 0, "payload"))
		outbox_written(&outbox, number, topics[TOPIC_EVENTS].name, row_text(told, 0, "key"),
			row_text(told, 0, "payload"));
	outbox_hand_over(&outbox, store->db, store->sink);
}

/* clang-format would move the text after a macro to the next line. */
/* clang-format off */
static const char register_sql[] =
	"with said as (select job, attempt, hash from jsonb_to_recordset($9::jsonb) "
	"as u(job text, attempt bigint, hash text)), "
	"mine as (select j.id from said join jobs j on j.id = said.job and j.attempt = said.attempt "
	"where j.id = any(array(select job from said)) and j.pool_id = $2 and j.state = 'claimed' "
	"and j.token_hash = said.hash order by j.id for no key update of j), "
	"kept as (update jobs j set worker_id = $1, lease_until = now() + make_interval(secs => $10) "
	"where j.id = any(array(select id from mine))), "
	"earlier as (update workers set undelivered = 0 where pool_id = $2 and name = $3 and undelivered > 0), "
	WORKER_TOLD("$13::bigint", "$14::text", "$1::text", "$2", "'registered'")
	"insert into workers (id, pool_id, name, version, slots, free, address, token_hash, token_id, capabilities, "
	"protocol, token_description) values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $11::jsonb, $12, "
	"(select description from tokens where id = $8)) "
	"returning (select key from told) as key, (select payload from told) as payload";
/* clang-format on */

/* A registration that presents attempts acts as a heartbeat (in the model) of a worker that the scheduler had
 * forgotten. A worker with the name of earlier ones has their folder: it reports what is undelivered there. */
/* model: register */
int worker_register(
	struct store *store, const struct worker_arrival *arrival, struct id *ret_id, char **ret_token, struct err *err)
{
	_cleanup_(freep) char *token = crypto_token("worker.");
	_cleanup_(freep) char *attempts = attempts_text(arrival->jobs);
	_cleanup_(freep) char *capabilities = arrival->capabilities ? json_text(arrival->capabilities) : NULL;
	struct id id = id_new("agent");
	_cleanup_(rows_release) struct rows told = ROWS_INIT;
	long long number = outbox_number();
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(token, strlen(token), hash);
	if (db_query(store->db, &told, err, register_sql, P_TEXT(id.text), P_TEXT(arrival->pool_id),
		    P_TEXT(arrival->name), P_TEXT(arrival->version), P_INT(arrival->slots), P_TEXT(arrival->address),
		    P_TEXT(hash), P_TEXT(arrival->token_id), P_TEXT(attempts), P_INT(store->settings->lease_seconds),
		    P_TEXT(capabilities), P_INT(arrival->protocol), P_INT(number),
		    P_TEXT(topics[TOPIC_EVENTS].name)) < 0)
		return -1;
	worker_tell(store, number, &told);
	*ret_id = id;
	*ret_token = token;
	token = NULL;
	return 0;
}

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "worker not found");
}

int worker_find(struct store *store, const char *token, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(text_or_empty(token), strlen(text_or_empty(token)), hash);
	if (db_query(store->db, &rows, err, "select id from workers where token_hash = $1 and left_at is null",
		    P_TEXT(hash)) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	text_copy(ret_id->text, sizeof(ret_id->text), row_text(&rows, 0, "id"));
	return 0;
}

/* clang-format would move the text after a macro to the next line. */
/* clang-format off */
static const char wait_sql[] =
	"with me as materialized (" WORKER_OF_POOL("$2", "$1") "), "
	"said as (update workers set free = $3, seen_at = now() where id = (select id from me where free <> $3)) "
	"select " WORKER_MAY_CLAIM("w", "p") "and not " QUOTA_IS_USED("p")
	"and exists (select 1 from jobs where pool_id = $1 and state = 'waiting' "
	"and organization_id <> all(array(" QUOTAS_USED_UP "))) as jobs from me w "
	"join agent_pools p on p.id = w.pool_id";

/* Walks the index from pool to pool, and reads no pool without waiting jobs. Git jobs count for the key of their pool
 * (store/vcs/git_jobs.h, git_wait_key). */
static const char still_waiting_sql[] =
	"with recursive pools as ("
	"(select pool_id from jobs where state = 'waiting' order by pool_id limit 1) union all "
	"select n.pool_id from pools p, lateral (select pool_id from jobs where state = 'waiting' "
	"and pool_id > p.pool_id order by pool_id limit 1) n) "
	"select p.pool_id, (select count(*) from (select created_at from jobs where pool_id = p.pool_id "
	"and state = 'waiting' and organization_id <> all(array(" QUOTAS_USED_UP ")) limit $2) j "
	"where created_at < now() - make_interval(secs => $1::int / 1000.0)) as jobs from pools p "
	"where not exists (" QUOTA_USED_OF("pool_id", "p.pool_id", POOL_RUNNING) ") "
	"union all select 'git ' || g.pool_id, count(*) from (select pool_id from git_jobs where state = 'waiting' "
	"and due_at < now() - make_interval(secs => $1::int / 1000.0) limit 1000) g group by 1";
/* clang-format on */

int workers_still_waiting(struct db *db, int still_ms, struct rows *ret_rows, struct err *err)
{
	return db_query(db, ret_rows, err, still_waiting_sql, P_INT(still_ms), P_INT(MAX_STILL_WAITING));
}

/* Writes the worker's row only if the number of free slots has changed. */
int worker_waits_for(struct store *store, const struct worker_wait *wait, bool *ret_jobs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, wait_sql, P_TEXT(wait->pool_id), P_TEXT(wait->worker_id),
		    P_INT(wait->free)) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	*ret_jobs = row_bool(&rows, 0, "jobs");
	return 0;
}

static json_t *beat_jobs(const struct rows *rows)
{
	json_t *jobs = json_array();

	for (int i = 0; i < rows->count && !row_null(rows, i, "job"); i++)
		json_array_append_new(jobs,
			json_pack("{ss si sb sb ss}", "job", row_text(rows, i, "job"), "attempt",
				(int)row_int(rows, i, "attempt"), "held", row_bool(rows, i, "held"), "awaited",
				row_bool(rows, i, "awaited"), "stop", stop_name((enum stop)row_int(rows, i, "stop"))));
	return jobs;
}

/* Returns one row for each job, at least one. The first row has the announced jobs that no longer wait. Only jobs that
 * the worker names are read (db/db.h, "plans"). */
/* clang-format off */
static const char beat_sql[] =
	"with was as (select draining from workers where token_hash = $1 and left_at is null), "
	"beat as (update workers set free = $2, slots = $3, draining = $4, seen_at = now(), "
	"undelivered = $10, partitions = array(select jsonb_array_elements_text($5::jsonb)::int), "
	"capabilities = $8::jsonb where token_hash = $1 and left_at is null returning id, pool_id, ordered), "
	WORKER_TOLD("$11::bigint", "$12::text", "(select id from beat)",
		"any(array(select b.pool_id from beat b, was where was.draining <> $4))",
		"case when $4 then 'draining' else 'ready' end") ", "
	"said as (select job, attempt from jsonb_to_recordset($6::jsonb) as u(job text, attempt integer)), "
	"mine as (select j.id from beat, said join jobs j on j.id = said.job and j.attempt = said.attempt "
	"where j.id = any(array(select job from said)) and j.worker_id = beat.id and j.state = 'claimed' "
	"order by j.id for no key update of j), held as (update jobs j "
	"set lease_until = now() + make_interval(secs => $7) where j.id = any(array(select id from mine)) "
	"returning j.id, j.stop) select (select " WORKER_ORDER("b", "p") "from beat b join agent_pools p "
	"on p.id = b.pool_id) as ordered, said.job, said.attempt, held.id is not null as held, h.job_id is not "
	"null as awaited, coalesce(held.stop, case when h.attempt = said.attempt then h.stop end, 0) as stop, case "
	"when row_number() over () = 1 then (select jsonb_agg(u.id) from unnest($9::text[]) as u(id) "
	"where (select k.state = 'waiting' and k.pool_id = (select pool_id from beat) from jobs k "
	"where k.id = u.id) is not true) end as not_waiting, (select key from told) as key, "
	"(select payload from told) as payload from (select 1) one left join said on true "
	"left join held on held.id = said.job left join workspace_holds h on h.job_id = said.job";
/* clang-format on */

/* model: heartbeat */
int worker_beat(struct store *store, const struct worker_beat *beat, json_t **ret_answer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *partitions = json_text(beat->partitions);
	_cleanup_(freep) char *jobs = json_text(beat->jobs);
	_cleanup_(freep) char *capabilities = beat->capabilities ? json_text(beat->capabilities) : NULL;
	_cleanup_(db_array_release) struct db_array announced = DB_ARRAY_INIT;
	long long number = outbox_number();
	char hash[SHA256_HEX_SIZE];

	db_array_add_texts(&announced, beat->announced);
	crypto_sha256_hex(text_or_empty(beat->token), strlen(text_or_empty(beat->token)), hash);
	if (db_query(store->db, &rows, err, beat_sql, P_TEXT(hash), P_INT(beat->free), P_INT(beat->slots),
		    P_BOOL(beat->draining), P_TEXT(partitions), P_TEXT(jobs), P_INT(store->settings->lease_seconds),
		    P_TEXT(capabilities), P_ARRAY(&announced), P_INT(beat->undelivered), P_INT(number),
		    P_TEXT(topics[TOPIC_EVENTS].name)) < 0)
		return -1;
	if (row_null(&rows, 0, "ordered"))
		return not_found(err);
	worker_tell(store, number, &rows);
	*ret_answer = json_pack("{ss so so}", "order", row_text(&rows, 0, "ordered"), "jobs", beat_jobs(&rows),
		"not-waiting", row_null(&rows, 0, "not_waiting") ? json_array() : row_json(&rows, 0, "not_waiting"));
	return 0;
}

int worker_leave(struct store *store, const struct worker_departure *departure, struct err *err)
{
	_cleanup_(rows_release) struct rows told = ROWS_INIT;
	long long number = outbox_number();

	if (db_query(store->db, &told, err,
		    "with gone as (update workers set left_at = now(), seen_at = now(), failed = $2, draining = true, "
		    "free = 0, partitions = '{}', undelivered = $5 where id = $1 and left_at is null "
		    "returning pool_id), " WORKER_TOLD("$3::bigint", "$4::text", "$1::text",
			    "any(array(select pool_id from gone))", "'left'") "select key, payload from told",
		    P_TEXT(departure->worker_id), P_BOOL(departure->failed), P_INT(number),
		    P_TEXT(topics[TOPIC_EVENTS].name), P_INT(departure->undelivered)) < 0)
		return -1;
	worker_tell(store, number, &told);
	return 0;
}

/* A worker is live until the leases that its last heartbeat renewed expire. */
int workers_capabilities(
	struct store *store, const char *pool_id, const char *worker_id, json_t **ret_others, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *others;

	if (db_query(store->db, &rows, err,
		    "select distinct capabilities from workers where pool_id = $1 and id <> $2 and left_at is null "
		    "and (not draining or ordered = 'drain') and seen_at > now() - make_interval(secs => $3) limit $4",
		    P_TEXT(pool_id), P_TEXT(worker_id), P_INT(store->settings->lease_seconds), P_INT(MAX_KINDS)) < 0)
		return -1;
	others = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(others, row_json(&rows, i, "capabilities"));
	*ret_others = others;
	return 0;
}

int workers_stops(struct db *db, struct rows *ret_rows, struct err *err)
{
	return db_query(db, ret_rows, err,
		"select worker_id, id, attempt, stop from jobs where stop > 0 and state = 'claimed' union all "
		"select worker_id, job_id, attempt, stop from workspace_holds where stop > 0 and until is not null "
		"and worker_id is not null");
}
