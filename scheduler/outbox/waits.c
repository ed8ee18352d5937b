/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/outbox/waits.h"

#include <poll.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>

#include "common/clock.h"
#include "common/ids.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/db/db.h"

/*
 *  1. A job that commits ends a wait or sets the pool's `missed` mark, under one lock. A wait that begins with an older
 *     mark ends at once. So no job is lost between the check of the database and the wait.
 *  2. If no wait is open here, the thread notifies the other schedulers, if there are any. It batches the notices into
 *     few transactions of their own, since NOTIFY takes a server-wide lock at commit.
 *  3. Jobs can still be missed when a worker or a scheduler dies or a notice is lost. While a wait is open, waits_look
 *     reads the jobs that have waited for STILL_MS.
 */

enum { HOLD_MS = 25000, MOST_WAITS = 8192, LOOK_MS = 200, STILL_MS = 100, TELL_EVERY_MS = 20, MOST_TOLD = 64 };

#define CHANNEL "runyard_jobs"

TAILQ_HEAD(wait_list, wait);

struct pool {
	char id[ID_SIZE];       /* first: the tree's key */
	struct wait_list waits; /* the oldest first */
	uint64_t missed;        /* the mark of the last job that found no open wait */
	bool telling;           /* in `telling`: other schedulers have to be notified of the next two */
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

struct waits {
	struct db *db;
	pthread_t thread;
	int wake; /* eventfd */
	int64_t told_ms, looked_ms;
	pthread_mutex_t mutex; /* guards the members below */
	void *pools, *workers; /* trees by id */
	struct wait_list all;  /* the oldest first */
	TAILQ_HEAD(, pool) telling;
	size_t count;
	uint64_t mark;
	bool stopping;
};

static int by_id(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* ---- under the lock ---- */

static struct pool *pool_of(struct waits *waits, const char *id)
{
	struct pool *pool, **found = tfind(id, &waits->pools, by_id);

	if (found)
		return *found;
	pool = mem_new(1, sizeof(*pool));
	text_copy(pool->id, sizeof(pool->id), id);
	TAILQ_INIT(&pool->waits);
	mem_there(tsearch(pool, &waits->pools, by_id));
	return pool;
}

static struct wait *wait_of(struct waits *waits, const char *worker_id)
{
	struct wait **found = tfind(worker_id, &waits->workers, by_id);

	return found ? *found : NULL;
}

static void wait_add(struct waits *waits, const struct wait_spec *spec)
{
	struct wait *wait = mem_new(1, sizeof(*wait));

	*wait = (struct wait){.pool = pool_of(waits, spec->pool_id),
		.end = spec->end,
		.data = spec->data,
		.until_ms = clock_mono_ms() + HOLD_MS};
	text_copy(wait->worker, sizeof(wait->worker), spec->worker_id);
	mem_there(tsearch(wait, &waits->workers, by_id));
	TAILQ_INSERT_TAIL(&wait->pool->waits, wait, in_pool);
	TAILQ_INSERT_TAIL(&waits->all, wait, in_all);
	metric_set(M_WAITS, "", (double)++waits->count);
}

/* Removes the wait from all lists. The caller ends it after it has released the lock. NULL-safe. */
static struct wait *wait_take(struct waits *waits, struct wait *wait)
{
	if (!wait)
		return NULL;
	tdelete(wait->worker, &waits->workers, by_id);
	TAILQ_REMOVE(&wait->pool->waits, wait, in_pool);
	TAILQ_REMOVE(&waits->all, wait, in_all);
	metric_set(M_WAITS, "", (double)--waits->count);
	return wait;
}

/* Handles a job that found no open wait here. The handler depends on how this scheduler learned of the job. */
typedef void (*missed_fn)(struct waits *waits, struct pool *pool);

static void missed_noted(struct waits *waits, struct pool *pool)
{
	pool->missed = ++waits->mark;
}

static void pool_tell(struct waits *waits, struct pool *pool)
{
	if (!pool->telling)
		TAILQ_INSERT_TAIL(&waits->telling, pool, next);
	pool->telling = true;
}

static void missed_told(struct waits *waits, struct pool *pool)
{
	missed_noted(waits, pool);
	pool->jobs++;
	pool_tell(waits, pool);
}

static void missed_left(struct waits *waits, struct pool *pool)
{
	(void)waits;
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

uint64_t waits_mark(struct waits *waits)
{
	uint64_t mark;

	pthread_mutex_lock(&waits->mutex);
	mark = waits->mark;
	pthread_mutex_unlock(&waits->mutex);
	return mark;
}

bool waits_full(struct waits *waits)
{
	bool full;

	pthread_mutex_lock(&waits->mutex);
	full = waits->count >= MOST_WAITS || waits->stopping;
	pthread_mutex_unlock(&waits->mutex);
	return full;
}

void waits_begin(struct waits *waits, const struct wait_spec *spec, uint64_t mark)
{
	struct wait *before;
	bool missed, ends, first;

	pthread_mutex_lock(&waits->mutex);
	before = wait_take(waits, wait_of(waits, spec->worker_id));
	missed = pool_of(waits, spec->pool_id)->missed > mark;
	ends = missed || waits->stopping;
	first = !ends && waits->count == 0;
	if (!ends)
		wait_add(waits, spec);
	pthread_mutex_unlock(&waits->mutex);
	wait_end(before, false);
	if (ends)
		spec->end(spec->data, missed);
	if (first)
		eventfd_write(waits->wake, 1);
}

void waits_forget(struct waits *waits, const char *worker_id)
{
	struct wait *wait;

	pthread_mutex_lock(&waits->mutex);
	wait = wait_take(waits, wait_of(waits, worker_id));
	pthread_mutex_unlock(&waits->mutex);
	wait_end(wait, false);
}

/* Ends the pool's oldest wait. Returns false if there is none. */
static bool pool_wake(struct waits *waits, const char *pool_id, missed_fn missed)
{
	struct wait *wait;
	struct pool *pool;

	pthread_mutex_lock(&waits->mutex);
	pool = pool_of(waits, pool_id);
	wait = wait_take(waits, TAILQ_FIRST(&pool->waits));
	if (!wait)
		missed(waits, pool);
	pthread_mutex_unlock(&waits->mutex);
	wait_end(wait, true);
	return wait != NULL;
}

void waits_wake(struct waits *waits, const char *pool_id)
{
	if (pool_wake(waits, pool_id, missed_told))
		metric_add(M_WAITS_ENDED, "by=\"commit\"", 1);
	else
		eventfd_write(waits->wake, 1);
}

/* Ends all waits of the pool here. `tell`: also on the other schedulers. */
static void pool_dismiss(struct waits *waits, const char *pool_id, bool tell)
{
	struct wait_list dismissed = TAILQ_HEAD_INITIALIZER(dismissed);
	struct wait *wait;
	struct pool *pool;

	pthread_mutex_lock(&waits->mutex);
	pool = pool_of(waits, pool_id);
	while ((wait = wait_take(waits, TAILQ_FIRST(&pool->waits))))
		TAILQ_INSERT_TAIL(&dismissed, wait, in_all);
	pool->dismissed |= tell;
	if (tell)
		pool_tell(waits, pool);
	pthread_mutex_unlock(&waits->mutex);
	while ((wait = TAILQ_FIRST(&dismissed))) {
		TAILQ_REMOVE(&dismissed, wait, in_all);
		wait_end(wait, false);
	}
}

struct dismissal {
	struct waits *waits;
	char pool_id[ID_SIZE];
};

static void dismissal_committed(void *data, bool committed)
{
	struct dismissal *dismissal = data;

	if (committed) {
		pool_dismiss(dismissal->waits, dismissal->pool_id, true);
		eventfd_write(dismissal->waits->wake, 1);
	}
	free(dismissal);
}

void waits_dismiss(struct waits *waits, struct db *db, const char *pool_id)
{
	struct dismissal *dismissal = mem_new(1, sizeof(*dismissal));

	dismissal->waits = waits;
	text_copy(dismissal->pool_id, sizeof(dismissal->pool_id), pool_id);
	db_after_commit(db, dismissal_committed, dismissal);
}

/* ---- the thread ---- */

struct told {
	char id[ID_SIZE];
	int jobs;
	bool dismissed;
};

static size_t told_take(struct waits *waits, struct told told[MOST_TOLD])
{
	struct pool *pool;
	size_t count = 0;

	pthread_mutex_lock(&waits->mutex);
	while (count < MOST_TOLD && (pool = TAILQ_FIRST(&waits->telling))) {
		TAILQ_REMOVE(&waits->telling, pool, next);
		text_copy(told[count].id, sizeof(told[count].id), pool->id);
		told[count].jobs = pool->jobs;
		told[count++].dismissed = pool->dismissed;
		pool->telling = pool->dismissed = false;
		pool->jobs = 0;
	}
	pthread_mutex_unlock(&waits->mutex);
	return count;
}

static void waits_tell(struct waits *waits)
{
	struct told told[MOST_TOLD];
	struct err err = ERR_INIT;
	_cleanup_(db_array_release) struct db_array notices = DB_ARRAY_INIT;
	size_t count = told_take(waits, told);

	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *notice = mem_printf("%s %d", told[i].id, told[i].jobs);
		_cleanup_(freep) char *dismissal = mem_printf("%s 0", told[i].id);

		if (told[i].dismissed)
			db_array_add(&notices, dismissal);
		if (told[i].jobs)
			db_array_add(&notices, notice);
	}
	if (count)
		db_query(waits->db, NULL, &err,
			"select pg_notify('" CHANNEL "', notice) from unnest($1::text[]) notice where exists (select 1 "
			"from pg_stat_activity where application_name = '" CHANNEL "' and datname = current_database() "
			"and pid <> pg_backend_pid())",
			P_ARRAY(&notices));
}

/* Ends one wait for each job, as far as there are waits. */
static void pool_wake_several(
	struct waits *waits, const char *pool_id, long long jobs, missed_fn missed, const char *labels)
{
	for (long long i = 0; i < jobs && pool_wake(waits, pool_id, missed); i++)
		metric_add(M_WAITS_ENDED, labels, 1);
}

/* A notice is "<pool> <number of jobs without a wait>". The number 0 dismisses all waits of the pool. */
static void notice_take(struct waits *waits, char *notice)
{
	char *space = strchr(notice, ' ');
	long long jobs;

	if (!space || text_number(space + 1, 0, INT32_MAX, &jobs) < 0)
		return;
	*space = '\0';
	if (jobs)
		pool_wake_several(waits, notice, jobs, missed_noted, "by=\"notice\"");
	else
		pool_dismiss(waits, notice, false);
}

static void notices_read(struct waits *waits)
{
	char notice[128];

	while (db_notice(waits->db, notice, sizeof(notice)))
		notice_take(waits, notice);
}

/* Ends waits for jobs that have been waiting for STILL_MS. The query walks the index from pool to pool and reads no
 * pool without waiting jobs. */
static void waits_look(struct waits *waits)
{
	struct err err = ERR_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(waits->db, &rows, &err,
		    "with recursive pools as ("
		    "(select pool_id from jobs where state = 'waiting' order by pool_id limit 1) union all "
		    "select n.pool_id from pools p, lateral (select pool_id from jobs where state = 'waiting' "
		    "and pool_id > p.pool_id order by pool_id limit 1) n) "
		    "select p.pool_id, (select count(*) from (select created_at from jobs where pool_id = p.pool_id "
		    "and state = 'waiting' limit 64) j where created_at < now() - make_interval(secs => $1::int / "
		    "1000.0)) "
		    "as jobs from pools p",
		    P_INT(STILL_MS)) < 0)
		return;
	for (int i = 0; i < rows.count; i++)
		pool_wake_several(
			waits, row_text(&rows, i, "pool_id"), row_int(&rows, i, "jobs"), missed_left, "by=\"look\"");
}

/* Takes the oldest wait if it is overdue, or in any case while stopping. Returns NULL if there is none. */
static struct wait *overdue_take(struct waits *waits, int64_t now)
{
	struct wait *wait;

