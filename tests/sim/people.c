/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/* Users and their actions, which can occur at any time. In the calm phase they create nothing, make the decisions
 * that runs wait for, and unlock. */

static bool user_action(struct world *w, int run, enum run_event_kind kind)
{
	struct item item = {.run = run, .job = NONE, .event = {.kind = kind}};

	if (!run_accepts(&w->db.runs[run].run, kind) && kind != EV_FORCE_CANCELED)
		return false;
	TRACE(w, NULL, "user: %s run-%d", run_event_name(kind), run);
	db_apply_transitions(w, &item, 1);
	return true;
}

static int run_any(struct world *w)
{
	return w->db.run_count ? (int)roll(w, (uint32_t)w->db.run_count) : NONE;
}

static void order(struct world *w)
{
	static const uint32_t configurable = STAGE_BIT(STAGE_FETCH) | STAGE_BIT(STAGE_PRE_PLAN) |
		STAGE_BIT(STAGE_POST_PLAN) | STAGE_BIT(STAGE_OPA) | STAGE_BIT(STAGE_COST) | STAGE_BIT(STAGE_SENTINEL) |
		STAGE_BIT(STAGE_PRE_APPLY) | STAGE_BIT(STAGE_POST_APPLY);
	/* Most runs have few of these stages. */
	struct run run = run_created(roll(w, 1u << STAGE_COUNT) & roll(w, 1u << STAGE_COUNT) & configurable);
	uint32_t kind;

	if (w->db.run_count == RUNS)
		return;
	kind = roll(w, 12);
	run.plan_only = kind % 6 == 0;
	run.assessment = kind == 0;
	run.save_plan = !run.plan_only && roll(w, 8) == 0;
	run.auto_apply = !run.plan_only && roll(w, 4);
	run.allow_empty_apply = roll(w, 5) == 0;
	db_create_run(w, (int)roll(w, WORKSPACES), &run);
}

static bool decide(struct world *w, int run)
{
	switch (run_situation(&w->db.runs[run].run)) {
	case AT_DECISION:
		return user_action(w, run, roll(w, 5) ? EV_CONFIRMED : EV_DISCARDED);
	case AT_SAVED:
		return user_action(w, run, roll(w, 3) ? EV_CONFIRMED : EV_DISCARDED);
	case AT_WINDOW:
		return user_action(w, run, roll(w, 5) ? EV_OPENED : EV_DISCARDED);
	case AT_OVERRIDE:
		return user_action(w, run, roll(w, 3) ? EV_OVERRIDDEN : EV_DISCARDED);
	default:
		return false;
	}
}

static void decide_some(struct world *w)
{
	for (int run = 0; run < w->db.run_count; run++)
		if (roll(w, 2) && decide(w, run))
			return;
}

static void cancel(struct world *w)
{
	int run = run_any(w);

	if (run != NONE)
		user_action(w, run, EV_CANCELED);
	for (run = 0; run < w->db.run_count; run++)
		if (w->db.runs[run].run.stopping && roll(w, 2))
			user_action(w, run, EV_FORCE_CANCELED);
	for (int i = 0; i < WORKSPACES; i++)
		if (roll(w, 2) && !hold_apply(w, i, HOLD_CANCELED, "a user cancels its run"))
			hold_apply(w, i, HOLD_FORCE_CANCELED, "a user force-cancels its run");
}

/* store/workspaces/workspaces.c: a workspace that a run holds can't be locked. A user's lock stops the queue. */
static void lock(struct world *w, struct workspace *workspace)
{
	if (workspace->locked) {
		workspace->locked = false;
		db_advance_queue(w, (int)(workspace - w->db.workspaces));
	} else if (workspace->current == NONE && !workspace->hold.exists) {
		workspace->locked = true;
	}
}

/* `terraform state push` by the holder of the lock: imports a resource. */
static void push(struct world *w, struct workspace *workspace)
{
	uint64_t bit = 1ull << (w->resources[workspace - w->db.workspaces]++ % 64);
	struct file file = workspace->state.file;

	if (!workspace->locked)
		return;
	file.exists = true;
	file.serial++;
	file.resources |= bit;
	workspace->written |= bit;
	workspace->state = (struct state_row){.id = ++w->db.last_state, .job = NONE, .person = true, .file = file};
	TRACE(w, NULL, "a user pushes state %lld to workspace-%d", file.serial, (int)(workspace - w->db.workspaces));
	check_state(w, workspace);
}

/* force-unlock: the user asserts that no state is owed any more. */
static void release(struct world *w)
{
	for (int i = 0; i < WORKSPACES; i++)
		hold_apply(w, i, HOLD_RELEASED, "a user releases it");
}

/* runs/force.c: discards the runs before it. */
static void force(struct world *w)
{
	int run = run_any(w), current;

	if (run == NONE || w->db.runs[run].run.status != RUN_PENDING || w->db.runs[run].run.plan_only)
		return;
	current = w->db.workspaces[w->db.runs[run].workspace].current;
	if (current == NONE || !run_accepts(&w->db.runs[current].run, EV_DISCARDED))
		return;
	for (int i = 0; i < run; i++)
		if (w->db.runs[i].workspace == w->db.runs[run].workspace && w->db.runs[i].run.queued &&
			!w->db.runs[i].run.plan_only)
			user_action(w, i, EV_DISCARDED);
	user_action(w, current, EV_DISCARDED);
}

static enum answer serve_user(struct world *w, struct note *note)
{
	struct workspace *workspace = &w->db.workspaces[roll(w, WORKSPACES)];
	uint32_t what = roll(w, 100);

	(void)note;
	if (what < 40)
		order(w);
	else if (what < 70)
		decide_some(w);
	else if (what < 80)
		cancel(w);
	else if (what < 88)
		lock(w, workspace);
	else if (what < 94)
		push(w, workspace);
	else if (what < 96)
		force(w);
	else if (what == 96)
		release(w);
	return ANSWER_OK;
}

static enum answer serve_calm_user(struct world *w, struct note *note)
{
	(void)note;
	for (int run = 0; run < w->db.run_count; run++)
		decide(w, run);
	for (int i = 0; i < WORKSPACES; i++)
		if (w->db.workspaces[i].locked)
			lock(w, &w->db.workspaces[i]);
	return ANSWER_OK;
}

static void user_step(struct world *w, const struct note *note)
{
	struct process *scheduler = scheduler_any(w);
	struct note nothing = {.count = 0};

	(void)note;
	if (scheduler)
		transact(w, scheduler, w->calm ? serve_calm_user : serve_user, &nothing);
	schedule(w, NULL, w->calm ? 5 * SECOND : between(w, 200, 15 * SECOND), user_step, NULL);
}

void people_begin(struct world *w)
{
	schedule(w, NULL, 0, user_step, NULL);
}
