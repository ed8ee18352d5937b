/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/waiting/wait_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, DURATION_SIZE = 24, WHO_SIZE = 400, REASON_SIZE = 800 };

struct sentence {
	const struct wait_facts *facts;
	const struct wait_subject *subject;
	struct wait_text *out;
	size_t len;
};

/* ---- parts ---- */

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(s->out->text + s->len, sizeof(s->out->text) - s->len, format, values);
	va_end(values);
	s->len += strlen(s->out->text + s->len);
}

/* Text that leads to a page below the organization's. */
__attribute__((format(printf, 3, 4))) static void say_link(
	struct sentence *s, const char *text, const char *address, ...)
{
	struct wait_link *link = &s->out->links[s->out->link_count++];
	va_list values;
	int len = snprintf(link->address, sizeof(link->address), "/app/%s/", s->subject->organization);

	va_start(values, address);
	vsnprintf(link->address + len, sizeof(link->address) - (size_t)len, address, values);
	va_end(values);
	link->start = s->len;
	say(s, "%s", text);
	link->len = s->len - link->start;
}

static void say_run(struct sentence *s, const char *run)
{
	say_link(s, run, "workspaces/%s/runs/%s", s->subject->workspace, run);
}

/* Text that leads to the stage on the run's page. */
static void say_stage(struct sentence *s, const char *text, const char *stage)
{
	say_link(s, text, "workspaces/%s/runs/%s#%s", s->subject->workspace, s->subject->run, stage);
}

/* A user's text, shortened. */
static void say_reason(struct sentence *s, const char *reason)
{
	char part[REASON_SIZE];

	text_copy(part, sizeof(part), reason);
	if (*part)
		say(s, ": \"%s\"", part);
	say(s, ".");
}

static const char *duration(long long seconds, char ret_text[DURATION_SIZE])
{
	static const struct {
		long long seconds;
		const char *unit;
	} units[] = {{DAY, "d"}, {HOUR, "h"}, {MINUTE, "min"}, {1, "s"}};
	size_t i = 0;

	if (seconds < 0)
		seconds = 0;
	while (i + 1 < ARRAY_LEN(units) && seconds < units[i].seconds)
		i++;
	snprintf(ret_text, DURATION_SIZE, "%lld %s", seconds / units[i].seconds, units[i].unit);
	return ret_text;
}

/* ", which you may give" or " by the team ops"; nothing if it is unknown. */
static const char *decider_text(const struct wait_decider *decider, char ret_text[WHO_SIZE])
{
	*ret_text = '\0';
	if (decider->is_reader)
		snprintf(ret_text, WHO_SIZE, ", which you may give");
	else if (decider->team_count == 1)
		snprintf(ret_text, WHO_SIZE, " by the team %s", decider->teams);
	else if (decider->team_count > 1)
		snprintf(ret_text, WHO_SIZE, " by one of the teams %s%s", decider->teams,
			decider->team_count > MAX_NAMED_TEAMS ? " and others" : "");
	return ret_text;
}

/* ---- sentences ---- */

static void maintenance_say(struct sentence *s)
{
	say(s, "Maintenance since %s", s->subject->maintenance.since);
	say_reason(s, s->subject->maintenance.reason);
	say(s, " The run starts when maintenance ends.");
}

static void lock_say(struct sentence *s)
{
	say(s, "The workspace is ");
	say_link(s, "locked", "workspaces/%s/settings/locking", s->subject->workspace);
	if (*s->subject->lock.by)
		say(s, " by %s", s->subject->lock.by);
	say_reason(s, s->subject->lock.reason);
}

static void hold_say(struct sentence *s)
{
	const char *worker = *s->subject->hold.worker ? s->subject->hold.worker : "unknown";

	say(s, "The workspace is ");
	say_link(s, "held", "workspaces/%s/settings/locking", s->subject->workspace);
	if (!*s->subject->hold.run) {
		say(s, " until its last apply is known to have ended.");
		return;
	}
	if (s->subject->hold.settled) {
		say(s, ": the apply of ");
		say_run(s, s->subject->hold.run);
		say(s, " reported resources that are in no state.");
	} else if (s->subject->hold.engine_ended) {
		say(s, ": the apply of ");
		say_run(s, s->subject->hold.run);
		say(s, " has ended on worker %s, and its last state is missing.", worker);
	} else {
		say(s, ": worker %s was lost in the apply of ", worker);
		say_run(s, s->subject->hold.run);
		say(s, ", and its last state may still come.");
	}
}

static void say_blocker(struct sentence *s)
{
	const struct run *run = &s->subject->before.run;
	enum situation at = run_situation(run);
	char who[WHO_SIZE], time[DURATION_SIZE];

	say(s, "Behind ");
	say_run(s, s->subject->before.id);
	if (at == AT_DECISION)
		say(s, " (awaiting confirmation%s", decider_text(&s->subject->decider, who));
	else if (at == AT_OVERRIDE)
		say(s, " (awaiting an override of its policies%s", decider_text(&s->subject->decider, who));
	else
		say(s, " (%s", run_label(run));
	say(s, ", %s).", duration(s->subject->before.seconds, time));
}

static void turn_say(struct sentence *s)
{
	long long others = s->subject->before.others;

	if (!*s->subject->before.id) {
		say(s, "The run is the next of its workspace to start.");
		return;
	}
	say_blocker(s);
	if (others > 0)
		say(s, " Runs between them in the queue: %lld.", others);
}

