/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/*
 * A claimed job from its claim to its result: worker/runtime/job.c, worker/stage, worker/upload/states.c. Also the
 * states that the job could not deliver: worker/upload/unsent_list.c.
 */

static void advance(struct world *w, struct worker *worker, struct work *work);
static void unsent_send(struct world *w, struct worker *worker, struct folder *folder);

static struct worker *worker_of(struct world *w, const struct note *note)
{
	return &w->workers[note->of->number];
}

struct work *work_find(struct worker *worker, int job, int attempt)
{
	for (int i = 0; i < SLOTS; i++)
		if (worker->works[i].exists && worker->works[i].job == job && worker->works[i].attempt == attempt)
			return &worker->works[i];
	return NULL;
}

static struct work *work_of(struct world *w, const struct note *note)
{
	return work_find(worker_of(w, note), note->job, note->attempt);
}

static struct note note_of(const struct work *work)
{
	return (struct note){.run = work->run, .job = work->job, .attempt = work->attempt, .token = work->token};
}

static bool files_equal(const struct file *a, const struct file *b)
{
	return a->exists == b->exists && a->lineage == b->lineage && a->serial == b->serial &&
		a->resources == b->resources;
}

static bool is_behind(const struct folder *folder)
{
	return !files_equal(&folder->file, &folder->delivered);
}

/* ---- the end ---- */

/* job.c, outcome_settle. */
static void outcome_settle(struct work *work)
{
	if (work->stage == STAGE_APPLY && work->decided && work->outcome == OUTCOME_PASSED)
		return;
	if (work->stop != STOP_NONE)
		work->outcome = OUTCOME_CANCELED;
}

static void work_end(struct world *w, struct worker *worker, struct work *work)
{
	struct folder *folder = &worker->folders[work->folder];

	outcome_settle(work);
	work->owed = folder->noted && is_behind(folder);
	if (work->owed && work->outcome == OUTCOME_PASSED)
		work->outcome = OUTCOME_ERRORED; /* job.c, states_judge */
	TRACE(w, &worker->process, "job-%d (attempt %d) of run-%d has ended: %s", work->job, work->attempt, work->run,
		work->lost ? "lost" : outcome_name(work->outcome));
	if (!work->lost)
		result_add(w, worker, work);
	work->exists = false;
	folder->ended = !work->lost;
	folder->outcome = work->outcome;
	if (!folder->noted)
		folder->exists = false;
	else if (work->lost || work->owed)
		unsent_send(w, worker, folder); /* otherwise the folder waits until its result is confirmed */
	worker_freed(w, worker);
}

static void decide(struct work *work, enum outcome outcome)
{
	if (work->decided)
		return;
	work->decided = true;
	work->outcome = outcome;
}

/* ---- states (upload/states.c) ---- */

static void state_check(struct world *w, struct worker *worker, struct work *work);

static void state_again(struct world *w, const struct note *note)
{
	struct work *work = work_of(w, note);

	if (!work)
		return;
	work->putting = false;
	state_check(w, worker_of(w, note), work);
}

static void state_answered(struct world *w, const struct note *note)
{
	struct work *work = work_of(w, note);
	struct worker *worker = worker_of(w, note);

	if (!work)
		return;
	if (note->answer == ANSWER_NONE) {
		schedule(w, note->of, between(w, 100, 10 * SECOND), state_again, note);
		return;
	}
	work->putting = false;
	worker->folders[work->folder].delivered = note->file;
	state_check(w, worker, work);
}

/* Sends the state in the file, unless the scheduler has it. */
static void state_check(struct world *w, struct worker *worker, struct work *work)
{
	struct folder *folder = &worker->folders[work->folder];
	struct note note = note_of(work);

	if (work->putting)
		return;
	if (is_behind(folder)) {
		work->putting = true;
		note.file = folder->file;
		call(w, &worker->process, serve_state, state_answered, &note);
	} else if (work->settling) {
		work_end(w, worker, work);
	}
}

static void state_was_written(struct world *w, const struct note *note)
{
	struct work *work = work_of(w, note);

	if (work)
		state_check(w, worker_of(w, note), work);
}

void work_state_written(struct world *w, struct engine *engine)
{
	struct worker *worker = &w->workers[engine->worker];

	worker->folders[engine->folder].file = engine->state;
	if (worker->process.up)
		schedule(w, &worker->process, between(w, 0, 20), state_was_written,
			&(struct note){.job = engine->job, .attempt = engine->attempt});
}

