/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/clock_watch.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/clock_watch.sql.h"

static const struct db_statement *const leases[] = {
	&clock_leases_of_jobs_statement,
	&clock_leases_of_tasks_statement,
	&clock_leases_of_notifications_statement,
};

static const struct db_statement *const times[] = {
	&clock_deadlines_of_jobs_statement,
	&clock_times_of_holds_statement,
	&clock_times_of_tasks_statement,
	&clock_times_of_notifications_statement,
	&clock_times_of_waiting_jobs_statement,
	&clock_times_of_outbox_statement,
	&clock_times_of_identity_keys_statement,
};

struct correcting {
	struct store *store;
	int64_t step_ms;
	long long seen;  /* the count at the last reading */
	long long count; /* the count after the correction */
};

static int rows_correct(const struct correcting *c, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(leases); i++)
		if (db_query_one_of(c->store->db, NULL, err, leases[i], clock_leases_of_jobs,
			    .lease_seconds = c->store->settings->lease_seconds) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		if (db_query_one_of(c->store->db, NULL, err, times[i], clock_deadlines_of_jobs, .step_ms = c->step_ms) <
			0)
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
	const struct clock_read_row *read;

	if (db_query(store->db, &rows, err, clock_read) < 0)
		return -1;
	now.answered_ms = clock_boot_ms();
	read = row_of(clock_read, &rows, 0);
	now.said_ms = read->ms;
	*ret_steady = false;
	if (!clock_reading_is_exact(&now, tolerance_ms))
		return 0;
	if (watch->known)
		step_ms = clock_step_ms(&watch->last, &now, tolerance_ms);
	if (step_ms && step_take(watch, store, step_ms, err) < 0)
		return -1;
	if (!step_ms)
		watch->steps = read->count;
	watch->last = now;
	watch->known = true;
	*ret_steady = step_ms == 0;
	return 0;
}