	pthread_mutex_lock(&waits->mutex);
	wait = TAILQ_FIRST(&waits->all);
	if (wait && wait->until_ms > now && !waits->stopping)
		wait = NULL;
	wait_take(waits, wait);
	pthread_mutex_unlock(&waits->mutex);
	return wait;
}

static void overdue_end(struct waits *waits)
{
	struct wait *wait;

	while ((wait = overdue_take(waits, clock_mono_ms())))
		wait_end(wait, false);
}

static int until_ms(int64_t due_ms)
{
	int64_t rest = due_ms - clock_mono_ms();

	return rest > 0 ? (int)rest : 0;
}

/* Returns the timeout of the thread's poll; -1 (no timeout) if no wait is open. */
static int rest_ms(struct waits *waits)
{
	int rest = -1;

	pthread_mutex_lock(&waits->mutex);
	if (waits->stopping)
		rest = 0;
	else if (!TAILQ_EMPTY(&waits->telling))
		rest = until_ms(waits->told_ms + TELL_EVERY_MS);
	else if (waits->count)
		rest = until_ms(waits->looked_ms + LOOK_MS);
	pthread_mutex_unlock(&waits->mutex);
	return rest;
}

static void waits_round(struct waits *waits)
{
	int64_t now = clock_mono_ms();

	if (now - waits->told_ms >= TELL_EVERY_MS) {
		waits->told_ms = now;
		waits_tell(waits);
	}
	if (now - waits->looked_ms >= LOOK_MS) {
		waits->looked_ms = now;
		waits_look(waits);
	}
	notices_read(waits);
	overdue_end(waits);
}

static bool waits_rest(struct waits *waits)
{
	struct pollfd fds[] = {{.fd = waits->wake, .events = POLLIN}, {.fd = db_socket(waits->db), .events = POLLIN}};
	eventfd_t ignored;
	bool goes_on;

	poll(fds, ARRAY_LEN(fds), rest_ms(waits));
	eventfd_read(waits->wake, &ignored);
	pthread_mutex_lock(&waits->mutex);
	goes_on = !waits->stopping;
	pthread_mutex_unlock(&waits->mutex);
	return goes_on;
}

static void *waits_thread(void *data)
{
	struct waits *waits = data;

	waits_look(waits); /* connects, and so listens from the start */
	while (waits_rest(waits))
		waits_round(waits);
	overdue_end(waits);
	return NULL;
}

int waits_start(const char *database_url, struct waits **ret_waits, struct err *err)
{
	struct waits *waits = mem_new(1, sizeof(*waits));

	pthread_mutex_init(&waits->mutex, NULL);
	TAILQ_INIT(&waits->all);
	TAILQ_INIT(&waits->telling);
	waits->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	waits->db = db_open_listening(database_url, CHANNEL);
	if (pthread_create(&waits->thread, NULL, waits_thread, waits) != 0) {
		waits->stopping = true;
		waits_free(waits);
		return err_set(err, ERR_INTERNAL, "no more threads");
	}
	*ret_waits = waits;
	return 0;
}

void waits_stop(struct waits *waits)
{
	bool stopping;

	if (!waits)
		return;
	pthread_mutex_lock(&waits->mutex);
	stopping = waits->stopping;
	waits->stopping = true;
	pthread_mutex_unlock(&waits->mutex);
	if (stopping)
		return;
	eventfd_write(waits->wake, 1);
	pthread_join(waits->thread, NULL);
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	db_close(waits->db);
	tdestroy(waits->workers, free);
	tdestroy(waits->pools, free);
	closep(&waits->wake);
	pthread_mutex_destroy(&waits->mutex);
	free(waits);
}
