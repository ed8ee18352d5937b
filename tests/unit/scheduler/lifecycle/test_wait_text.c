/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "scheduler/lifecycle/waiting/wait_text.h"

static struct wait_facts queued(void)
{
	return (struct wait_facts){.run = run_created(0), .first = true};
}

/* The job of a run's plan waits in a pool with room. */
static struct wait_facts planning(void)
{
	struct wait_facts facts = queued();
	const struct run_event turn = {.kind = EV_TURN};

	facts.run = run_step(&facts.run, &turn).run;
	facts.job_waiting = true;
	facts.pool = (struct pool_view){.accepting = 2, .willing = 2, .slots = 4, .free = 1};
	return facts;
}

static struct wait_facts running(enum stage stage)
{
	struct wait_facts facts = planning();

	facts.job_waiting = false;
	facts.run.stage = stage;
	facts.run.underway = true;
	return facts;
}

static struct wait_subject subject(void)
{
	return (struct wait_subject){.organization = "acme",
		.workspace = "net",
		.run = "run-2",
		.before.id = "",
		.decider.teams = "",
		.lock = {"", ""},
		.hold = {.run = "", .worker = ""},
		.maintenance = {"", ""},
		.pool = {.name = "edge", .drained_since = "", .last_seen = ""},
		.task.name = "",
		.stop.worker = ""};
}

static void says(const struct wait_facts *facts, const struct wait_subject *s, const char *text)
{
	struct wait_text got;

	wait_text_write(facts, s, &got);
	assert_string_equal(got.text, text);
}

static void links(const struct wait_facts *facts, const struct wait_subject *s, const char *text, const char *address)
{
	struct wait_text got;
	const struct wait_link *link;

	wait_text_write(facts, s, &got);
	assert_true(got.link_count > 0);
	link = &got.links[got.link_count - 1];
	assert_int_equal(link->len, strlen(text));
	assert_memory_equal(got.text + link->start, text, link->len);
	assert_string_equal(link->address, address);
}

static void test_behind_another_run(void **state)
{
	struct wait_facts facts = queued();
	struct wait_subject s = subject();

	(void)state;
	says(&facts, &s, "The run is the next of its workspace to start.");
	facts.workspace.has_current = true;
	s.before.id = "run-1";
	s.before.run = (struct run){.status = RUN_PLANNING, .stage = STAGE_PLAN, .underway = true};
	s.before.seconds = 119;
	says(&facts, &s, "Behind run-1 (Planning, 1 min).");
	links(&facts, &s, "run-1", "/app/acme/workspaces/net/runs/run-1");
	s.before.others = 3;
	says(&facts, &s, "Behind run-1 (Planning, 1 min). Runs between them in the queue: 3.");
	s.before.others = 0;
	s.before.seconds = 7200;
	s.before.run = (struct run){.status = RUN_PLANNED, .stage = STAGE_CONFIRM};
	says(&facts, &s, "Behind run-1 (awaiting confirmation, 2 h).");
	s.decider = (struct wait_decider){.teams = "owners", .team_count = 1};
	says(&facts, &s, "Behind run-1 (awaiting confirmation by the team owners, 2 h).");
	s.before.run = (struct run){.status = RUN_POLICY_OVERRIDE, .stage = STAGE_OPA};
	says(&facts, &s, "Behind run-1 (awaiting an override of its policies by the team owners, 2 h).");
}

static void test_for_the_workspace(void **state)
{
	struct wait_facts facts = queued();
	struct wait_subject s = subject();

	(void)state;
	facts.workspace.held = true;
	says(&facts, &s, "The workspace is held until its last apply is known to have ended.");
	s.hold.run = "run-1";
	says(&facts, &s,
		"The workspace is held: worker unknown was lost in the apply of run-1, and its last state may still "
		"come.");
	s.hold.worker = "w1";
	s.hold.engine_ended = true;
	says(&facts, &s,
		"The workspace is held: the apply of run-1 has ended on worker w1, and its last state is missing.");
	links(&facts, &s, "run-1", "/app/acme/workspaces/net/runs/run-1");
	s.hold.settled = true;
	says(&facts, &s, "The workspace is held: the apply of run-1 reported resources that are in no state.");
	facts.workspace.locked = true;
	says(&facts, &s, "The workspace is locked.");
	s.lock.by = "ada";
	s.lock.reason = "a move";
	says(&facts, &s, "The workspace is locked by ada: \"a move\".");
	links(&facts, &s, "locked", "/app/acme/workspaces/net/settings/locking");
	facts.workspace.maintenance = true;
	s.maintenance.since = "2026-11-23 14:00 UTC";
	s.maintenance.reason = "new disks";
	says(&facts, &s,
		"Maintenance since 2026-11-23 14:00 UTC: \"new disks\". The run starts when maintenance ends.");
}