static void failover_say(struct sentence *s)
{
	say(s, "The database failed over a moment ago: applies and plans start after the time of one lease.");
}

static void key_say(struct sentence *s)
{
	say(s, "No scheduler that was asked has the key of the run's secrets.");
}

static void drained_say(struct sentence *s)
{
	say(s, "The pool %s is drained since %s: its workers take no jobs.", s->subject->pool.name,
		s->subject->pool.drained_since);
}

static void worker_say(struct sentence *s)
{
	if (s->subject->pool.live)
		say(s, "No worker in pool %s takes jobs: all %lld are draining.", s->subject->pool.name,
			s->subject->pool.live);
	else if (*s->subject->pool.last_seen)
		say(s, "No worker in pool %s since %s.", s->subject->pool.name, s->subject->pool.last_seen);
	else
		say(s, "No worker in pool %s.", s->subject->pool.name);
}

static void acceptance_say(struct sentence *s)
{
	say(s, "No worker in pool %s accepts the stage \"%s\" of runs (--accept).", s->subject->pool.name,
		stages[s->facts->run.stage].name);
}

static void pool_limit_say(struct sentence *s)
{
	say(s, "The limit of pool %s is reached: %lld runs at a time.", s->subject->pool.name, s->subject->pool.limit);
}

static void organization_limit_say(struct sentence *s)
{
	say(s, "The organization's limit is reached: %lld runs at a time.", s->subject->organization_limit);
}

static void slots_say(struct sentence *s)
{
	const long long slots = s->subject->pool.slots;
	char place[64], time[DURATION_SIZE];

	if (slots == 1)
		say(s, "The only worker slot of pool %s is busy: ", s->subject->pool.name);
	else
		say(s, "All %lld worker slots of pool %s are busy: ", slots, s->subject->pool.name);
	if (s->subject->pool.place)
		snprintf(
			place, sizeof(place), "position %lld of %lld", s->subject->pool.place, s->subject->pool.places);
	else
		snprintf(place, sizeof(place), "more than %lld jobs wait", s->subject->pool.places);
	say_link(s, place, "queue");
	if (s->subject->pool.eta_seconds > 0)
		say(s, ", about %s", duration(s->subject->pool.eta_seconds, time));
	say(s, ".");
}

static void claim_say(struct sentence *s)
{
	say(s, "A worker in pool %s has a free slot and takes the run within seconds.", s->subject->pool.name);
}

static void fetch_say(struct sentence *s)
{
	if (!s->subject->git_error || !*s->subject->git_error) {
		say(s, "No worker fetches the commit's files yet.");
		return;
	}
	say(s, "The commit's files could not be fetched, and are tried again");
	say_reason(s, s->subject->git_error);
}

static void tasks_say(struct sentence *s)
{
	char name[WHO_SIZE], passed[DURATION_SIZE], limit[DURATION_SIZE];

	if (!*s->subject->task.name) {
		say_stage(s, "Run tasks", stages[s->facts->run.stage].name);
		say(s, " have not reported.");
		return;
	}
	snprintf(name, sizeof(name), "Run task \"%s\"", s->subject->task.name);
	say_stage(s, name, stages[s->facts->run.stage].name);
	if (s->subject->task.taken)
		say(s, " has not called back: %s of %s.", duration(s->subject->task.seconds, passed),
			duration(s->subject->task.limit_seconds, limit));
	else
		say(s, " has not taken its request.");
	if (s->subject->task.others > 0)
		say(s, " Further run tasks without a result: %lld.", s->subject->task.others);
}

static void override_say(struct sentence *s)
{
	char who[WHO_SIZE];

	say_stage(s, "Failed policies", stages[s->facts->run.stage].name);
	say(s, " need an override%s.", decider_text(&s->subject->decider, who));
}

static void confirmation_say(struct sentence *s)
{
	char who[WHO_SIZE];

	say(s, "Awaiting ");
	say_stage(s, "confirmation", "confirm");
	say(s, "%s.", decider_text(&s->subject->decider, who));
	if (s->subject->creator_suspended)
		say(s, " The user who created the run was suspended, so it is not applied automatically.");
}

static void window_say(struct sentence *s)
{
	const char *opens = s->subject->window_opens;

	say(s, "Applies start only in maintenance windows. ");
	if (opens && *opens)
		say(s, "The next one opens at %s.", opens);
	else
		say(s, "None is about to open.");
	if (s->subject->decider.is_reader)
		say(s, " You may start the apply now.");
}

static void stop_say(struct sentence *s)
{
	char time[DURATION_SIZE];

	say(s, "%s", s->facts->run.stopping == STOP_FORCE ? "Force-cancel sent" : "Cancel sent");
	if (*s->subject->stop.worker)
		say(s, " to worker %s", s->subject->stop.worker);
	say(s, " %s ago; its programs have not ended.", duration(s->subject->stop.seconds, time));
}

void wait_text_write(const struct wait_facts *facts, const struct wait_subject *subject, struct wait_text *ret_text)
{
	static void (*const sentences[WAIT_COUNT])(struct sentence *) = {
#define WAIT(symbol, code, event, text) [WAIT_##symbol] = text,
#include "scheduler/lifecycle/waiting/waits.def"
#undef WAIT
	};
	struct sentence s = {.facts = facts, .subject = subject, .out = ret_text};
	enum wait_kind kind = wait_of(facts);

	ret_text->text[0] = '\0';
	ret_text->link_count = 0;
	if (sentences[kind])
		sentences[kind](&s);
}
