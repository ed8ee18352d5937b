/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/* The requests of workers about their jobs: api/internal/worker.c, api/internal/jobs.c, runs/claim.c,
 * store/workers/workers.c. */

/* ---- registration (store/workers/workers.c, worker_register) ---- */

enum answer serve_register(struct world *w, struct note *note)
{
	const struct process *worker = note->caller;

	note->who = ++w->db.last_agent;
	w->db.agents[note->who % (int)ARRAY_LEN(w->db.agents)] =
		(struct agent){.worker = worker->number, .life = worker->life};
	return ANSWER_OK;
}

/* ---- claims (runs/claim.c) ---- */

struct candidates {
	int runs[RUNS];
	struct id ids[RUNS];
	struct waiting jobs[RUNS];
	size_t count;
	int busy[ORGANIZATIONS];
};

static void candidates_find(struct world *w, struct candidates *c)
{
	for (int run = 0; run < w->db.run_count; run++) {
		const struct job *job = &w->db.runs[run].job;
		int organization = w->db.workspaces[w->db.runs[run].workspace].organization;
		bool again = w->plan.flaw == FLAW_CLAIM_CAS && random_chance(w, 50);

		if (!job->exists)
			continue;
		c->busy[organization] += job->attempt.claimed;
		if (job->attempt.claimed && !again)
			continue;
		c->runs[c->count] = run;
		/* Ids are pseudo-random, so that they do not affect the order. */
		snprintf(c->ids[c->count].text, ID_SIZE, "%08x", (unsigned)job->number * 2654435761u);
		c->jobs[c->count] =
			(struct waiting){(int)job->class, organization, job->created_at, c->ids[c->count].text};
		c->count++;
	}
}

/* claim_start_runs and claim_mark. */
static void claim_one(struct world *w, int run, struct note *note)
{
	struct run_row *row = &w->db.runs[run];
	struct job *job = &row->job;
	struct item started = {
		.run = run, .job = job->number, .attempt = job->attempt.attempt, .event = {.kind = EV_STARTED}};

	if (!job->attempt.claimed) {
		check_claim(w, run);
		db_apply_transitions(w, &started, 1);
		if (!started.applied)
			check_failed(w, "job-%d waits, and its run does not start: %s", job->number,
				text_or_empty(started.refused));
	}
	job->attempt.claimed = true;
	job->token = ++w->db.last_token;
	job->agent = note->who;
	job->lease_until = w->now + LEASE;
	job->deadline = w->now + hold_deadline_seconds((APPLY_TIME + STOP_TIME) / SECOND) * SECOND;
	if (job->stage == STAGE_PLAN)
		row->base_state = w->db.workspaces[row->workspace].state.id;
	note->named[note->count++] = (struct named){.run = run,
		.job = job->number,
		.attempt = job->attempt.attempt,
		.token = job->token,
		.stop = job->stop};
}

enum answer serve_claim(struct world *w, struct note *note)
{
	struct candidates c = {.count = 0};
	size_t order[RUNS], slots = (size_t)note->count, picked;

	note->count = 0;
	candidates_find(w, &c);
	picked = claim_order(c.jobs, c.count, c.busy, slots, order);
	for (size_t i = 0; i < picked; i++)
		claim_one(w, c.runs[order[i]], note);
	return ANSWER_OK;
}

/* ---- heartbeats (store/workers/workers.c, worker_beat) ---- */

/* For an attempt that is over, and that holds or held its workspace. */
static enum stop stop_of_hold(const struct world *w, const struct named *said)
{
	const struct hold_row *hold = &w->db.workspaces[w->db.runs[said->run].workspace].hold;

	return said->awaited && hold->job == said->job && hold->attempt == said->attempt ? hold->stop : STOP_NONE;
}

enum answer serve_beat(struct world *w, struct note *note)
{
	for (int i = 0; i < note->count; i++) {
		struct named *said = &note->named[i];
		struct job *job = &w->db.runs[said->run].job;

		said->held = job->exists && job->number == said->job && job->attempt.attempt == said->attempt &&
			job->agent == note->who && job->attempt.claimed;
		said->awaited =
			w->plan.flaw != FLAW_AWAITED && !said->held && w->db.runs[said->run].late.job == said->job;
		said->stop = said->held ? job->stop : stop_of_hold(w, said);
		if (said->held)
			job->lease_until = w->now + LEASE;
	}
	return ANSWER_OK;
}

/* ---- with a job's token ---- */

struct run_row *db_granted(struct world *w, int run, int job, int token)
{
	struct run_row *row = &w->db.runs[run];

	return row->job.exists && row->job.number == job && row->job.attempt.claimed && row->job.token == token ? row
														: NULL;
}

/* runs/claim.c, job_start. */
enum answer serve_started(struct world *w, struct note *note)
{
	struct run_row *row = db_granted(w, note->run, note->job, note->token);

	if (!row || row->job.stop)
		return ANSWER_OVER;
	row->job.attempt.started = true;
	return ANSWER_OK;
}

static struct item result_item(const struct note *note)
{
	/* runs/results.c, result_transition. */
	static const enum run_event_kind events[] = {[OUTCOME_PASSED] = EV_PASSED,
		[OUTCOME_FAILED] = EV_FAILED,
		[OUTCOME_SOFT_FAILED] = EV_SOFT_FAILED,
		[OUTCOME_ERRORED] = EV_ERRORED,
		[OUTCOME_CANCELED] = EV_STOPPED};

	return (struct item){.run = note->run,
		.job = note->job,
		.attempt = note->attempt,
		.is_result = true,
		.event = {.kind = events[note->word], .has_changes = note->flag, .state_owed = note->owed}};
}

/* runs/transition.c, item_decide: the result is for the current attempt, but its code was not made with that
 * attempt's token. */
static bool is_unproven(const struct world *w, const struct note *note)
{
	const struct job *job = &w->db.runs[note->run].job;

	if (!job->exists || job->number != note->job || job->attempt.attempt != note->attempt)
		return false;
	return w->plan.flaw != FLAW_PROOF && (!job->token || job->token != note->message.mac);
}

/* With a code from the topic (runs/results.c), or with a token over HTTP (runs/reports.c). */
enum answer serve_result(struct world *w, struct note *note)
{
	const struct run_row *row = &w->db.runs[note->run];
	struct item item = result_item(note);

	if (note->token ? db_granted(w, note->run, note->job, note->token) != NULL : !is_unproven(w, note))
		db_apply_transitions(w, &item, 1);
	return w->plan.flaw != FLAW_AWAITED && note->token && row->late.token == note->token ? ANSWER_OVER : ANSWER_OK;
}
