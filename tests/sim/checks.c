/* SPDX-License-Identifier: MPL-2.0 */
#include <stdarg.h>

#include "tests/sim/world.h"

/*
 * The invariants, checked after every step:
 *
 *  1. A run satisfies its own invariants. It has a job exactly while a worker must do its stage.
 *  2. At most one run holds a workspace, and it is the current one.
 *  3. Two terraform processes never work on one workspace, and none works for an attempt that is over. An
 *     apply may work while its workspace is held for it.
 *  4. An apply starts once. Runs plan and apply from everything that terraform ever wrote in the workspace.
 *  5. The state never goes back, and a resource that was in it stays in it.
 *  6. The runs of a workspace get their turns in order, unless a user has locked it.
 *  7. A job is claimed only if no job precedes it in the order of claims.
 *  8. An attempt is given up only when its lease is over.
 *  9. A job whose workers were lost twice is not retried.
 *  10. A run task ends once.
 *  11. A hold ends when no terraform of its apply is left, unless a user ends it.
 *
 * At the end of the calm phase every run has ended, and every status was published. Nothing is left in the outbox or
 * on a worker's disk. Everything that terraform wrote is in the state.
 *
 * Some events weaken these invariants:
 *
 *  - When a user releases a hold, or its deadline ends it, the state will not come any more. From then on 4 can't
 *    hold for that workspace, and states may be stored in addition to the current one.
 *  - 3 can't hold for a terraform that was alive when a user released its workspace. It holds for all others.
 *  - Data that was on the disk of a lost machine is gone.
 */

void check_failed(struct world *w, const char *format, ...)
{
	va_list args;

	if (w->broken[0])
		return;
	va_start(args, format);
	vsnprintf(w->broken, sizeof(w->broken), format, args);
	va_end(args);
	TRACE(w, NULL, "BROKEN: %s", w->broken);
}

/* ---- 1, 2 ---- */

static bool wants_job(const struct run *run)
{
	enum situation at = run_situation(run);

	return (at == AT_WAITING || at == AT_RUNNING || at == AT_STOPPING) && stages[run->stage].doer == BY_WORKER;
}

static void check_run(struct world *w, int number)
{
	const struct run_row *row = &w->db.runs[number];
	const char *wrong = run_check(&row->run);

	if (wrong)
		check_failed(w, "run-%d breaks invariant %s", number, wrong);
	if (wants_job(&row->run) != row->job.exists)
		check_failed(w, "run-%d is %s and has %s job", number, run_statuses[row->run.status].name,
			row->job.exists ? "a" : "no");
	if (row->job.exists && (row->job.attempt.claimed != row->run.underway || row->job.stage != row->run.stage))
		check_failed(w, "run-%d and its job-%d differ", number, row->job.number);
	if (run_holds(&row->run) && w->db.workspaces[row->workspace].current != number)
		check_failed(w, "run-%d holds workspace-%d, whose current run is run-%d", number, row->workspace,
			w->db.workspaces[row->workspace].current);
}

static void check_workspace(struct world *w, int number)
{
	int current = w->db.workspaces[number].current;

	if (current != NONE && !run_holds(&w->db.runs[current].run))
		check_failed(w, "workspace-%d is kept by run-%d, which is %s", number, current,
			run_statuses[w->db.runs[current].run.status].name);
}

/* ---- 3 ---- */

static bool is_terraform(const struct engine *engine)
{
	return engine->alive && (engine->stage == STAGE_PLAN || engine->stage == STAGE_APPLY);
}

/* True for an apply whose worker was lost, if its workspace is held for it. */
static bool is_awaited(const struct world *w, const struct engine *engine)
{
	const struct workspace *workspace = &w->db.workspaces[engine->workspace];

	return engine->stage == STAGE_APPLY &&
		(engine->risked || (workspace->hold.exists && workspace->hold.run == engine->run));
}

static void check_attempt(struct world *w, const struct engine *engine)
{
	const struct job *job = &w->db.runs[engine->run].job;
	bool live = job->exists && job->number == engine->job && job->attempt.attempt == engine->attempt &&
		job->attempt.claimed;

	if (!live && !is_awaited(w, engine))
		check_failed(w, "%s of run-%d works on worker-%d for an attempt that is over",
			stages[engine->stage].name, engine->run, engine->worker);
}

static void check_engines(struct world *w)
{
	const struct engine *at_work[WORKSPACES] = {NULL};

	for (const struct engine *engine = w->engines; engine < w->engines + w->engine_count; engine++) {
		const struct engine **other = &at_work[engine->workspace];

		if (!is_terraform(engine))
			continue;
		check_attempt(w, engine);
		if (w->db.runs[engine->run].run.plan_only || engine->risked)
			continue;
		if (*other)
			check_failed(w, "%s of run-%d and %s of run-%d work on workspace-%d at once",
				stages[engine->stage].name, engine->run, stages[(*other)->stage].name, (*other)->run,
				engine->workspace);
		*other = engine;
	}
}

void check_all(struct world *w)
{
	for (int run = 0; run < w->db.run_count; run++)
		check_run(w, run);
	for (int workspace = 0; workspace < WORKSPACES; workspace++)
		check_workspace(w, workspace);
	check_engines(w);
}

/* ---- 4 ---- */

void check_engine(struct world *w, const struct engine *engine)
{
	struct run_row *row = &w->db.runs[engine->run];
	const struct workspace *workspace = &w->db.workspaces[engine->workspace];
	uint64_t missing = workspace->written & ~workspace->lost & ~engine->state.resources;

	if (engine->stage == STAGE_APPLY && row->applies++)
		check_failed(w, "run-%d applies a second time", engine->run);
	if (is_terraform(engine) && !row->run.plan_only && !workspace->forced && missing)
		check_failed(w, "%s of run-%d begins from a state that lacks resources", stages[engine->stage].name,
			engine->run);
}

