/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/outbox/claim_waiters.h"

#include <poll.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>

#include "common/clock.h"
#include "common/ids.h"
#include "common/loop/progress.h"
#include "common/metrics.h"
#include "scheduler/db/db.h"
#include "scheduler/metrics.h"
#include "scheduler/outbox/claim_waiters.sql.h"

/*
 *  1. A job that commits ends a wait or sets the pool's `missed` mark, under one lock. A wait that begins with an older
 *     mark ends at once. So no job is lost between the check of the database and the wait.
 *  2. If no wait is open here, the thread notifies the other schedulers, if there are any. It batches the notices into
 *     few transactions of their own, since NOTIFY takes a server-wide lock at commit.
 *  3. Jobs can still be missed when a worker or a scheduler dies or a notice is lost. While a wait is open,
 *     claim_waiters_look reads the jobs that have waited for STILL_MS: every LOOK_MS, or every IDLE_LOOK_MS if no job
 *     came for BUSY_MS.
 */

enum {
	HOLD_MS = 25000,
	MAX_WAITS = 8192,
	LOOK_MS = 200,
	IDLE_LOOK_MS = 1000,
	BUSY_MS = 10000,
	STILL_MS = 100,
	TELL_EVERY_MS = 20,
	MAX_TOLD = 64
};

#define CHANNEL "runyard_jobs"

TAILQ_HEAD(wait_list, wait);

struct pool {
	char id[ID_SIZE];         /* first: the tree's key */
	struct wait_list waiters; /* the oldest first */
	uint64_t missed;          /* the mark of the last job that found no open wait */
	bool telling;             /* in `telling`: other schedulers have to be notified of the next two */
	int jobs;
	bool dismissed;
	TAILQ_ENTRY(pool) next;
};

struct wait {
	char worker[ID_SIZE]; /* first: the tree's key */
	struct pool *pool;
	void (*end)(void *data, bool jobs);
	void *data;
	int64_t until_ms;
	TAILQ_ENTRY(wait) in_pool, in_all;
};

struct claim_waiters {
	struct db *db;
	claim_waiters_look_fn look;
	pthread_t thread;
	int wake; /* eventfd */
	int64_t told_ms, looked_ms;
	pthread_mutex_t mutex; /* guards the members below */
	void *pools, *workers; /* trees by id */
	struct wait_list all;  /* the oldest first */
	TAILQ_HEAD(, pool) telling;
	size_t count;
	long long workers_waiting; /* of them, those that wait for jobs of runs */
	uint64_t mark;
	int64_t job_ms; /* when the last job came */
	bool closed;    /* accepts no more waits */
	bool stopping;
};

