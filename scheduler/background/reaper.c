/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/reaper.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "common/metrics.h"
#include "scheduler/auth/factors/factor_attempts.h"
#include "scheduler/auth/identity/attempts.h"
#include "scheduler/auth/identity/oidc.h"
#include "scheduler/auth/saml/sign_in.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/workload/keys.h"
#include "scheduler/auth/vcs/consents.h"
#include "scheduler/background/assessments.h"
#include "scheduler/background/auto_destroy.h"
#include "scheduler/background/gauges.h"
#include "scheduler/background/reaper.sql.h"
#include "scheduler/background/resumption.h"
#include "scheduler/background/schedules/schedules.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/background/task_sweeps.h"
#include "scheduler/background/wait_notes.h"
#include "scheduler/background/schedules/windows.h"
#include "scheduler/intake/dead_letters.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/vcs/reports.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/vcs/git_results.h"
#include "scheduler/runs/holds.h"
#include "scheduler/runs/transition.h"
#include "scheduler/runs/triggers.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/invitations.h"
#include "scheduler/auth/lifetimes/token_limits.h"
#include "scheduler/store/clock_watch.h"
#include "scheduler/store/forwards/forwards.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/runs/holds.sql.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/store/workers/queue_stats.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/lease_grace.h"
#include "scheduler/store/workers/processes.h"

enum { MAX_SWEPT = 100, REASON_SIZE = 512, SHOWN_MS = 300000, MAX_PAUSE_MS = METRICS_SAMPLE_MS / 2 };

struct reaper {
	struct store store;
	char *database_url;
	struct clock_watch clock;
	bool steady; /* the last reading of the clock found no step */
	pthread_t thread;
	int wake;
	atomic_bool stopping;
};

/* ---- leases ---- */

static void lease_reason(const struct leases_ended_row *row, char ret_reason[REASON_SIZE])
{
	const char *worker = text_or_empty(row->worker), *stage = row->stage, *before = row->lost_before;
	bool apply = text_equal(stage, stages[STAGE_APPLY].name), started = row->started;

	if (before && !started)
		snprintf(ret_reason, REASON_SIZE,
			"The work of the stage '%s' was lost with its worker twice (workers %s and %s) and is not "
			"tried again.",
			stage, before, worker);
	else
		snprintf(ret_reason, REASON_SIZE, "Contact with worker %s was lost during the %s (attempt %lld). %s",
			worker, stage, row->attempt,
			!apply            ? "It is tried again."
				: started ? "An apply that may have started is never tried again. The last state that "
					    "was received is the workspace's current one; the workspace is held until "
					    "what the worker may still have has arrived."
					  : "An apply that may have started is never tried again, any other is.");
}

/* Ends the leases in one transaction. If that fails, ends each in its own, so that one failing run does not block the
 * others. */
static int leases_end(struct store *store, struct run_transition *items, size_t count, struct err *err)
{
	struct sweep_failures failures = {0};

	if (runs_apply_transitions(store, items, count, err) == 0)
		return 0;
	if (err->kind == ERR_UNAVAILABLE)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct err why = ERR_INIT;

		if (runs_apply_transitions(store, &items[i], 1, &why) < 0 &&
			sweep_failed(&failures, items[i].run.text, &why, err) < 0)
			return -1;
	}
	sweep_failures_note(&failures, "leases");
	*err = (struct err)ERR_INIT;
	return 0;
}

/* model: sweep */
static int sweep_leases(struct reaper *reaper, struct err *err)
{
	struct store *store = &reaper->store;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool steady = false;
	struct run_transition items[MAX_SWEPT] = {0};
	char reasons[MAX_SWEPT][REASON_SIZE];

	if (db_query(store->db, &rows, err, leases_ended, .max = MAX_SWEPT) < 0)
		return -1;
	/* The clock is read after the selection, so the reading detects every step that could have selected these
	 * rows. */
	if (rows.count && clock_watch_look(&reaper->clock, store, &steady, err) < 0)
		return -1;
	if (!steady)
		return 0;
	for (int i = 0; i < rows.count; i++) {
		const struct leases_ended_row *row = row_of(leases_ended, &rows, i);
		char labels[64];

		lease_reason(row, reasons[i]);
		text_copy(items[i].run.text, ID_SIZE, row->run_id);
		text_copy(items[i].job.text, ID_SIZE, row->id);
		items[i].attempt = (int)row->attempt;
		items[i].event = (struct run_event){.kind = EV_LOST, .state_owed = true};
		items[i].ended_lease = row->lease_until;
		items[i].reason = reasons[i];
		snprintf(labels, sizeof(labels), "stage=\"%s\"", row->stage);
		metric_add(M_LEASES_LOST, labels, 1);
		log_warn("a lease ended", "run", items[i].run.text, "job", items[i].job.text, "worker", row->worker,
			"stage", row->stage, NULL);
	}
	return rows.count ? leases_end(store, items, (size_t)rows.count, err) : 0;
}