/* ---- 11 ---- */

void check_hold_end(struct world *w, int job, bool risks)
{
	for (struct engine *engine = w->engines; engine < w->engines + w->engine_count; engine++) {
		if (!is_terraform(engine) || engine->job != job)
			continue;
		if (risks)
			engine->risked = true;
		else
			check_failed(w, "the hold for the apply of run-%d ends while its terraform works on worker-%d",
				engine->run, engine->worker);
	}
}

/* A hold must end by itself once its state is stored. Only a hold whose worker is away, or lost with its state,
 * lasts until the deadline. */
void check_hold(struct world *w, int number)
{
	const struct workspace *workspace = &w->db.workspaces[number];

	for (int i = 0; i < WORKERS; i++)
		for (int folder = 0; folder < FOLDERS; folder++)
			if (w->workers[i].folders[folder].exists &&
				w->workers[i].folders[folder].job == workspace->hold.job)
				return;
	if (!workspace->machine_lost)
		check_failed(w, "workspace-%d was held until the deadline, and no worker has its state", number);
}

/* ---- 5 ---- */

void check_state(struct world *w, struct workspace *workspace)
{
	const struct file *file = &workspace->state.file;
	int number = (int)(workspace - w->db.workspaces);

	if (file->serial < workspace->newest)
		check_failed(w, "the state of workspace-%d goes back from %lld to %lld", number, workspace->newest,
			file->serial);
	if (workspace->kept & workspace->written & ~file->resources)
		check_failed(w, "state %lld of workspace-%d lacks earlier resources", file->serial, number);
	workspace->newest = file->serial;
	workspace->kept |= file->resources;
}

/* ---- 6, 7, 8 ---- */

void check_turn(struct world *w, int run)
{
	const struct run_row *row = &w->db.runs[run];

	if (row->run.plan_only)
		return;
	if (w->db.workspaces[row->workspace].locked)
		check_failed(w, "run-%d takes its turn in a locked workspace", run);
	for (int other = 0; other < run; other++)
		if (w->db.runs[other].workspace == row->workspace && w->db.runs[other].run.queued &&
			!w->db.runs[other].run.plan_only)
			check_failed(w, "run-%d takes its turn before run-%d", run, other);
}

void check_claim(struct world *w, int run)
{
	const struct job *claimed = &w->db.runs[run].job;

	for (int other = 0; other < w->db.run_count; other++) {
		const struct job *job = &w->db.runs[other].job;

		if (job->exists && !job->attempt.claimed && job->class < claimed->class)
			check_failed(w, "job-%d is claimed while job-%d, which precedes it, waits", claimed->number,
				job->number);
	}
}

void check_lost(struct world *w, int run)
{
	const struct job *job = &w->db.runs[run].job;

	if (job->lease_until >= w->now)
		check_failed(w, "job-%d of run-%d is given up before its lease has expired", job->number, run);
}

/* ---- the end ---- */

static bool work_is_left(const struct world *w)
{
	for (int i = 0; i < w->engine_count; i++)
		if (w->engines[i].alive)
			return true;
	for (int i = 0; i < WORKERS; i++) {
		for (int kept = 0; kept < KEPT; kept++)
			if (w->workers[i].kept[kept].exists)
				return true;
		for (int folder = 0; folder < FOLDERS; folder++)
			if (w->workers[i].folders[folder].exists)
				return true;
	}
	return false;
}

bool world_quiet(const struct world *w)
{
	for (int run = 0; run < w->db.run_count; run++)
		if (!run_ended(&w->db.runs[run].run))
			return false;
	for (int i = 0; i < WORKSPACES; i++)
		if (w->db.workspaces[i].hold.exists)
			return false;
	for (int i = 0; i < OUTBOX; i++)
		if (w->db.outbox[i].id)
			return false;
	return !work_is_left(w);
}

static void check_published(struct world *w)
{
	for (int run = 0; run < w->db.run_count; run++) {
		const struct run_row *row = &w->db.runs[run];

		if (row->reached & ~row->published)
			check_failed(w, "a status of run-%d, which is %s, was not published", run,
				run_statuses[row->run.status].name);
		if (row->ends != (row->run.plan_only ? 0 : 1))
			check_failed(w, "%d notifications say that run-%d has ended", row->ends, run);
	}
}

static void check_resources(struct world *w)
{
	for (int i = 0; i < WORKSPACES; i++) {
		const struct workspace *workspace = &w->db.workspaces[i];
		uint64_t has = workspace->state.file.resources;

		if (workspace->written & ~has & ~workspace->detached & ~workspace->lost)
			check_failed(w, "resources of workspace-%d are in no state", i);
		if (!workspace->forced && workspace->detached & workspace->written & ~has)
			check_failed(w, "a state of workspace-%d is detached without a reason", i);
	}
}

static void check_all_ended(struct world *w)
{
	for (int run = 0; run < w->db.run_count; run++)
		if (!run_ended(&w->db.runs[run].run))
			check_failed(w, "run-%d stays %s", run, run_statuses[w->db.runs[run].run.status].name);
	for (int i = 0; i < WORKSPACES; i++)
		if (w->db.workspaces[i].hold.exists)
			check_failed(w, "workspace-%d stays held", i);
	if (!world_quiet(w))
		check_failed(w, "work is left that no process does");
}

void check_end(struct world *w)
{
	check_all_ended(w);
	check_published(w);
	check_resources(w);
	for (int i = 0; i < w->db.task_count; i++)
		if (w->db.tasks[i].ends > 1)
			check_failed(w, "task-%d of run-%d ended %d times", i, w->db.tasks[i].run, w->db.tasks[i].ends);
}
