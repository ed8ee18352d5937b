/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/walk.h"

#include "common/buf.h"

enum { PAGE_LIMIT = 1 << 20 };

static const char *const doers[] = {"worker", "notifier", "person", "git job"};
static const char *const ends[] = {"ends errored", "awaits an override", "goes on"};
static const char *const groups[] = {"", "parked", "final"};

struct edges_seen {
	bool from_to[RUN_STATUS_COUNT][RUN_STATUS_COUNT][EVENT_COUNT];
};

/* A step may pass through several statuses. The event leads to the first; the others follow without an event. */
static void edge_note(void *data, const struct run *from, const struct run_event *event, const struct verdict *v)
{
	struct edges_seen *seen = data;
	enum run_status last = from->status;

	for (size_t i = 0; i < v->reached_count; i++) {
		seen->from_to[last][v->reached[i]][i ? EV_TURN : event->kind] = true;
		last = v->reached[i];
	}
}

static void walk_all(struct edges_seen *seen)
{
	for (unsigned options = 0; options < 16; options++) {
		struct run run = run_created((1u << STAGE_COUNT) - 1);

		run.plan_only = options & 1;
		run.save_plan = options & 2;
		run.auto_apply = options & 4;
		if (options & 8)
			run.stages = run_created(0).stages;
		lifecycle_walk(&run, edge_note, seen);
	}
}

static void page_statuses(struct buf *page)
{
	buf_text(page, "## Statuses\n\n| status | shown as | its time | |\n|---|---|---|---|\n");
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		buf_printf(page, "| `%s` | %s | `%s` | %s |\n", run_statuses[i].name, run_statuses[i].label,
			run_statuses[i].timestamp, groups[run_statuses[i].group]);
}

static void page_stages(struct buf *page)
{
	buf_text(page,
		"\n## Stages, in order\n\n| stage | waits as | runs as | rests as | done by | a failure | an error |\n"
		"|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < STAGE_COUNT; i++)
		buf_printf(page, "| %s | `%s` | `%s` | `%s` | %s | %s | %s |\n", stages[i].name,
			run_statuses[stages[i].waiters].name, run_statuses[stages[i].runs].name,
			run_statuses[stages[i].rests].name, doers[stages[i].doer], ends[stages[i].failure],
			ends[stages[i].error]);
}

static void page_events(struct buf *page)
{
	buf_text(page,
		"\n## What a run accepts, by where it stands\n\nAnything else is refused, with a reason, and changes "
		"nothing.\n\n| stands | events |\n|---|---|\n");
	for (int at = 0; at < SITUATION_COUNT; at++) {
		buf_printf(page, "| %s |", situation_name((enum situation)at));
		for (int kind = 0; kind < EVENT_COUNT; kind++)
			if (edge_exists((enum situation)at, (enum run_event_kind)kind))
				buf_printf(page, " %s", run_event_name((enum run_event_kind)kind));
		buf_text(page, " |\n");
	}
}

/* Appends the names of the events between two statuses; "then" for a step without an event. */
static void page_label(struct buf *page, const bool kinds[EVENT_COUNT])
{
	const char *comma = "";

	for (int kind = 0; kind < EVENT_COUNT; kind++)
		if (kinds[kind]) {
			buf_printf(page, "%s%s", comma,
				kind == EV_TURN ? "then" : run_event_name((enum run_event_kind)kind));
			comma = ", ";
		}
}

static void page_drawing(struct buf *page, const struct edges_seen *seen)
{
	buf_text(page,
		"\n## Every way from one status to the next\n\nFound by stepping from creation with every event, with "
		"all "
		"stages and with none of the optional ones.\n\n```mermaid\nstateDiagram-v2\n\t[*] --> pending\n");
	for (int from = 0; from < RUN_STATUS_COUNT; from++)
		for (int to = 0; to < RUN_STATUS_COUNT; to++) {
			struct buf label = BUF_INIT(PAGE_LIMIT);

			page_label(&label, seen->from_to[from][to]);
			if (label.len)
				buf_printf(page, "\t%s --> %s: %s\n", run_statuses[from].name, run_statuses[to].name,
					buf_str(&label));
			buf_release(&label);
		}
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		if (run_statuses[i].group == FINAL)
			buf_printf(page, "\t%s --> [*]\n", run_statuses[i].name);
	buf_text(page, "```\n");
}

char *lifecycle_page(void)
{
	struct buf page = BUF_INIT(PAGE_LIMIT);
	_cleanup_(freep) struct edges_seen *seen = mem_new(1, sizeof(*seen));

	walk_all(seen);
	buf_text(&page,
		"# The states of a run\n\nMade from `proto/run_status.def`, `proto/stages.def` and `edges.def` by "
		"`runyard-scheduler states`; a test keeps it true.\n\n");
	page_statuses(&page);
	page_stages(&page);
	page_events(&page);
	page_drawing(&page, seen);
	return buf_take(&page);
}
