/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/clock_watch.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/clock_watch.sql.h"

/* $1: the length of a lease in seconds. Jobs are always locked in the order of their ids. */
static const char *const leases_sql[] = {
	("update jobs j set lease_until = now() + make_interval(secs => $1::int) "
	 "from (select id from jobs where state like 'claimed' order by id for no key update) s where j.id = s.id"),
	"update task_results set lease_until = now() + make_interval(secs => $1::int) where delivery = 'claimed'",
	"update notifications set lease_until = now() + make_interval(secs => $1::int) where delivery = 'claimed'",
};

#define STEP "$1::bigint * interval '1 millisecond' "

/*
 * $1: the step in ms. After a step back, only a time in the future is certainly from before the step. After a step
 * forward, rows that were written since the step are shifted as well: their deadlines are late, never early.
 */
static const char *const times_sql[] = {
	("update jobs j set deadline = deadline + " STEP
	 "from (select id from jobs where state like 'claimed' and deadline is not null and $1::bigint > 0 "
	 "order by id for no key update) s where j.id = s.id"),
	("update workspace_holds set until = until + " STEP ", began_at = least(began_at + " STEP ", now()) "
	 "where until is not null and ($1::bigint > 0 or began_at > now())"),
	("update task_results set give_up_at = give_up_at + " STEP ", due_at = due_at + " STEP
	 ", last_at = last_at + " STEP ", updated_at = least(updated_at + " STEP
	 ", now()) where reported is null and status in ('pending', 'running') "
	 "and ($1::bigint > 0 or updated_at > now())"),
	("update notifications set give_up_at = give_up_at + " STEP ", updated_at = least(updated_at + " STEP
	 ", now()) "
	 "where $1::bigint > 0 or updated_at > now()"),
	("update jobs j set announced_at = least(announced_at, now()), "
	 "created_at = case when created_at > now() then created_at + " STEP "else created_at end "
	 "from (select id from jobs where state = 'waiting' and $1::bigint < 0 and greatest(announced_at, created_at) "
	 "> "
	 "now() "
	 "order by id for no key update) s where j.id = s.id"),
	"update outbox set created_at = now() where $1::bigint < 0 and created_at > now()",
};

struct correcting {
	struct store *store;
	int64_t step_ms;
	long long seen;  /* the count at the last reading */
	long long count; /* the count after the correction */
};

static int rows_correct(const struct correcting *c, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(leases_sql); i++)
		if (db_query_sql(c->store->db, NULL, err, leases_sql[i], P_INT(c->store->settings->lease_seconds)) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(times_sql); i++)
		if (db_query_sql(c->store->db, NULL, err, times_sql[i], P_INT(c->step_ms)) < 0)
			return -1;
	return db_query(c->store->db, NULL, err, clock_steps_count);
}

static int correct_in(void *data, struct err *err)
{
	struct correcting *c = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(c->store->db, &rows, err, clock_steps_lock) < 0)
		return -1;
	c->count = row_of(clock_steps_lock, &rows, 0)->count;
	if (c->count != c->seen)
		return 0; /* another scheduler was first */
	c->count++;
	return rows_correct(c, err);
}

static int step_take(struct clock_watch *watch, struct store *store, int64_t step_ms, struct err *err)
{
	struct correcting c = {.store = store, .step_ms = step_ms, .seen = watch->steps};
	_cleanup_(freep) char *step = mem_printf("%.3f", (double)step_ms / 1000);

	if (db_transaction(store->db, correct_in, &c, err) < 0)
		return -1;
	watch->steps = c.count;
	metric_add(M_CLOCK_STEPS, "", 1);
	log_warn("PostgreSQL's clock stepped: all leases begin anew", "seconds", step, NULL);
	return 0;
}

int clock_watch_look(struct clock_watch *watch, struct store *store, bool *ret_steady, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct clock_reading now = {.asked_ms = clock_boot_ms()};
	int64_t tolerance_ms = clock_tolerance_ms(store->settings->lease_seconds), step_ms = 0;

	if (db_query(store->db, &rows, err, clock_read) < 0)
		return -1;
	now.answered_ms = clock_boot_ms();
	now.said_ms = row_of(clock_read, &rows, 0)->ms;
	*ret_steady = false;
	if (!clock_reading_is_exact(&now, tolerance_ms))
		return 0;
	if (watch->known)
		step_ms = clock_step_ms(&watch->last, &now, tolerance_ms);
	if (step_ms && step_take(watch, store, step_ms, err) < 0)
		return -1;
	if (!step_ms)
		watch->steps = row_of(clock_read, &rows, 0)->count;
	watch->last = now;
	watch->known = true;
	*ret_steady = step_ms == 0;
	return 0;
}