static int by_id(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* ---- under the lock ---- */

static struct pool *pool_of(struct claim_waiters *waiters, const char *id)
{
	struct pool *pool, **found = tfind(id, &waiters->pools, by_id);

	if (found)
		return *found;
	pool = mem_new(1, sizeof(*pool));
	text_copy(pool->id, sizeof(pool->id), id);
	TAILQ_INIT(&pool->waiters);
	mem_check(tsearch(pool, &waiters->pools, by_id));
	return pool;
}

static struct wait *wait_of(struct claim_waiters *waiters, const char *worker_id)
{
	struct wait **found = tfind(worker_id, &waiters->workers, by_id);

	return found ? *found : NULL;
}

/* Counts waits for jobs of runs. Waits for anything else have keys of two words. */
static void waits_show(struct claim_waiters *waiters, const struct wait *wait, int change)
{
	if (strchr(wait->worker, ' '))
		return;
	waiters->workers_waiting += change;
	metric_set(M_WAITS, "", (double)waiters->workers_waiting);
}

static void wait_add(struct claim_waiters *waiters, const struct wait_spec *spec)
{
	struct wait *wait = mem_new(1, sizeof(*wait));

	*wait = (struct wait){.pool = pool_of(waiters, spec->pool_id),
		.end = spec->end,
		.data = spec->data,
		.until_ms = clock_mono_ms() + HOLD_MS};
	text_copy(wait->worker, sizeof(wait->worker), spec->worker_id);
	mem_check(tsearch(wait, &waiters->workers, by_id));
	TAILQ_INSERT_TAIL(&wait->pool->waiters, wait, in_pool);
	TAILQ_INSERT_TAIL(&waiters->all, wait, in_all);
	waiters->count++;
	waits_show(waiters, wait, 1);
}

/* Removes the wait from all lists. The caller ends it after it has released the lock. NULL-safe. */
static struct wait *wait_take(struct claim_waiters *waiters, struct wait *wait)
{
	if (!wait)
		return NULL;
	tdelete(wait->worker, &waiters->workers, by_id);
	TAILQ_REMOVE(&wait->pool->waiters, wait, in_pool);
	TAILQ_REMOVE(&waiters->all, wait, in_all);
	waiters->count--;
	waits_show(waiters, wait, -1);
	return wait;
}

/* Handles a job that found no open wait here. The handler depends on how this scheduler learned of the job. */
typedef void (*missed_fn)(struct claim_waiters *waiters, struct pool *pool);

static void missed_noted(struct claim_waiters *waiters, struct pool *pool)
{
	pool->missed = ++waiters->mark;
}

static void pool_tell(struct claim_waiters *waiters, struct pool *pool)
{
	if (!pool->telling)
		TAILQ_INSERT_TAIL(&waiters->telling, pool, next);
	pool->telling = true;
}

static void missed_told(struct claim_waiters *waiters, struct pool *pool)
{
	missed_noted(waiters, pool);
	pool->jobs++;
	pool_tell(waiters, pool);
}

static void missed_left(struct claim_waiters *waiters, struct pool *pool)
{
	(void)waiters;
	(void)pool;
}

/* ---- from any thread ---- */

static void wait_end(struct wait *wait, bool jobs)
{
	if (!wait)
		return;
	wait->end(wait->data, jobs);
	free(wait);
}

uint64_t claim_waiters_mark(struct claim_waiters *waiters)
{
	uint64_t mark;

	pthread_mutex_lock(&waiters->mutex);
	mark = waiters->mark;
	pthread_mutex_unlock(&waiters->mutex);
	return mark;
}

bool claim_waiters_full(struct claim_waiters *waiters)
{
	bool full;

	pthread_mutex_lock(&waiters->mutex);
	full = waiters->count >= MAX_WAITS || waiters->closed;
	pthread_mutex_unlock(&waiters->mutex);
	return full;
}

void claim_waiters_begin(struct claim_waiters *waiters, const struct wait_spec *spec, uint64_t mark)
{
	struct wait *before;
	bool missed, ends, first;

	pthread_mutex_lock(&waiters->mutex);
	before = wait_take(waiters, wait_of(waiters, spec->worker_id));
	missed = pool_of(waiters, spec->pool_id)->missed > mark;
	ends = missed || waiters->closed;
	first = !ends && waiters->count == 0;
	if (!ends)
		wait_add(waiters, spec);
	pthread_mutex_unlock(&waiters->mutex);
	wait_end(before, false);
	if (ends)
		spec->end(spec->data, missed);
	if (first)
		eventfd_write(waiters->wake, 1);
}

void claim_waiters_forget(struct claim_waiters *waiters, const char *worker_id)
{
	struct wait *wait;

	pthread_mutex_lock(&waiters->mutex);
	wait = wait_take(waiters, wait_of(waiters, worker_id));
	pthread_mutex_unlock(&waiters->mutex);
	wait_end(wait, false);
}

/* Ends the pool's oldest wait. Returns false if there is none. */
static bool pool_wake(struct claim_waiters *waiters, const char *pool_id, missed_fn missed)
{
	struct wait *wait;
	struct pool *pool;

	pthread_mutex_lock(&waiters->mutex);
	waiters->job_ms = clock_mono_ms();
	pool = pool_of(waiters, pool_id);
	wait = wait_take(waiters, TAILQ_FIRST(&pool->waiters));
	if (!wait)
		missed(waiters, pool);
	pthread_mutex_unlock(&waiters->mutex);
	wait_end(wait, true);
	return wait != NULL;
}

void claim_waiters_wake(struct claim_waiters *waiters, const char *pool_id)
{
	if (pool_wake(waiters, pool_id, missed_told))
		metric_add(M_WAITS_ENDED, "by=\"commit\"", 1);
	else
		eventfd_write(waiters->wake, 1);
}

/* Ends all waits of the pool here. `tell`: also on the other schedulers. */
static void pool_dismiss(struct claim_waiters *waiters, const char *pool_id, bool tell)
{
	struct wait_list dismissed = TAILQ_HEAD_INITIALIZER(dismissed);
	struct wait *wait;
	struct pool *pool;

	pthread_mutex_lock(&waiters->mutex);
	pool = pool_of(waiters, pool_id);
	while ((wait = wait_take(waiters, TAILQ_FIRST(&pool->waiters))))
		TAILQ_INSERT_TAIL(&dismissed, wait, in_all);
	pool->dismissed |= tell;
	if (tell)
		pool_tell(waiters, pool);
	pthread_mutex_unlock(&waiters->mutex);
	while ((wait = TAILQ_FIRST(&dismissed))) {
		TAILQ_REMOVE(&dismissed, wait, in_all);
		wait_end(wait, false);
	}
}

/* ---- after a commit ---- */

struct later {
	struct claim_waiters *waiters;
	char pool_id[ID_SIZE];
	void (*fn)(struct claim_waiters *waiters, const char *pool_id);
};

static void later_committed(void *data, bool committed)
{
	struct later *later = data;

	if (committed)
		later->fn(later->waiters, later->pool_id);
	free(later);
}

static void call_later(struct claim_waiters *waiters, struct db *db, const char *pool_id,
	void (*fn)(struct claim_waiters *waiters, const char *pool_id))
{
	struct later *later = mem_new(1, sizeof(*later));

	*later = (struct later){.waiters = waiters, .fn = fn};
	text_copy(later->pool_id, sizeof(later->pool_id), pool_id);
	db_after_commit(db, later_committed, later);
}

static void dismiss_now(struct claim_waiters *waiters, const char *pool_id)
{
	pool_dismiss(waiters, pool_id, true);
	eventfd_write(waiters->wake, 1);
}

void claim_waiters_wake_later(struct claim_waiters *waiters, struct db *db, const char *pool_id)
{
	if (waiters)
		call_later(waiters, db, pool_id, claim_waiters_wake);
}

void claim_waiters_dismiss(struct claim_waiters *waiters, struct db *db, const char *pool_id)
{
	call_later(waiters, db, pool_id, dismiss_now);
}

/* ---- the thread ---- */

struct told {
	char id[ID_SIZE];
	int jobs;
	bool dismissed;
};

static size_t told_take(struct claim_waiters *waiters, struct told told[MAX_TOLD])
{
	struct pool *pool;
	size_t count = 0;

	pthread_mutex_lock(&waiters->mutex);
	while (count < MAX_TOLD && (pool = TAILQ_FIRST(&waiters->telling))) {
		TAILQ_REMOVE(&waiters->telling, pool, next);
		text_copy(told[count].id, sizeof(told[count].id), pool->id);
		told[count].jobs = pool->jobs;
		told[count++].dismissed = pool->dismissed;
		pool->telling = pool->dismissed = false;
		pool->jobs = 0;
	}
	pthread_mutex_unlock(&waiters->mutex);
	return count;
}

static void claim_waiters_tell(struct claim_waiters *waiters)
{
	struct told told[MAX_TOLD];
	struct err err = ERR_INIT;
	_cleanup_(db_array_release) struct db_array notices = DB_ARRAY_INIT;
	size_t count = told_take(waiters, told);

	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *notice = mem_printf("%s %d", told[i].id, told[i].jobs);
		_cleanup_(freep) char *dismissal = mem_printf("%s 0", told[i].id);

		if (told[i].dismissed)
			db_array_add(&notices, dismissal);
		if (told[i].jobs)
			db_array_add(&notices, notice);
	}
	if (count)
		db_query(waiters->db, NULL, &err, claim_waiters_tell, .notices = &notices);
}