/* ---- holds ---- */

/* Each hold is logged once, by whichever replica finds it. runyard_workspaces_held_long shows how many there are. */
static int holds_warn(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (holds_alert(store, MAX_SWEPT, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct holds_alert_row *row = row_of(holds_alert, &rows, i);

		log_warn("a workspace is held for long: start its worker again, cancel the run, or release the "
			 "workspace",
			"workspace", row->workspace_id, "run", row->run_id, "worker", row->worker, "since",
			row->began_at, "until", row->until, NULL);
	}
	return 0;
}

static int sweep_holds(struct reaper *reaper, struct err *err)
{
	struct store *store = &reaper->store;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct sweep_failures failures = {0};
	bool steady = false;

	if (holds_due(store, MAX_SWEPT, &rows, err) < 0)
		return -1;
	/* As for leases. */
	if (rows.count && clock_watch_look(&reaper->clock, store, &steady, err) < 0)
		return -1;
	for (int i = 0; steady && i < rows.count; i++) {
		const struct holds_due_row *row = row_of(holds_due, &rows, i);
		const struct hold_order order = {
			.workspace_id = row->workspace_id, .job_id = row->job_id, .event = HOLD_DEADLINE};
		struct err why = ERR_INIT;
		bool ended = false;

		if (hold_release(store, &order, &ended, &why) < 0 &&
			sweep_failed(&failures, order.workspace_id, &why, err) < 0)
			return -1;
		if (ended)
			log_warn("a hold ended without its state", "workspace", order.workspace_id, "job", order.job_id,
				NULL);
	}
	sweep_failures_note(&failures, "holds");
	return holds_warn(store, err);
}

static int sweep_tasks(struct reaper *reaper, struct err *err)
{
	return sweep_task_deadlines(&reaper->store, &reaper->clock, err);
}

/* ---- queues ---- */

struct forgetting {
	struct store *store;
	const char *workspace_id;
};

/* Clears has_queue of a workspace without queued runs. Every transaction that queues a run sets has_queue (a
 * trigger), but none clears it when a queued run is canceled. The update is a second statement, so that it sees what
 * was committed while the first waited for the lock. */
static int queue_forget_in(void *data, struct err *err)
{
	const struct forgetting *f = data;

	if (db_query(f->store->db, NULL, err, queue_lock, .workspace_id = f->workspace_id) < 0)
		return -1;
	return db_query(f->store->db, NULL, err, queue_forget, .workspace_id = f->workspace_id);
}

/* A queue that could go on and does not is a bug in the scheduler. The sweep moves it on, so that no operator has
 * to. */
static int queue_look(struct store *store, const char *workspace_id, bool waiters, struct err *err)
{
	struct forgetting f = {store, workspace_id};

	if (!waiters)
		return db_transaction(store->db, queue_forget_in, &f, err);
	log_warn("a queue stood still", "workspace", workspace_id, NULL);
	return workspace_kick(store, workspace_id, err);
}

static int sweep_queues(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct sweep_failures failures = {0};

	if (db_query(store->db, &rows, err, queues_still, .max = MAX_SWEPT) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct queues_still_row *row = row_of(queues_still, &rows, i);
		struct err why = ERR_INIT;

		if (queue_look(store, row->id, row->waits, &why) < 0 && sweep_failed(&failures, row->id, &why, err) < 0)
			return -1;
	}
	sweep_failures_note(&failures, "queues");
	return 0;
}

/* ---- expired rows ---- */

static int sweep_workers(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, workers_forget);
}

static int sweep_exports(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, plan_exports_forget);
}

/* ---- the thread ---- */

