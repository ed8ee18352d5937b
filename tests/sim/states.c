/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/state_order.h"
#include "tests/sim/world.h"

/* States and holds: store/states/state_writes.c, store/runs/uploads.c, store/runs/holds.c. */

/* ---- holds ---- */

void hold_begin(struct world *w, int run, bool engine_ended)
{
	struct run_row *row = &w->db.runs[run];
	struct workspace *workspace = &w->db.workspaces[row->workspace];

	row->late.job = row->job.number;
	row->late.token = row->job.token;
	workspace->hold = (struct hold_row){.exists = true,
		.engine_ended = engine_ended,
		.run = run,
		.job = row->job.number,
		.attempt = row->job.attempt.attempt,
		.token = row->job.token,
		.until = w->plan.flaw == FLAW_HOLD_TIMER ? w->now + 10 * SECOND : row->job.deadline,
		.stop = row->job.stop};
	TRACE(w, NULL, "workspace-%d is held: run-%d owes its last state", row->workspace, run);
}

static void hold_end(struct world *w, int workspace, enum hold_event event, bool risks)
{
	struct hold_row *row = &w->db.workspaces[workspace].hold;

	if (event == HOLD_DEADLINE)
		check_hold(w, workspace);
	check_hold_end(w, row->job, risks);
	w->db.workspaces[workspace].forced |= event != HOLD_LAST_STATE;
	row->exists = false;
	db_advance_queue(w, workspace);
}

static void hold_signal(struct world *w, struct hold_row *row, enum stop stop)
{
	row->stop = stop;
	if (!w->db.runs[row->run].cooled_at)
		w->db.runs[row->run].cooled_at = w->now + COOL_OFF;
	outbox_put(w,
		&(struct message){.topic = ON_CONTROL,
			.run = row->run,
			.job = row->job,
			.attempt = row->attempt,
			.word = (int)stop,
			.mac = row->token});
}

bool hold_apply(struct world *w, int workspace, enum hold_event event, const char *what)
{
	struct hold_row *row = &w->db.workspaces[workspace].hold;
	const struct hold hold = {.holds = row->exists,
		.engine_ended = row->engine_ended,
		.past_deadline = row->until < w->now,
		.cooled_off = row->exists && w->db.runs[row->run].cooled_at && w->db.runs[row->run].cooled_at <= w->now,
		.stop = row->stop};
	struct hold_verdict v = hold_step(&hold, event);

	if (v.refused)
		return false;
	TRACE(w, NULL, "the hold of workspace-%d: %s%s", workspace, what, v.ends ? ", and ends" : "");
	if (w->plan.flaw == FLAW_HOLD_CANCEL && v.signals)
		v.ends = true;
	if (v.signals)
		hold_signal(w, row, v.stop);
	if (v.ends)
		hold_end(w, workspace, event, v.risks);
	return true;
}

/* ---- states ---- */

enum answer serve_fetch(struct world *w, struct note *note)
{
	const struct run_row *row = db_granted(w, note->run, note->job, note->token);

	if (!row)
		return ANSWER_OVER;
	note->file = w->db.workspaces[row->workspace].state.file;
	/* The plan file names the state that it was made from. terraform refuses to apply it to any other. */
	note->flag = row->job.stage == STAGE_APPLY && row->base_state != w->db.workspaces[row->workspace].state.id;
	return ANSWER_OK;
}

static struct state_mark mark_of(const struct file *file, const struct id *job, char md5[34], char line[2])
{
	snprintf(md5, 34, "%lld-%llx", file->serial, (unsigned long long)file->resources);
	line[0] = (char)('a' + file->lineage);
	line[1] = '\0';
	return (struct state_mark){file->serial, line, md5, job->text[0] ? job->text : NULL};
}

/* store/states/states.c, order_find. */
static enum state_order order_of(
	const struct world *w, const struct workspace *workspace, const struct note *note, bool late)
{
	const struct state_row *current = &workspace->state;
	const struct id jobs[] = {job_id(current->job), job_id(note->job)};
	char md5[2][34], line[2][2];
	const struct state_mark known = mark_of(&current->file, &jobs[0], md5[0], line[0]);
	const struct state_mark next = mark_of(&note->file, &jobs[1], md5[1], line[1]);
	const struct state_since since = {
		.overtaken = current->job != note->job && current->id != w->db.runs[note->run].base_state,
		.others_work = workspace->locked ||
			(workspace->current != NONE && workspace->current != note->run &&
				w->db.runs[workspace->current].run.stage == STAGE_APPLY),
	};

	if (w->plan.flaw == FLAW_STATE_ORDER)
		return STATE_FOLLOWS;
	if (late)
		return state_order_late(current->file.exists ? &known : NULL, &next, &since);
	return current->file.exists ? state_order(&known, &next) : STATE_FOLLOWS;
}

static void state_take(struct world *w, struct workspace *workspace, const struct note *note)
{
	bool own = workspace->state.file.exists && workspace->state.job == note->job;

	workspace->state = (struct state_row){
		.id = own ? workspace->state.id : ++w->db.last_state, .job = note->job, .file = note->file};
	TRACE(w, NULL, "workspace-%d has state %lld of job-%d", (int)(workspace - w->db.workspaces), note->file.serial,
		note->job);
	check_state(w, workspace);
}

static bool is_late_of(const struct run_row *row, const struct note *note)
{
	return row->late.job == note->job && row->late.token == note->token;
}

/* From the present attempt, or late from the last attempt of an apply, whose token stays valid for this. */
enum answer serve_state(struct world *w, struct note *note)
{
	const struct run_row *row = &w->db.runs[note->run];
	struct workspace *workspace = &w->db.workspaces[row->workspace];
	bool late = !db_granted(w, note->run, note->job, note->token);
	enum state_order order;

	if (late && !is_late_of(row, note))
		return ANSWER_OVER;
	order = order_of(w, workspace, note, late);
	if (order == STATE_FOLLOWS) {
		state_take(w, workspace, note);
	} else if (order != STATE_KNOWN) {
		workspace->detached |= note->file.resources;
		TRACE(w, NULL, "state %lld of job-%d is detached", note->file.serial, note->job);
	}
	return ANSWER_OK;
}

/* No more states will come from that attempt (runs/holds.c, apply_settled). If it is the present one, its worker
 * was away, and the attempt is over now. */
enum answer serve_last_state(struct world *w, struct note *note)
{
	struct run_row *row = &w->db.runs[note->run];
	struct item lost = {.run = note->run,
		.job = note->job,
		.attempt = note->attempt,
		.event = {.kind = EV_LOST},
		.by_worker = true};

	if (db_granted(w, note->run, note->job, note->token)) {
		db_apply_transitions(w, &lost, 1);
		return ANSWER_OK;
	}
	if (!is_late_of(row, note))
		return ANSWER_OVER;
	row->late.job = row->late.token = 0;
	if (w->db.workspaces[row->workspace].hold.job == note->job)
		hold_apply(w, row->workspace, HOLD_LAST_STATE, "its last state has arrived");
	return ANSWER_OK;
}
