/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/* The faults: processes die and are restarted, stall and continue; Redis loses its data; a machine is lost for good. */

static struct process *process_any(struct world *w)
{
	uint32_t which = roll(w, SCHEDULERS + 2 * WORKERS + NOTIFIERS + 1);

	/* Workers that apply are rare and matter most, so they are preferred. */
	for (int i = 0; i < w->engine_count; i++)
		if (w->engines[i].alive && w->engines[i].stage == STAGE_APPLY && roll(w, 3) == 0)
			return &w->workers[w->engines[i].worker].process;
	if (which < SCHEDULERS)
		return &w->schedulers[which];
	which -= SCHEDULERS;
	if (which < 2 * WORKERS)
		return &w->workers[which / 2].process;
	which -= 2 * WORKERS;
	return which < NOTIFIERS ? &w->notifiers[which].process : &w->broker;
}

static void process_up(struct world *w, struct process *process)
{
	process->up = true;
	process->stalled_until = 0;
	TRACE(w, process, "is up");
	if (process->kind == SCHEDULER)
		scheduler_up(w, process);
	else if (process->kind == WORKER)
		worker_up(w, &w->workers[process->number]);
	else if (process->kind == NOTIFIER)
		notifier_up(w, &w->notifiers[process->number]);
}

void process_recover(struct world *w, struct process *process)
{
	process->stalled_until = 0;
	if (!process->up)
		process_up(w, process);
}

static void process_restart(struct world *w, const struct note *note)
{
	if (!note->caller->up)
		process_up(w, note->caller);
}

/* A worker's programs die with it. What they wrote last stays on its disk. */
static void programs_kill(struct world *w, const struct process *worker)
{
	for (struct engine *engine = w->engines; engine < w->engines + ENGINES; engine++)
		if (engine->alive && engine->worker == worker->number)
			engine->alive = false;
}

void process_kill(struct world *w, struct process *process, const char *why)
{
	TRACE(w, process, "dies: %s", why);
	process->up = false;
	process->life++;
	if (process->kind == WORKER)
		programs_kill(w, process);
	schedule(w, NULL, w->calm || roll(w, 3) ? between(w, 100, 10 * SECOND) : between(w, 10 * SECOND, 500 * SECOND),
		process_restart, &(struct note){.caller = process});
}

/* The machine is lost with its disk, and a new one replaces it. */
static void machine_lose(struct world *w, struct worker *worker)
{
	for (int i = 0; i < WORKSPACES; i++)
		w->db.workspaces[i].machine_lost = true;
	for (struct folder *folder = worker->folders; folder < worker->folders + FOLDERS; folder++) {
		if (folder->exists && folder->noted)
			w->db.workspaces[folder->workspace].lost |=
				folder->file.resources & ~folder->delivered.resources;
		folder->exists = false;
	}
	process_kill(w, &worker->process, "with its machine");
}

static void hard_stop(struct world *w, const struct note *note)
{
	process_kill(w, note->of, "stopped by a second signal");
}

/* SIGTERM: the worker finishes its jobs. With a second one it stops at once. */
static void drain(struct world *w, struct worker *worker)
{
	TRACE(w, &worker->process, "drains");
	worker->draining = true;
	if (roll(w, 2))
		return;
	for (int i = 0; i < SLOTS; i++)
		if (worker->works[i].exists)
			work_abandon(w, worker, &worker->works[i]);
	schedule(w, &worker->process, 5 * SECOND, hard_stop, NULL);
}

static void fault_process(struct world *w, struct process *process)
{
	uint32_t how = roll(w, 100);

	if (!process->up || process->stalled_until > w->now)
		return;
	if (how < 45) {
		process_kill(w, process, "killed");
	} else if (how < 90) {
		process->stalled_until =
			w->now + (roll(w, 2) ? between(w, SECOND, 30 * SECOND) : between(w, 30 * SECOND, 600 * SECOND));
		TRACE(w, process, "stalls until %.3f", (double)process->stalled_until / SECOND);
	} else if (process->kind == WORKER && how < 97) {
		drain(w, &w->workers[process->number]);
	} else if (process->kind == WORKER) {
		machine_lose(w, &w->workers[process->number]);
	} else if (process->kind == NOTIFIER) {
		TRACE(w, NULL, "Redis loses its data");
		for (int i = 0; i < TASKS; i++)
			w->redis_due[i] = 0;
	}
}

static void fault(struct world *w, const struct note *note)
{
	(void)note;
	if (w->calm)
		return;
	fault_process(w, process_any(w));
	schedule(w, NULL, between(w, SECOND, w->fault_rates.max_pause), fault, NULL);
}

/* A tenant's process with access to the broker. It can read every id, but its only token is that of another job. */
static void forger(struct world *w, const struct note *note)
{
	bool stops = roll(w, 3) == 0;

	(void)note;
	if (w->calm)
		return;
	schedule(w, NULL, between(w, SECOND, 30 * SECOND), forger, NULL);
	if (!w->db.run_count)
		return;
	int run = (int)roll(w, (uint32_t)w->db.run_count), other = (int)roll(w, (uint32_t)w->db.run_count);
	const struct job *job = &w->db.runs[run].job;

	if (job->exists && run != other)
		produce(w, &w->broker,
			&(struct message){.topic = stops ? ON_CONTROL : ON_RESULTS,
				.run = run,
				.job = job->number,
				.attempt = job->attempt.attempt,
				.word = stops ? STOP_FORCE : OUTCOME_PASSED,
				.has_changes = true,
				.mac = w->db.runs[other].job.token},
			NULL);
}

void faults_begin(struct world *w)
{
	process_up(w, &w->broker);
	for (int i = 0; i < SCHEDULERS; i++)
		process_up(w, &w->schedulers[i]);
	for (int i = 0; i < WORKERS; i++)
		process_up(w, &w->workers[i].process);
	for (int i = 0; i < NOTIFIERS; i++)
		process_up(w, &w->notifiers[i].process);
	schedule(w, NULL, between(w, 0, 60 * SECOND), fault, NULL);
	schedule(w, NULL, between(w, 0, 60 * SECOND), forger, NULL);
}