static const struct {
	const char *name;
	int64_t every_ms;
	enum {
		SWEEP_ANY,
		SWEEP_BY_CLOCK,   /* compares times by PostgreSQL's clock: skipped while that clock has just stepped */
		SWEEP_ONLY_SHOWN, /* only updates what /metrics shows */
	} kind;
	int (*sweep)(struct store *store, struct err *err);
	int (*with_clock)(
		struct reaper *reaper, struct err *err); /* instead of `sweep`: reads the clock after its rows */
} sweeps[] = {
	{"leases", 2000, SWEEP_BY_CLOCK, .with_clock = sweep_leases},
	{"git jobs", 5000, SWEEP_BY_CLOCK, .sweep = git_jobs_sweep},
	{"git pools", 10000, SWEEP_ANY, .sweep = git_jobs_tidy},
	{"holds", 5000, SWEEP_BY_CLOCK, .with_clock = sweep_holds},
	{"task requests", 5000, SWEEP_BY_CLOCK, .sweep = sweep_task_requests},
	{"forwarded requests", 30000, SWEEP_BY_CLOCK, .sweep = forwards_expire},
	{"notifications", 5000, SWEEP_BY_CLOCK, .sweep = sweep_notifications},
	{"commit statuses", 5000, SWEEP_BY_CLOCK, .sweep = vcs_reports_sweep},
	{"hooks", 5000, SWEEP_ANY, .sweep = vcs_hooks_sweep},
	{"task deadlines", 2000, SWEEP_BY_CLOCK, .with_clock = sweep_tasks},
	{"pools", 2000, SWEEP_ONLY_SHOWN, .sweep = gauges_pools},
	{"site", 2000, SWEEP_ONLY_SHOWN, .sweep = gauges_site},
	{"audit exports", 5000, SWEEP_ONLY_SHOWN, .sweep = gauges_audit},
	{"capacity", 5000, SWEEP_ANY, .sweep = capacity_record},
	{"queue samples", 10000, SWEEP_ANY, .sweep = queue_sample},
	{"replication", 10000, SWEEP_ANY, .sweep = epoch_watch_replication},
	{"keys", 10000, SWEEP_ANY, .sweep = keys_report_waiting},
	{"key use", 10000, SWEEP_ANY, .sweep = keys_use},
	{"site settings", 10000, SWEEP_ANY, .sweep = site_settings_watch},
	{"queues", 15000, SWEEP_ANY, .sweep = sweep_queues},
	{"resumption", 2000, SWEEP_ANY, .sweep = resumption_sweep},
	{"wait notes", 2500, SWEEP_ANY, .sweep = wait_notes_sweep},
	{"auto destroy", 5000, SWEEP_ANY, .sweep = auto_destroy_sweep},
	{"assessments", 1000, SWEEP_ANY, .sweep = assessments_sweep},
	{"maintenance windows", 2000, SWEEP_BY_CLOCK, .sweep = windows_sweep},
	{"schedules", 2000, SWEEP_BY_CLOCK, .sweep = schedules_sweep},
	{"run triggers", 1000, SWEEP_ANY, .sweep = triggers_sweep},
	{"processes", 30000, SWEEP_ANY, .sweep = processes_beat},
	{"workers", 60000, SWEEP_BY_CLOCK, .sweep = sweep_workers},
	{"unused tokens", 15000, SWEEP_BY_CLOCK, .sweep = tokens_unused_sweep},
	{"sessions", 600000, SWEEP_ANY, .sweep = sessions_sweep},
	{"factor attempts", 600000, SWEEP_ANY, .sweep = factor_attempts_sweep},
	{"consents", 600000, SWEEP_ANY, .sweep = consents_sweep},
	{"workload keys", 3600000, SWEEP_ANY, .sweep = workload_keys_sweep},
	{"SAML assertions", 60000, SWEEP_ANY, .sweep = saml_assertions_sweep},
	{"sign-in attempts", 600000, SWEEP_ANY, .sweep = sign_in_attempts_sweep},
	{"logout tokens", 600000, SWEEP_ANY, .sweep = oidc_logouts_sweep},
	{"invitations", 600000, SWEEP_ANY, .sweep = invitations_sweep},
	{"exports", 3600000, SWEEP_ANY, .sweep = sweep_exports},
	{"letters", 600000, SWEEP_ANY, .sweep = dead_letters_sweep},
	{"audit trail", 600000, SWEEP_ANY, .sweep = audit_count},
};