/* Ends one wait for each job, as far as there are waits. */
static void pool_wake_several(
	struct claim_waiters *waiters, const char *pool_id, long long jobs, missed_fn missed, const char *labels)
{
	for (long long i = 0; i < jobs && pool_wake(waiters, pool_id, missed); i++)
		metric_add(M_WAITS_ENDED, labels, 1);
}

/* A notice is "<pool> <number of jobs without a wait>". The number 0 dismisses all waits of the pool. */
static void notice_take(struct claim_waiters *waiters, char *notice)
{
	char *space = strchr(notice, ' ');
	long long jobs;

	if (!space || text_number(space + 1, 0, INT32_MAX, &jobs) < 0)
		return;
	*space = '\0';
	if (jobs)
		pool_wake_several(waiters, notice, jobs, missed_noted, "by=\"notice\"");
	else
		pool_dismiss(waiters, notice, false);
}

static void notices_read(struct claim_waiters *waiters)
{
	char notice[128];

	while (db_notice(waiters->db, notice, sizeof(notice)))
		notice_take(waiters, notice);
}

/* Ends waits for jobs that have been waiting for STILL_MS. */
static void claim_waiters_look(struct claim_waiters *waiters)
{
	struct err err = ERR_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (waiters->look(waiters->db, STILL_MS, &rows, &err) < 0)
		return;
	for (int i = 0; i < rows.count; i++)
		pool_wake_several(waiters, row_of(waiting_pool, &rows, i)->pool_id,
			row_of(waiting_pool, &rows, i)->jobs, missed_left, "by=\"look\"");
}

/* Takes the oldest wait if it is overdue, or in any case after the close. Returns NULL if there is none. */
static struct wait *overdue_take(struct claim_waiters *waiters, int64_t now)
{
	struct wait *wait;