/* ---- the steps ---- */

static void work_close(struct world *w, struct worker *worker, struct work *work)
{
	if (worker->folders[work->folder].noted && !work->settling) {
		work->settling = true;
		state_check(w, worker, work);
	} else if (!work->settling) {
		work_end(w, worker, work);
	}
}

static void engine_finished(struct world *w, const struct note *note)
{
	struct work *work = work_of(w, note);

	if (!work)
		return;
	work->engine = NONE;
	work->has_changes = note->flag;
	work->lost |= note->lost;
	decide(work, (enum outcome)note->word);
	work_close(w, worker_of(w, note), work);
}

static enum outcome outcome_of(struct world *w, enum stage stage, bool passed)
{
	if (passed)
		return OUTCOME_PASSED;
	if (stage == STAGE_SENTINEL && random_chance(w, 300))
		return OUTCOME_SOFT_FAILED;
	return stage == STAGE_OPA || stage == STAGE_SENTINEL ? OUTCOME_FAILED : OUTCOME_ERRORED;
}

void work_engine_over(struct world *w, struct engine *engine, bool passed)
{
	struct worker *worker = &w->workers[engine->worker];
	const struct note note = {.job = engine->job,
		.attempt = engine->attempt,
		.word = (int)outcome_of(w, engine->stage, passed),
		.flag = random_chance(w, 850),
		.lost = engine->leaseless};

	if (worker->process.up)
		schedule(w, &worker->process, between(w, 0, 20), engine_finished, &note);
}

static void run_engine(struct world *w, struct worker *worker, struct work *work)
{
	if (engine_may_begin(w, worker, work)) {
		work->engine = engine_begin(w, worker, work);
		return;
	}
	work->lost = true;
	work_close(w, worker, work);
}

static void started(struct world *w, const struct note *note)
{
	struct work *work = work_of(w, note);
	struct worker *worker = worker_of(w, note);

	if (!work)
		return;
	if (note->answer == ANSWER_NONE) {
		advance(w, worker, work);
		return;
	}
	if (note->answer == ANSWER_OVER)
		work->lost = true;
	if (work->lost || work->stop) {
		work_close(w, worker, work); /* terraform did not start */
		return;
	}
	run_engine(w, worker, work);
}

/* The note is written first, so that after a restart the folder of an apply that may have started is recognized. */
static void request_start(struct world *w, struct worker *worker, struct work *work)
{
	const struct note note = note_of(work);

	worker->folders[work->folder].noted = true;
	call(w, &worker->process, serve_started, started, &note);
}

static void advance(struct world *w, struct worker *worker, struct work *work)
{
	if (work->decided || work->lost || work->stop)
		work_close(w, worker, work);
	else if (work->stage != STAGE_APPLY)
		run_engine(w, worker, work);
	else
		request_start(w, worker, work);
}

static void fetch(struct world *w, const struct note *note);

static void fetched(struct world *w, const struct note *note)
{
	struct work *work = work_of(w, note);
	struct worker *worker = worker_of(w, note);
	struct folder *folder = work ? &worker->folders[work->folder] : NULL;

	if (!work)
		return;
	if (note->answer == ANSWER_NONE) {
		schedule(w, note->of, between(w, 100, 10 * SECOND), fetch, note);
		return;
	}
	if (note->answer == ANSWER_OVER)
		work->lost = true;
	if (note->flag)
		decide(work, OUTCOME_ERRORED); /* the saved plan is stale */
	folder->file = folder->delivered = note->file;
	advance(w, worker, work);
}

static void fetch(struct world *w, const struct note *note)
{
	struct work *work = work_of(w, note);
	struct note request;

	if (!work)
		return;
	request = note_of(work);
	call(w, note->of, serve_fetch, fetched, &request);
}

static int folder_make(struct world *w, struct worker *worker, const struct named *claimed)
{
	int folder = 0;

	while (folder < FOLDERS && worker->folders[folder].exists)
		folder++;
	if (folder == FOLDERS) {
		check_failed(w, "worker-%d has more than %d folders", worker->process.number, FOLDERS);
		return 0;
	}
	worker->folders[folder] = (struct folder){.exists = true,
		.run = claimed->run,
		.job = claimed->job,
		.attempt = claimed->attempt,
		.token = claimed->token,
		.workspace = w->db.runs[claimed->run].workspace};
	return folder;
}

