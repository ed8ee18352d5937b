/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "tests/sim/world.h"

/* Run tasks in the database: store/tasks/task_results.c, store/tasks/task_calls.c, runs/task_reports.c,
 * background/task_sweeps.c.
 */

static const enum stage task_stages[] = {STAGE_PRE_PLAN, STAGE_POST_PLAN, STAGE_PRE_APPLY, STAGE_POST_APPLY};

static bool is_open(const struct task *task)
{
	return task->status == TASK_PENDING || task->status == TASK_RUNNING;
}

/* ---- creation with the run ---- */

/* Creates one or two for each configured stage. If the table has no room for them, the run loses that stage. */
void tasks_make(struct world *w, int run)
{
	struct run *created = &w->db.runs[run].run;

	for (size_t i = 0; i < ARRAY_LEN(task_stages); i++) {
		enum stage stage = task_stages[i];
		int count = (created->stages & STAGE_BIT(stage)) ? 1 + (int)roll(w, 2) : 0;

		if (w->db.task_count + count > TASKS) {
			created->stages &= ~STAGE_BIT(stage);
			continue;
		}
		for (; count > 0; count--)
			w->db.tasks[w->db.task_count++] = (struct task){.exists = true,
				.run = run,
				.stage = stage,
				.notifier = NONE,
				.mandatory = stage != STAGE_POST_APPLY && roll(w, 2)};
	}
}

static void task_queue(struct world *w, struct task *task)
{
	task->delivery = AT_NOTIFIER_WAITING;
	task->give_up_at = w->now + TASK_DELIVERY;
	task->updated_at = w->now;
	outbox_put(w, &(struct message){.topic = ON_TASKS, .run = task->run, .task = (int)(task - w->db.tasks)});
}

static void mark_follow(struct world *w, int run, enum stage stage, enum operation_status status)
{
	for (struct task *task = w->db.tasks; task < w->db.tasks + w->db.task_count; task++) {
		if (task->run != run || task->stage != stage || !is_open(task))
			continue;
		if (status == OPERATION_QUEUED && task->delivery == AT_NONE)
			task_queue(w, task);
		if (status < OPERATION_FINISHED)
			continue;
		task->status = status == OPERATION_UNREACHABLE ? TASK_UNREACHABLE : TASK_CANCELED;
		task->delivery = AT_OVER;
		task->reported = TASK_PENDING;
	}
}

void tasks_follow(struct world *w, int run, const struct verdict *v)
{
	for (size_t i = 0; i < v->mark_count; i++)
		if (stages[v->marks[i].stage].doer == BY_NOTIFIER)
			mark_follow(w, run, v->marks[i].stage, v->marks[i].status);
}

/* ---- reports (runs/task_reports.c) ---- */

static void report(struct world *w, struct task *task, enum task_status status)
{
	task->reported = status;
	task->delivery = AT_OVER;
	task->updated_at = w->now;
}

static void stage_decide(struct world *w, int run)
{
	struct item item = {.run = run, .job = NONE, .event = {.kind = EV_PASSED}};
	const struct run *current = &w->db.runs[run].run;

	if (run_ended(current) || current->stage == STAGE_NONE || stages[current->stage].doer != BY_NOTIFIER)
		return;
	for (const struct task *task = w->db.tasks; task < w->db.tasks + w->db.task_count; task++) {
		if (task->run != run || task->stage != current->stage)
			continue;
		if (is_open(task))
			return;
		if (task->status != TASK_PASSED && item.event.kind != EV_FAILED)
			item.event.kind = task->mandatory ? EV_FAILED : EV_WARNED;
	}
	db_apply_transitions(w, &item, 1);
}

void tasks_decide(struct world *w, int number)
{
	struct task *task = &w->db.tasks[number];

	if (!task->reported || (!is_open(task) && w->plan.flaw != FLAW_TASK_CAS))
		return;
	task->status = task->reported;
	if (w->plan.flaw != FLAW_TASK_CAS)
		task->reported = TASK_PENDING;
	task->delivery = AT_OVER;
	task->updated_at = w->now;
	task->ends++;
	TRACE(w, NULL, "task-%d of run-%d has ended: %s", number, task->run,
		task->status == TASK_PASSED ? "passed" : "not passed");
	stage_decide(w, task->run);
}

/* ---- requests of notifiers (store/tasks/task_calls.c) ---- */

