/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/*
 * The programs of jobs: terraform plan and apply, opa, a fetch. Each runs under a keeper, outside of the worker's
 * process. It continues while the worker stalls, and dies with the worker. Unless it is an apply, it is dead before
 * the lease ends that was last renewed. An apply is dead at its deadline, which counts from its claim.
 */

enum { MARGIN = 5 * SECOND };

static void engine_step(struct world *w, const struct note *note);

static int64_t pace(struct world *w, enum stage stage)
{
	if (stage != STAGE_APPLY && stage != STAGE_PLAN)
		return between(w, 100, 5 * SECOND);
	return w->calm || roll(w, 4) ? between(w, 500, 10 * SECOND) : between(w, 10 * SECOND, 120 * SECOND);
}

/* ---- the keeper ---- */

static void deadline(struct world *w, const struct note *note)
{
	struct engine *engine = &w->engines[note->who];

	if (!engine->alive || engine->job != note->job || engine->attempt != note->attempt || engine->dies_at > w->now)
		return;
	engine->leaseless = true;
	engine_kill(w, engine, "its lease was not renewed");
}

/* The rest of the lease, on the database's clock. */
static int64_t time_left(const struct world *w, const struct process *worker, int64_t sent_ms)
{
	return real_time(worker, sent_ms + LEASE - MARGIN - clock_of(w, worker));
}

void engine_renewed(struct world *w, struct engine *engine, int64_t sent_ms)
{
	int64_t left = time_left(w, &w->workers[engine->worker].process, sent_ms);

	if (!engine->alive || engine->stage == STAGE_APPLY || w->plan.flaw == FLAW_KEEPER)
		return;
	engine->dies_at = w->now + (left > 0 ? left : 0);
	schedule(w, NULL, left, deadline,
		&(struct note){.who = (int)(engine - w->engines), .job = engine->job, .attempt = engine->attempt});
}

static void deadline_kills(struct world *w, const struct note *note)
{
	struct engine *engine = &w->engines[note->who];

	if (engine->alive && engine->job == note->job && engine->attempt == note->attempt)
		engine_kill(w, engine, "its deadline has passed");
}

static void deadline_interrupts(struct world *w, const struct note *note)
{
	struct engine *engine = &w->engines[note->who];

	if (engine->alive && engine->job == note->job && engine->attempt == note->attempt)
		engine_interrupt(w, engine);
}

static int64_t deadline_left(const struct world *w, const struct worker *worker, const struct work *work, int64_t time)
{
	return real_time(&worker->process, work->claimed_ms + time - clock_of(w, &worker->process));
}

/* Stalls of the worker and renewals of the lease do not move it. */
static void deadline_set(struct world *w, const struct worker *worker, const struct work *work, int engine)
{
	const struct note note = {.who = engine, .job = work->job, .attempt = work->attempt};

	if (work->stage != STAGE_APPLY || w->plan.flaw == FLAW_DEADLINE)
		return;
	schedule(w, NULL, deadline_left(w, worker, work, APPLY_TIME), deadline_interrupts, &note);
	schedule(w, NULL, deadline_left(w, worker, work, APPLY_TIME + STOP_TIME), deadline_kills, &note);
}

/* ---- the program ---- */

static void engine_end(struct world *w, struct engine *engine, bool passed)
{
	engine->alive = false;
	TRACE(w, NULL, "%s of run-%d on worker-%d: %s", stages[engine->stage].name, engine->run, engine->worker,
		passed ? "done" : "failed");
	work_engine_over(w, engine, passed);
}

/* As terraform's statemgr.Filesystem does it: the serial increases with every state that differs from the first one. */
static void state_write(struct world *w, struct engine *engine, uint64_t resources)
{
	struct workspace *workspace = &w->db.workspaces[engine->workspace];

	workspace->written = (workspace->written & ~engine->state.resources) | resources;
	engine->state.exists = true;
	engine->state.resources = resources;
	if (resources != engine->first)
		engine->state.serial++;
	TRACE(w, NULL, "apply of run-%d on worker-%d writes state %lld", engine->run, engine->worker,
		engine->state.serial);
	work_state_written(w, engine);
}

/* Usually a resource is created, and sometimes one is destroyed. Sometimes all new ones are destroyed again: then
 * the state is the earlier one, under a serial that exists already. */
static void resource_change(struct world *w, struct engine *engine)
{
	uint64_t resources = engine->state.resources, bit = 1ull << (w->resources[engine->workspace]++ % 64);
	uint32_t how = roll(w, 10);

	if (how == 0)
		state_write(w, engine, resources & (resources - 1));
	else if (how == 1 && !(engine->first & ~resources))
		state_write(w, engine, engine->first);
	else
		state_write(w, engine, resources | bit);
}

static void engine_step(struct world *w, const struct note *note)
{
	struct engine *engine = &w->engines[note->who];

	if (!engine->alive || engine->job != note->job || engine->attempt != note->attempt)
		return;
	if (engine->left <= 0) {
		engine_end(w, engine, !engine->interrupted && random_chance(w, 920));
		return;
	}
	if (engine->stage == STAGE_APPLY)
		resource_change(w, engine);
	engine->left--;
	schedule(w, NULL, pace(w, engine->stage), engine_step, note);
}

bool engine_may_begin(const struct world *w, const struct worker *worker, const struct work *work)
{
	return w->plan.flaw == FLAW_KEEPER ||
		(time_left(w, &worker->process, work->held_ms) > 0 &&
			(work->stage != STAGE_APPLY || deadline_left(w, worker, work, APPLY_TIME + STOP_TIME) > 0));
}

int engine_begin(struct world *w, struct worker *worker, struct work *work)
{
	struct engine *engine = w->engines;

	while (engine < w->engines + ENGINES && engine->alive)
		engine++;
	if (engine == w->engines + ENGINES) {
		check_failed(w, "more than %d programs run at once", ENGINES);
		return NONE;
	}
	if (engine == w->engines + w->engine_count)
		w->engine_count++;
	*engine = (struct engine){.alive = true,
		.run = work->run,
		.job = work->job,
		.attempt = work->attempt,
		.workspace = work->workspace,
		.worker = worker->process.number,
		.folder = work->folder,
		.stage = work->stage,
		.left = (int)roll(w, 5),
		.state = worker->folders[work->folder].file,
		.first = worker->folders[work->folder].file.resources,
		.dies_at = INT64_MAX};
	TRACE(w, &worker->process, "%s of run-%d begins", stages[work->stage].name, work->run);
	check_engine(w, engine);
	engine_renewed(w, engine, work->held_ms);
	deadline_set(w, worker, work, (int)(engine - w->engines));
	schedule(w, NULL, pace(w, engine->stage), engine_step,
		&(struct note){.who = (int)(engine - w->engines), .job = engine->job, .attempt = engine->attempt});
	return (int)(engine - w->engines);
}

void engine_kill(struct world *w, struct engine *engine, const char *why)
{
	if (!engine->alive)
		return;
	TRACE(w, NULL, "%s of run-%d on worker-%d is killed: %s", stages[engine->stage].name, engine->run,
		engine->worker, why);
	engine->alive = false;
	work_engine_over(w, engine, false);
}

/* It ends with the operation in progress. */
void engine_interrupt(struct world *w, struct engine *engine)
{
	(void)w;
	engine->interrupted = true;
	if (engine->left > 1)
		engine->left = 1;
}