void work_begin(struct world *w, struct worker *worker, const struct named *claimed, int64_t sent)
{
	struct work *work = worker->works;

	while (work < worker->works + SLOTS && work->exists)
		work++;
	if (work == worker->works + SLOTS || work_find(worker, claimed->job, claimed->attempt))
		return; /* slots.c: "a job that was not asked for" */
	*work = (struct work){.exists = true,
		.run = claimed->run,
		.job = claimed->job,
		.attempt = claimed->attempt,
		.token = claimed->token,
		.workspace = w->db.runs[claimed->run].workspace,
		.stage = w->db.runs[claimed->run].job.stage,
		.stop = claimed->stop,
		.engine = NONE,
		.folder = folder_make(w, worker, claimed),
		.held_ms = sent,
		.claimed_ms = sent};
	TRACE(w, &worker->process, "takes job-%d (attempt %d): %s of run-%d", work->job, work->attempt,
		stages[work->stage].name, work->run);
	schedule(w, &worker->process, between(w, 10, 3 * SECOND), fetch,
		&(struct note){.job = work->job, .attempt = work->attempt});
}

/* ---- from outside ---- */

void work_stop(struct world *w, struct worker *worker, struct work *work, enum stop stop)
{
	if (stop <= work->stop)
		return;
	work->stop = stop;
	TRACE(w, &worker->process, "job-%d is asked to stop: %s", work->job, stop_name(stop));
	if (work->engine == NONE)
		return;
	if (stop == STOP_FORCE || work->stage != STAGE_APPLY)
		engine_kill(w, &w->engines[work->engine], "stopped");
	else
		engine_interrupt(w, &w->engines[work->engine]);
}

/* A plan is killed. An apply continues and sends its states. */
void work_lose(struct world *w, struct worker *worker, struct work *work)
{
	if (work->lost)
		return;
	work->lost = true;
	TRACE(w, &worker->process, "job-%d (attempt %d) is lost", work->job, work->attempt);
	if (work->engine != NONE && work->stage != STAGE_APPLY)
		engine_kill(w, &w->engines[work->engine], "lost");
}

void work_abandon(struct world *w, struct worker *worker, struct work *work)
{
	work_stop(w, worker, work, STOP_FORCE);
}

/* ---- upload/unsent_list.c: the result, the state, and the note that it was the last ---- */

static void unsent_step(struct world *w, const struct note *note);

static void unsent_answered(struct world *w, const struct note *note)
{
	struct folder *folder = &worker_of(w, note)->folders[note->who];

	if (note->answer == ANSWER_NONE) {
		schedule(w, note->of, between(w, 100, 10 * SECOND), unsent_step, note);
		return;
	}
	if (note->serve == serve_last_state) {
		folder->exists = false;
		return;
	}
	if (note->serve == serve_result)
		folder->ended = false;
	else
		folder->delivered = note->file;
	unsent_step(w, note);
}

static void unsent_step(struct world *w, const struct note *note)
{
	const struct folder *folder = &worker_of(w, note)->folders[note->who];
	const struct note request = {.who = note->who,
		.run = folder->run,
		.job = folder->job,
		.attempt = folder->attempt,
		.token = folder->token,
		.word = (int)folder->outcome,
		.owed = is_behind(folder),
		.file = folder->file};
	serve_fn what = is_behind(folder) ? serve_state : serve_last_state;

	call(w, note->of, folder->ended ? serve_result : what, unsent_answered, &request);
}

static void unsent_send(struct world *w, struct worker *worker, struct folder *folder)
{
	if (folder->sending || w->plan.flaw == FLAW_SPOOL)
		return;
	folder->sending = true;
	schedule(w, &worker->process, 0, unsent_step, &(struct note){.who = (int)(folder - worker->folders)});
}

/* unsent_confirmed: the scheduler has the result, or does not need it any more. */
void unsent_confirmed(struct world *w, struct worker *worker, const struct kept *kept, bool awaited)
{
	for (struct folder *folder = worker->folders; folder < worker->folders + FOLDERS; folder++) {
		if (!folder->exists || folder->job != kept->job || folder->attempt != kept->attempt || folder->sending)
			continue;
		if (awaited)
			unsent_send(w, worker, folder);
		else
			folder->exists = false;
	}
}

void unsent_recover(struct world *w, struct worker *worker)
{
	for (struct folder *folder = worker->folders; folder < worker->folders + FOLDERS; folder++) {
		folder->sending = false;
		if (folder->exists && folder->noted)
			unsent_send(w, worker, folder);
		else
			folder->exists = false;
	}
}