/* Claims the oldest waiting ones, or the one of the job message. */
enum answer serve_task_claim(struct world *w, struct note *note)
{
	int max = note->count;

	note->count = 0;
	for (int i = 0; i < w->db.task_count && note->count < max; i++) {
		struct task *task = &w->db.tasks[i];

		if (task->delivery != AT_NOTIFIER_WAITING || (note->task != NONE && note->task != i))
			continue;
		task->delivery = AT_CLAIMED;
		task->attempt++;
		task->notifier = note->caller->number;
		task->lease_until = w->now + LEASE;
		task->updated_at = w->now;
		note->named[note->count++] =
			(struct named){.job = i, .attempt = task->attempt, .token = (int)(task->give_up_at - w->now)};
	}
	return ANSWER_OK;
}

static struct task *task_held(struct world *w, int number, int attempt)
{
	struct task *task = &w->db.tasks[number];

	return task->attempt == attempt && task->delivery == AT_CLAIMED ? task : NULL;
}

enum answer serve_task_beat(struct world *w, struct note *note)
{
	for (int i = 0; i < note->count; i++) {
		struct task *task = task_held(w, note->named[i].job, note->named[i].attempt);

		note->named[i].held = task && task->notifier == note->caller->number;
		if (note->named[i].held)
			task->lease_until = w->now + LEASE;
	}
	return ANSWER_OK;
}

/* note->word: the service's report, 0 for none yet. */
enum answer serve_task_delivered(struct world *w, struct note *note)
{
	struct task *task = task_held(w, note->task, note->attempt);

	note->due = NONE;
	if (!task || !is_open(task))
		return ANSWER_OK;
	if (!note->flag) {
		report(w, task, TASK_UNREACHABLE);
		tasks_decide(w, note->task);
		return ANSWER_OK;
	}
	task->delivery = AT_ACKNOWLEDGED;
	task->status = TASK_RUNNING;
	task->due_at = w->now + TASK_PROGRESS;
	task->last_at = w->now + TASK_TOTAL;
	note->due = TASK_PROGRESS;
	return ANSWER_OK;
}

enum answer serve_task_callback(struct world *w, struct note *note)
{
	struct task *task = &w->db.tasks[note->task];
	int64_t due = w->now + TASK_PROGRESS;

	if (!is_open(task) || task->reported)
		return ANSWER_OVER;
	task->status = TASK_RUNNING;
	if (note->word != TASK_RUNNING)
		report(w, task, (enum task_status)note->word);
	else if (task->delivery == AT_ACKNOWLEDGED)
		task->due_at = due < task->last_at ? due : task->last_at;
	return ANSWER_OK;
}

enum answer serve_task_late(struct world *w, struct note *note)
{
	struct task *task = &w->db.tasks[note->task];

	note->flag = task->delivery == AT_ACKNOWLEDGED && !task->reported && task->due_at <= w->now;
	note->due = task->delivery == AT_ACKNOWLEDGED && !note->flag ? task->due_at - w->now : NONE;
	if (note->flag)
		report(w, task, TASK_FAILED);
	return ANSWER_OK;
}

/* ---- sweeps (background/task_sweeps.c) ---- */

static void sweep_request(struct world *w, int number)
{
	struct task *task = &w->db.tasks[number];

	if ((task->delivery == AT_CLAIMED && task->lease_until < w->now) ||
		(task->delivery == AT_NOTIFIER_WAITING && task->updated_at < w->now - 5 * SECOND)) {
		task->delivery = AT_NOTIFIER_WAITING;
		task->updated_at = w->now;
		outbox_put(w, &(struct message){.topic = ON_TASKS, .run = task->run, .task = number});
	}
}

static void sweep_silent(struct world *w, struct task *task)
{
	if (task->reported || !is_open(task))
		return;
	if (task->delivery == AT_ACKNOWLEDGED && task->due_at < w->now - TASK_SILENT)
		report(w, task, TASK_FAILED);
	else if ((task->delivery == AT_NOTIFIER_WAITING || task->delivery == AT_CLAIMED) &&
		task->give_up_at < w->now - TASK_SILENT)
		report(w, task, TASK_UNREACHABLE);
}

void sweep_tasks(struct world *w)
{
	for (int i = 0; i < w->db.task_count; i++) {
		sweep_request(w, i);
		sweep_silent(w, &w->db.tasks[i]);
		tasks_decide(w, i);
	}
}