	pthread_mutex_lock(&waiters->mutex);
	wait = TAILQ_FIRST(&waiters->all);
	if (wait && wait->until_ms > now && !waiters->closed)
		wait = NULL;
	wait_take(waiters, wait);
	pthread_mutex_unlock(&waiters->mutex);
	return wait;
}

static void overdue_end(struct claim_waiters *waiters)
{
	struct wait *wait;

	while ((wait = overdue_take(waiters, clock_mono_ms())))
		wait_end(wait, false);
}

static int until_ms(int64_t due_ms)
{
	int64_t rest = due_ms - clock_mono_ms();

	return rest > 0 ? (int)rest : 0;
}

/* Call under the lock. */
static int64_t look_due_ms(const struct claim_waiters *waiters)
{
	bool busy = clock_mono_ms() - waiters->job_ms < BUSY_MS;

	return waiters->looked_ms + (busy ? LOOK_MS : IDLE_LOOK_MS);
}

/* Returns the timeout of the thread's poll; -1 (no timeout) if no wait is open. */
static int rest_ms(struct claim_waiters *waiters)
{
	int rest = -1;

	pthread_mutex_lock(&waiters->mutex);
	if (waiters->stopping)
		rest = 0;
	else if (!TAILQ_EMPTY(&waiters->telling))
		rest = until_ms(waiters->told_ms + TELL_EVERY_MS);
	else if (waiters->count)
		rest = until_ms(look_due_ms(waiters));
	pthread_mutex_unlock(&waiters->mutex);
	return rest;
}

static void claim_waiters_round(struct claim_waiters *waiters)
{
	int64_t now = clock_mono_ms();

	if (now - waiters->told_ms >= TELL_EVERY_MS) {
		waiters->told_ms = now;
		claim_waiters_tell(waiters);
	}
	if (now - waiters->looked_ms >= LOOK_MS) {
		waiters->looked_ms = now;
		claim_waiters_look(waiters);
	}
	notices_read(waiters);
	overdue_end(waiters);
}

static bool claim_waiters_rest(struct claim_waiters *waiters)
{
	struct pollfd fds[] = {
		{.fd = waiters->wake, .events = POLLIN}, {.fd = db_socket(waiters->db), .events = POLLIN}};
	eventfd_t ignored;
	bool goes_on;

	poll(fds, ARRAY_LEN(fds), rest_ms(waiters));
	eventfd_read(waiters->wake, &ignored);
	pthread_mutex_lock(&waiters->mutex);
	goes_on = !waiters->stopping;
	pthread_mutex_unlock(&waiters->mutex);
	return goes_on;
}

static void *claim_waiters_thread(void *data)
{
	struct claim_waiters *waiters = data;

	claim_waiters_look(waiters); /* connects, and so listens from the start */
	while (claim_waiters_rest(waiters)) {
		progress_busy("claim waiters");
		claim_waiters_round(waiters);
		progress_idle();
	}
	overdue_end(waiters);
	return NULL;
}

int claim_waiters_start(
	const char *database_url, claim_waiters_look_fn look, struct claim_waiters **ret_waits, struct err *err)
{
	struct claim_waiters *waiters = mem_new(1, sizeof(*waiters));

	pthread_mutex_init(&waiters->mutex, NULL);
	TAILQ_INIT(&waiters->all);
	TAILQ_INIT(&waiters->telling);
	waiters->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	waiters->look = look;
	waiters->db = db_open_listening(database_url, CHANNEL);
	if (pthread_create(&waiters->thread, NULL, claim_waiters_thread, waiters) != 0) {
		waiters->stopping = true;
		claim_waiters_free(waiters);
		return err_set(err, ERR_INTERNAL, "no more threads");
	}
	*ret_waits = waiters;
	return 0;
}

void claim_waiters_close(struct claim_waiters *waiters)
{
	pthread_mutex_lock(&waiters->mutex);
	waiters->closed = true;
	pthread_mutex_unlock(&waiters->mutex);
	eventfd_write(waiters->wake, 1);
}

void claim_waiters_stop(struct claim_waiters *waiters)
{
	bool stopping;

	if (!waiters)
		return;
	pthread_mutex_lock(&waiters->mutex);
	stopping = waiters->stopping;
	waiters->closed = waiters->stopping = true;
	pthread_mutex_unlock(&waiters->mutex);
	if (stopping)
		return;
	eventfd_write(waiters->wake, 1);
	pthread_join(waiters->thread, NULL);
}

void claim_waiters_free(struct claim_waiters *waiters)
{
	if (!waiters)
		return;
	db_close(waiters->db);
	tdestroy(waiters->workers, free);
	tdestroy(waiters->pools, free);
	closep(&waiters->wake);
	pthread_mutex_destroy(&waiters->mutex);
	free(waiters);
}
