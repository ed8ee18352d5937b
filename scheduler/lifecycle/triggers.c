/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/triggers.h"

#include <ctype.h>

#include "common/buf.h"

static const char *const names[TRIGGER_COUNT] = {
#define TRIGGER(symbol, name) name,
#include "scheduler/lifecycle/triggers.def"
#undef TRIGGER
};

const char *trigger_name(enum trigger trigger)
{
	return names[trigger];
}

enum trigger trigger_parse(const char *name)
{
	int trigger = 0;

	while (trigger < TRIGGER_COUNT && !text_equal(names[trigger], name))
		trigger++;
	return (enum trigger)trigger;
}

static bool reached(const struct verdict *verdict, enum run_status status)
{
	for (size_t i = 0; i < verdict->reached_count; i++)
		if (verdict->reached[i] == status)
			return true;
	return false;
}

static bool waits_for_person(const struct run *run)
{
	enum situation situation = run_situation(run);

	return situation == AT_DECISION || situation == AT_OVERRIDE || situation == AT_SAVED;
}

enum trigger trigger_of_end(enum run_status status)
{
	return status == RUN_APPLIED || status == RUN_PLANNED_AND_FINISHED ? TRIGGER_COMPLETED : TRIGGER_ERRORED;
}

enum trigger trigger_of(const struct verdict *verdict)
{
	const struct run *run = &verdict->run;

	if (verdict->refused || run->plan_only || !verdict->reached_count)
		return TRIGGER_COUNT;
	if (run_ended(run))
		return trigger_of_end(run->status);
	if (waits_for_person(run))
		return TRIGGER_NEEDS_ATTENTION;
	if (reached(verdict, RUN_APPLYING))
		return TRIGGER_APPLYING;
	return reached(verdict, RUN_PLANNING) ? TRIGGER_PLANNING : TRIGGER_COUNT;
}

/* "planned_and_finished" -> "Planned and Finished". */
static void status_words(const char *name, struct buf *out)
{
	bool begins = true;

	for (; *name; name++) {
		bool capital = begins && !text_starts(name, "and_");

		begins = *name == '_';
		buf_printf(out, "%c", begins ? ' ' : capital ? toupper((unsigned char)*name) : *name);
	}
}

char *trigger_message(enum trigger trigger, enum run_status status)
{
	struct buf text = BUF_INIT(128);

	buf_text(&text, "Run ");
	if (trigger == TRIGGER_CREATED)
		buf_text(&text, "Created");
	else
		status_words(run_statuses[status].name, &text);
	if (trigger == TRIGGER_NEEDS_ATTENTION)
		buf_text(&text, status == RUN_POLICY_OVERRIDE ? " - Needs Attention" : " - Needs Confirmation");
	return buf_take(&text);
}