static void test_for_a_worker(void **state)
{
	struct wait_facts facts = planning();
	struct wait_subject s = subject();

	(void)state;
	says(&facts, &s, "A worker in pool edge has a free slot and takes the run within seconds.");
	facts.pool.free = 0;
	s.pool.slots = 40;
	s.pool.place = 7;
	s.pool.places = 12;
	says(&facts, &s, "All 40 worker slots of pool edge are busy: position 7 of 12.");
	links(&facts, &s, "position 7 of 12", "/app/acme/queue");
	s.pool.eta_seconds = 180;
	says(&facts, &s, "All 40 worker slots of pool edge are busy: position 7 of 12, about 3 min.");
	s.pool.slots = 1;
	s.pool.place = s.pool.eta_seconds = 0;
	s.pool.places = 1000;
	says(&facts, &s, "The only worker slot of pool edge is busy: more than 1000 jobs wait.");
	facts.pool.organization_full = true;
	s.organization_limit = 10;
	says(&facts, &s, "The organization's limit is reached: 10 runs at a time.");
	facts.pool.pool_full = true;
	s.pool.limit = 4;
	says(&facts, &s, "The limit of pool edge is reached: 4 runs at a time.");
	facts.pool.willing = 0;
	says(&facts, &s, "No worker in pool edge accepts the stage \"plan\" of runs (--accept).");
	facts.pool.accepting = 0;
	says(&facts, &s, "No worker in pool edge.");
	s.pool.last_seen = "2026-11-23 14:02 UTC";
	says(&facts, &s, "No worker in pool edge since 2026-11-23 14:02 UTC.");
	s.pool.live = 2;
	says(&facts, &s, "No worker in pool edge takes jobs: all 2 are draining.");
}

static void test_for_run_tasks(void **state)
{
	struct wait_facts facts = running(STAGE_PRE_PLAN);
	struct wait_subject s = subject();

	(void)state;
	says(&facts, &s, "Run tasks have not reported.");
	s.task.name = "scan";
	says(&facts, &s, "Run task \"scan\" has not taken its request.");
	s.task.taken = true;
	s.task.seconds = 125;
	s.task.limit_seconds = 600;
	says(&facts, &s, "Run task \"scan\" has not called back: 2 min of 10 min.");
	links(&facts, &s, "Run task \"scan\"", "/app/acme/workspaces/net/runs/run-2#pre_plan");
	s.task.others = 1;
	says(&facts, &s,
		"Run task \"scan\" has not called back: 2 min of 10 min. Further run tasks without a result: 1.");
}

static void test_for_a_person(void **state)
{
	struct wait_facts facts = running(STAGE_CONFIRM);
	struct wait_subject s = subject();

	(void)state;
	facts.run.underway = false;
	facts.run.status = RUN_PLANNED;
	says(&facts, &s, "Awaiting confirmation.");
	s.decider = (struct wait_decider){.teams = "owners, a, b", .team_count = 3};
	says(&facts, &s, "Awaiting confirmation by one of the teams owners, a, b.");
	s.decider.team_count = 4;
	says(&facts, &s, "Awaiting confirmation by one of the teams owners, a, b and others.");
	links(&facts, &s, "confirmation", "/app/acme/workspaces/net/runs/run-2#confirm");
	s.decider.is_reader = true;
	says(&facts, &s, "Awaiting confirmation, which you may give.");
	facts.run.stage = STAGE_OPA;
	facts.run.status = RUN_POLICY_OVERRIDE;
	says(&facts, &s, "Failed policies need an override, which you may give.");
}

static void test_for_a_maintenance_window(void **state)
{
	struct wait_facts facts = running(STAGE_CONFIRM);
	struct wait_subject s = subject();

	(void)state;
	facts.run.underway = false;
	facts.run.status = RUN_CONFIRMED;
	says(&facts, &s, "Applies start only in maintenance windows. None is about to open.");
	s.window_opens = "2026-11-28 22:00 UTC";
	s.decider.is_reader = true;
	says(&facts, &s,
		"Applies start only in maintenance windows. The next one opens at 2026-11-28 22:00 UTC. You may start "
		"the apply now.");
}

static void test_for_a_stop(void **state)
{
	struct wait_facts facts = running(STAGE_PLAN);
	struct wait_subject s = subject();

	(void)state;
	says(&facts, &s, "");
	facts.run.stopping = STOP_CANCEL;
	s.stop.worker = "w1";
	s.stop.seconds = 12;
	says(&facts, &s, "Cancel sent to worker w1 12 s ago; its programs have not ended.");
	facts.run.stopping = STOP_FORCE;
	s.stop.worker = "";
	says(&facts, &s, "Force-cancel sent 12 s ago; its programs have not ended.");
}

/* Names and reasons of users may be long, and full of quotes. */
static void test_long_texts_are_shortened_at_a_character(void **state)
{
	struct wait_facts facts = queued();
	struct wait_subject s = subject();
	struct wait_text got;
	char reason[4096];

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(reason); i += 2)
		memcpy(reason + i, "\xc3\xa9", 3);
	facts.workspace.locked = true;
	s.lock.reason = reason;
	wait_text_write(&facts, &s, &got);
	assert_true(strlen(got.text) < WAIT_TEXT_SIZE);
	assert_string_equal(got.text + strlen(got.text) - 4, "\xc3\xa9\".");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_behind_another_run),
		cmocka_unit_test(test_for_the_workspace),
		cmocka_unit_test(test_for_a_worker),
		cmocka_unit_test(test_for_run_tasks),
		cmocka_unit_test(test_for_a_person),
		cmocka_unit_test(test_for_a_maintenance_window),
		cmocka_unit_test(test_for_a_stop),
		cmocka_unit_test(test_long_texts_are_shortened_at_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
