/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/vcs.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "scheduler/runs/vcs/deliveries.h"
#include "scheduler/runs/vcs/events.h"
#include "scheduler/store/vcs/calls/event_asks.h"
#include "scheduler/store/vcs/calls/pulls.h"
#include "scheduler/store/vcs/contents.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/refs.h"

enum {
	MAX_SLEEP_MS = 60000, /* a notification may be lost with its connection */
	RETRY_MS = 2000,      /* after a failure */
	CONTENTS_MS = 5000,
	READS_MS = 30000,
	EXPIRE_MS = 600000,
	NOTICE_SIZE = 64,
	MAX_STEP_MS = 50, /* then the next step has its turn: a flood of deliveries must not stop events */
};

struct vcs_thread {
	struct store store;
	pthread_t thread;
	int wake;
	atomic_bool stopping;
	int64_t contents_at, reads_at, expire_at; /* when the sweeps are due; clock_mono_ms */
};

/* ---- steps ---- */

static int looks_step(struct store *store, bool *ret_more, struct err *err)
{
	*ret_more = false;
	return vcs_looks_due(store, err);
}

static int pulls_step(struct store *store, bool *ret_more, struct err *err)
{
	*ret_more = false;
	return vcs_pulls_enqueue(store, err);
}

/* In the order in which one makes work for the next. */
static const struct {
	const char *name;
	int (*run)(struct store *store, bool *ret_more, struct err *err);
} steps[] = {
	{"deliveries", vcs_deliveries_read},
	{"events", vcs_events_decide},
	{"looks", looks_step},
	{"pull requests", pulls_step},
};

static int step_run(struct vcs_thread *vcs, size_t i, struct err *err)
{
	int64_t end = clock_mono_ms() + MAX_STEP_MS;
	bool more = true;

	while (more && clock_mono_ms() < end && !atomic_load(&vcs->stopping))
		if (steps[i].run(&vcs->store, &more, err) < 0)
			return -1;
	return 0;
}

/* A step that fails does not stop the others. */
static bool steps_run(struct vcs_thread *vcs)
{
	bool failed = false;

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		struct err err = ERR_INIT;

		if (step_run(vcs, i, &err) == 0)
			continue;
		failed = true;
		log_warn("work for runs from commits failed and is tried again", "step", steps[i].name, "error",
			err.message, NULL);
	}
	return !failed;
}

static void sweep_run(
	struct vcs_thread *vcs, int64_t *due, int64_t every_ms, int (*sweep)(struct store *store, struct err *err))
{
	struct err err = ERR_INIT;

	if (clock_mono_ms() < *due)
		return;
	*due = clock_mono_ms() + every_ms;
	if (sweep(&vcs->store, &err) < 0)
		log_warn("a sweep for runs from commits failed and is tried again", "error", err.message, NULL);
}

/* ---- the thread ---- */

static int sleep_ms(struct vcs_thread *vcs, bool succeeded)
{
	int64_t now = clock_mono_ms(), ms = MAX_SLEEP_MS;
	struct err err = ERR_INIT;
	long long due;

	if (!succeeded || vcs_next_due(&vcs->store, &due, &err) < 0)
		return RETRY_MS;
	if (due >= 0 && due < ms)
		ms = due;
	if (vcs->contents_at - now < ms)
		ms = vcs->contents_at > now ? vcs->contents_at - now : 0;
	return (int)ms;
}

/* Drops the notifications that have arrived. Returns true if there was one: the socket does not show those that came
 * with the answers of statements. */
static bool notices_drop(struct vcs_thread *vcs)
{
	char notice[NOTICE_SIZE];
	bool any = false;

	while (db_notice(vcs->store.db, notice, sizeof(notice)))
		any = true;
	return any;
}

static void *vcs_main(void *data)
{
	struct vcs_thread *vcs = data;

	while (!atomic_load(&vcs->stopping)) {
		struct pollfd fds[] = {{.fd = vcs->wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
		bool succeeded;
		int ms;

		progress_busy("vcs");
		notices_drop(vcs);
		succeeded = steps_run(vcs);
		sweep_run(vcs, &vcs->contents_at, CONTENTS_MS, vcs_contents_sweep);
		sweep_run(vcs, &vcs->reads_at, READS_MS, vcs_event_reads_expire);
		sweep_run(vcs, &vcs->expire_at, EXPIRE_MS, vcs_events_expire);
		ms = sleep_ms(vcs, succeeded);
		progress_idle();
		fds[1].fd = db_socket(vcs->store.db);
		if (ms > 0 && !notices_drop(vcs))
			poll(fds, ARRAY_LEN(fds), ms);
	}
	return NULL;
}

int vcs_thread_start(const struct vcs_thread_spec *spec, struct vcs_thread **ret_vcs, struct err *err)
{
	struct vcs_thread *vcs = mem_new(1, sizeof(*vcs));

	vcs->store = spec->store;
	vcs->store.db = db_open_listening(spec->database_url, "runyard_vcs");
	vcs->wake = eventfd(0, EFD_CLOEXEC);
	if (vcs->wake < 0 || pthread_create(&vcs->thread, NULL, vcs_main, vcs) != 0) {
		err_errno(err, "the thread for runs from commits");
		closep(&vcs->wake);
		db_close(vcs->store.db);
		free(vcs);
		return -1;
	}
	*ret_vcs = vcs;
	return 0;
}

void vcs_thread_stop(struct vcs_thread *vcs)
{
	if (!vcs)
		return;
	atomic_store(&vcs->stopping, true);
	eventfd_write(vcs->wake, 1);
	pthread_join(vcs->thread, NULL);
	db_close(vcs->store.db);
	closep(&vcs->wake);
	free(vcs);
}
