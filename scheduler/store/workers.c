/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers.h"

#include "proto/messages.h"

int worker_register(struct store *store, const struct worker_arrival *arrival, struct id *ret_id, struct err *err)
{
	struct id id = id_new("agent");

	if (db_query(store->db, NULL, err,
		    "insert into workers (id, pool_id, name, version, slots, free) values ($1, $2, $3, $4, $5, $5)",
		    P_TEXT(id.text), P_TEXT(arrival->pool_id), P_TEXT(arrival->name), P_TEXT(arrival->version),
		    P_INT(arrival->slots)) < 0)
		return -1;
	*ret_id = id;
	return 0;
}

static json_t *beat_answer(const struct rows *rows)
{
	json_t *jobs = json_array();

	for (int i = 0; i < rows->count && !row_null(rows, i, "job"); i++)
		json_array_append_new(jobs,
			json_pack("{ss si sb ss}", "job", row_text(rows, i, "job"), "attempt",
				(int)row_int(rows, i, "attempt"), "held", row_bool(rows, i, "held"), "stop",
				stop_name((enum stop)row_int(rows, i, "stop"))));
	return jobs;
}

int worker_beat(struct store *store, const struct worker_beat *beat, json_t **ret_jobs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *partitions = json_text(beat->partitions);
	_cleanup_(freep) char *jobs = json_text(beat->jobs);

	if (db_query(store->db, &rows, err,
		    "with beat as (update workers set free = $3, slots = $4, draining = $5, seen_at = now(), "
		    "partitions = array(select jsonb_array_elements_text($6::jsonb)::int) "
		    "where id = $1 and pool_id = $2 returning id), "
		    "said as (select job, attempt from jsonb_to_recordset($7::jsonb) as u(job text, attempt integer)), "
		    "held as (update jobs j set lease_until = now() + make_interval(secs => $8) from said, beat "
		    "where j.id = said.job and j.attempt = said.attempt and j.worker_id = beat.id "
		    "and j.state = 'claimed' returning j.id, j.stop) "
		    "select exists (select 1 from beat) as known, said.job, said.attempt, held.id is not null as held, "
		    "coalesce(held.stop, 0) as stop from (select 1) one left join said on true "
		    "left join held on held.id = said.job",
		    P_TEXT(beat->worker_id), P_TEXT(beat->pool_id), P_INT(beat->free), P_INT(beat->slots),
		    P_BOOL(beat->draining), P_TEXT(partitions), P_TEXT(jobs), P_INT(store->lease_seconds)) < 0)
		return -1;
	if (!row_bool(&rows, 0, "known"))
		return err_set(err, ERR_NOT_FOUND, "worker not found");
	*ret_jobs = beat_answer(&rows);
	return 0;
}

int worker_leave(struct store *store, const char *pool_id, const char *worker_id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from workers where id = $1 and pool_id = $2", P_TEXT(worker_id),
		P_TEXT(pool_id));
}