/* Returns false for a sweep that only updates /metrics, if /metrics was not read lately. */
static bool sweep_is_wanted(size_t i, int64_t now)
{
	return sweeps[i].kind != SWEEP_ONLY_SHOWN || now - metrics_read_ms() < SHOWN_MS;
}

/* Reads the clock at most once in each round. */
static bool clock_is_steady(struct reaper *reaper, bool *looked)
{
	struct err err = ERR_INIT;

	if (!*looked && clock_watch_look(&reaper->clock, &reaper->store, &reaper->steady, &err) < 0) {
		log_warn("PostgreSQL's clock can't be read", "error", err.message, NULL);
		reaper->steady = false;
	}
	*looked = true;
	return reaper->steady;
}

static int sweep_run(struct reaper *reaper, size_t i, struct err *err)
{
	return sweeps[i].with_clock ? sweeps[i].with_clock(reaper, err) : sweeps[i].sweep(&reaper->store, err);
}

/* Gauges take at most one percent of the time, but are never so old that /metrics leaves them out. */
static int64_t pause_after(int64_t took_ms)
{
	return took_ms * 100 < MAX_PAUSE_MS ? took_ms * 100 : MAX_PAUSE_MS;
}

static void sweep_due(struct reaper *reaper, int64_t due[ARRAY_LEN(sweeps)])
{
	bool looked = false;

	for (size_t i = 0; i < ARRAY_LEN(sweeps); i++) {
		struct err err = ERR_INIT;
		int64_t now = clock_mono_ms();
		bool leases;

		if (now < due[i] || !sweep_is_wanted(i, now))
			continue;
		if (sweeps[i].kind == SWEEP_BY_CLOCK && !clock_is_steady(reaper, &looked))
			continue;
		due[i] = now + sweeps[i].every_ms;
		leases = sweeps[i].with_clock == sweep_leases;
		if (leases && leases_have_grace(reaper->store.settings->lease_seconds))
			continue;
		if (sweep_run(reaper, i, &err) < 0)
			log_warn(
				"sweep failed: it is tried again", "sweep", sweeps[i].name, "error", err.message, NULL);
		else if (leases)
			leases_watched();
		if (sweeps[i].kind == SWEEP_ONLY_SHOWN)
			due[i] += pause_after(clock_mono_ms() - now);
	}
}

/* No thread can use a server with an unknown history until the history is settled. */
static void history_settle(struct reaper *reaper)
{
	struct err err = ERR_INIT;

	if (db_history_doubted() && epoch_settle(&reaper->store, reaper->database_url, &err) < 0)
		log_warn("the history of the database is not settled, and is tried again", "error", err.message, NULL);
}

static void *reaper_thread(void *data)
{
	struct reaper *reaper = data;
	struct pollfd wake = {.fd = reaper->wake, .events = POLLIN};
	int64_t due[ARRAY_LEN(sweeps)] = {0};

	while (!atomic_load(&reaper->stopping)) {
		progress_busy("reaper");
		history_settle(reaper);
		sweep_due(reaper, due);
		progress_idle();
		poll(&wake, 1, 500);
	}
	return NULL;
}

int reaper_start(const struct reaper_spec *spec, struct reaper **ret_reaper, struct err *err)
{
	struct reaper *reaper = mem_new(1, sizeof(*reaper));

	reaper->store = spec->store;
	reaper->store.db = db_open(spec->database_url);
	reaper->database_url = mem_text(spec->database_url);
	reaper->wake = eventfd(0, EFD_CLOEXEC);
	if (reaper->wake < 0 || pthread_create(&reaper->thread, NULL, reaper_thread, reaper) != 0) {
		err_errno(err, "sweeper");
		db_close(reaper->store.db);
		free(reaper->database_url);
		free(reaper);
		return -1;
	}
	*ret_reaper = reaper;
	return 0;
}

void reaper_stop(struct reaper *reaper)
{
	if (!reaper)
		return;
	atomic_store(&reaper->stopping, true);
	eventfd_write(reaper->wake, 1);
	pthread_join(reaper->thread, NULL);
	db_close(reaper->store.db);
	closep(&reaper->wake);
	free(reaper->database_url);
	free(reaper);
}
