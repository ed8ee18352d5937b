/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/vcs/listener.h"

#include "scheduler/background/vcs/listener.sql.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"

enum { NOTICE_SIZE = 64, STEP_MS = 50, REST_MS = 400, FLOOD_WAKES = 16 };

struct listener {
	struct store store;
	const struct listener_work *work;
	pthread_t thread;
	int wake;
	atomic_bool stopping;
	atomic_int wakes;                       /* calls of listener_wake since the last round began */
	bool unfinished;                        /* a step has used up its turn in this round */
	int64_t sweeps_at[LISTENER_SWEEPS_MAX]; /* when the sweeps are due; clock_mono_ms */
};

static int failed(const struct listener *l, const char *name, const struct err *err)
{
	log_warn("background work failed and is tried again", "thread", l->work->channel, "work", name, "error",
		err->message, NULL);
	return -1;
}

/* ---- a round ---- */

/* After STEP_MS the other steps have their turn, so that a flood of deliveries does not stop events. next_due reports
 * the rest as due. */
static int step_run(struct listener *l, const struct listener_step *step)
{
	int64_t end = clock_mono_ms() + STEP_MS;
	struct err err = ERR_INIT;
	bool more = true;

	while (more && clock_mono_ms() < end && !atomic_load(&l->stopping))
		if (step->run(&l->store, &more, &err) < 0)
			return failed(l, step->name, &err);
	l->unfinished |= more;
	return 0;
}

/* A step that fails does not stop the others. */
static int steps_run(struct listener *l)
{
	int result = 0;

	for (size_t i = 0; i < l->work->step_count; i++)
		if (step_run(l, &l->work->steps[i]) < 0)
			result = -1;
	return result;
}

static void sweeps_run(struct listener *l)
{
	for (size_t i = 0; i < l->work->sweep_count; i++) {
		const struct listener_sweep *sweep = &l->work->sweeps[i];
		struct err err = ERR_INIT;

		if (clock_mono_ms() < l->sweeps_at[i])
			continue;
		l->sweeps_at[i] = clock_mono_ms() + sweep->every_ms;
		if (sweep->run(&l->store, &err) < 0)
			failed(l, sweep->name, &err);
	}
}

/* Drops the notifications that have arrived. Returns true if there was one. A notification that came with the answer of
 * a statement does not make the socket readable. */
static bool notices_drop(struct listener *l)
{
	char notice[NOTICE_SIZE];
	bool any = false;

	while (db_notice(l->store.db, notice, sizeof(notice)))
		any = true;
	return any;
}

static void wake_drop(const struct listener *l)
{
	eventfd_t ignored;

	eventfd_read(l->wake, &ignored);
}

static int until_due_ms(struct listener *l)
{
	int64_t ms = l->work->max_sleep_ms;
	struct err err = ERR_INIT;
	long long due;

	if (l->work->next_due(&l->store, &due, &err) < 0) {
		failed(l, "next", &err);
		return l->work->retry_ms;
	}
	if (due >= 0 && due < ms)
		ms = due;
	if (l->work->sweep_count && l->sweeps_at[0] - clock_mono_ms() < ms)
		ms = l->sweeps_at[0] - clock_mono_ms();
	return ms > 0 ? (int)ms : 0;
}

/* The other replicas share the work. If the notification is lost, they find it later. */
static void replicas_notify(struct listener *l)
{
	struct err err = ERR_INIT;

	if (db_query(l->store.db, NULL, &err, listener_notify, .channel = l->work->channel) < 0)
		failed(l, "notification", &err);
}

/* Returns the milliseconds to sleep. PostgreSQL sends a notification after its transaction is visible. So the steps see
 * the work of notifications that were dropped before them, and next_due sees the work of later ones. */
static int round_run(struct listener *l)
{
	int result;

	l->unfinished = false;
	wake_drop(l);
	if (atomic_exchange(&l->wakes, 0))
		replicas_notify(l);
	notices_drop(l);
	result = steps_run(l);
	sweeps_run(l);
	if (result < 0)
		return l->work->retry_ms;
	notices_drop(l);
	return l->unfinished || atomic_load(&l->wakes) ? 0 : until_due_ms(l);
}

/* In a flood, requests bring work faster than it is done. They have to be answered first, and they share the CPU and
 * PostgreSQL with this thread. With the rest, two cores store 10,400 deliveries a second instead of 9,100. Only the
 * stop ends it early, since listener_wake writes nothing then. */
static void flood_rest(struct listener *l)
{
	struct pollfd fd = {.fd = l->wake, .events = POLLIN};

	if (!l->unfinished || atomic_load(&l->wakes) < FLOOD_WAKES)
		return;
	wake_drop(l);
	if (!atomic_load(&l->stopping))
		poll(&fd, 1, REST_MS);
}

/* ---- the thread ---- */

static void *listener_main(void *data)
{
	struct listener *l = data;

	while (!atomic_load(&l->stopping)) {
		struct pollfd fds[] = {{.fd = l->wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
		int ms;

		if (l->work->progress)
			progress_busy(l->work->progress);
		ms = round_run(l);
		progress_idle();
		flood_rest(l);
		fds[1].fd = db_socket(l->store.db);
		/* wake_drop may have dropped the wake of the stop. */
		if (ms > 0 && !notices_drop(l) && !atomic_load(&l->stopping))
			poll(fds, ARRAY_LEN(fds), ms);
	}
	return NULL;
}

static void listener_free(struct listener *l)
{
	db_close(l->store.db);
	closep(&l->wake);
	free(l);
}

int listener_start(const struct listener_work *work, const struct store *store, const char *database_url,
	struct listener **ret_listener, struct err *err)
{
	struct listener *l = mem_new(1, sizeof(*l));

	l->work = work;
	l->store = *store;
	l->store.db = db_open_listening(database_url, work->channel);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->wake < 0 || pthread_create(&l->thread, NULL, listener_main, l) != 0) {
		err_errno(err, work->channel);
		listener_free(l);
		return -1;
	}
	*ret_listener = l;
	return 0;
}

void listener_wake(struct listener *l)
{
	if (l && atomic_fetch_add(&l->wakes, 1) == 0)
		eventfd_write(l->wake, 1);
}

void listener_stop(struct listener *l)
{
	if (!l)
		return;
	atomic_store(&l->stopping, true);
	eventfd_write(l->wake, 1);
	pthread_join(l->thread, NULL);
	listener_free(l);
}
