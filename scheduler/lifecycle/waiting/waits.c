/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/waiting/waits.h"

static const struct {
	const char *code, *event;
} waits[WAIT_COUNT] = {
#define WAIT(symbol, code, event, text) [WAIT_##symbol] = {code, event},
#include "scheduler/lifecycle/waiting/waits.def"
#undef WAIT
};

static enum wait_kind wait_in_queue(const struct wait_facts *facts)
{
	const struct queue_view *workspace = &facts->workspace;

	if (workspace->maintenance && facts->run.status == RUN_PENDING)
		return WAIT_MAINTENANCE;
	if (facts->run.plan_only)
		return WAIT_TURN;
	if (workspace->has_current || !facts->first)
		return WAIT_TURN;
	if (workspace->locked)
		return WAIT_LOCKED;
	return workspace->held ? WAIT_HELD : WAIT_TURN;
}

static enum wait_kind wait_for_worker(const struct wait_facts *facts)
{
	const struct pool_view *pool = &facts->pool;

	if (facts->workspace.held && !facts->run.plan_only)
		return WAIT_HELD;
	if (pool->failover)
		return WAIT_FAILOVER;
	if (pool->key_missing)
		return WAIT_KEY;
	if (pool->drained)
		return WAIT_POOL_DRAINED;
	if (!pool->accepting)
		return WAIT_WORKER;
	if (!pool->willing)
		return WAIT_ACCEPTANCE;
	if (pool->pool_full)
		return WAIT_POOL_QUOTA;
	if (pool->organization_full)
		return WAIT_QUOTA;
	return pool->free ? WAIT_CLAIM : WAIT_SLOT;
}

enum wait_kind wait_of(const struct wait_facts *facts)
{
	if (run_ended(&facts->run))
		return WAIT_NONE;
	if (facts->run.queued)
		return wait_in_queue(facts);
	if (facts->job_waiting)
		return wait_for_worker(facts);
	if (facts->git_waiting)
		return WAIT_FETCH;
	switch (run_situation(&facts->run)) {
	case AT_STOPPING:
		return WAIT_STOPPING;
	case AT_OVERRIDE:
		return WAIT_OVERRIDE;
	case AT_WINDOW:
		return WAIT_WINDOW;
	case AT_DECISION:
	case AT_SAVED:
		return WAIT_CONFIRMATION;
	default:
		return facts->run.stage != STAGE_NONE && stages[facts->run.stage].doer == BY_NOTIFIER ? WAIT_TASKS
												      : WAIT_NONE;
	}
}

const char *wait_code(enum wait_kind kind)
{
	return waits[kind].code;
}

const char *wait_event(enum wait_kind kind)
{
	return waits[kind].event;
}
