/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_WAITING_WAIT_TEXT_H
#define SCHEDULER_LIFECYCLE_WAITING_WAIT_TEXT_H

/* The sentence that says why a run waits, with links to pages. Pure. The caller leaves out every name that the reader
 * may not see. */

#include "scheduler/lifecycle/waiting/waits.h"

enum { WAIT_TEXT_SIZE = 1536, MAX_WAIT_LINKS = 2, WAIT_ADDRESS_SIZE = 300, MAX_NAMED_TEAMS = 3 };

/* Leads from a part of the text to a page of this site, such as /app/acme/queue. */
struct wait_link {
	size_t start, len; /* bytes of the text */
	char address[WAIT_ADDRESS_SIZE];
};

struct wait_text {
	char text[WAIT_TEXT_SIZE]; /* "" if the run does not wait */
	struct wait_link links[MAX_WAIT_LINKS];
	size_t link_count;
};

/* The people whose decision a run waits for. */
struct wait_decider {
	bool is_reader;       /* the reader of the text may decide */
	const char *teams;    /* at most MAX_NAMED_TEAMS names, separated by commas; "": unknown */
	long long team_count; /* of all teams, also those that `teams` leaves out */
};

/* The facts of the sentence. Texts are borrowed, in UTF-8, and "" if unknown. Times are texts for users. */
struct wait_subject {
	const char *organization, *workspace, *run;
	struct {
		const char *id; /* the run that the others wait for; "": none */
		struct run run;
		long long seconds, others; /* in its status; queued between it and this run */
	} before;
	struct wait_decider decider; /* of this run, or of the one before it */
	struct {
		const char *by, *reason;
	} lock;
	struct {
		const char *run, *worker;
		bool engine_ended, settled;
	} hold;
	struct {
		const char *since, *reason;
	} maintenance;
	struct {
		const char *name, *drained_since, *last_seen;
		long long live, slots, limit; /* workers; slots of those that take jobs */
		long long place, places;      /* in the order of claims; 0: far behind */
		long long eta_seconds;        /* 0: unknown */
	} pool;
	long long organization_limit;
	struct {
		const char *name;
		long long seconds, limit_seconds; /* since the task took the request, and until its deadline */
		long long others;                 /* further tasks of the stage that have not reported */
		bool taken;                       /* the task has taken the request */
	} task;
	struct {
		const char *worker;
		long long seconds;
	} stop;
	const char *window_opens; /* when the maintenance window that the run waits for opens */
	const char *git_error;    /* of the last try to fetch the commit */
	bool creator_suspended;   /* so the run is not applied automatically */
};

/* Writes the sentence for why the run of the facts waits. */
void wait_text_write(const struct wait_facts *facts, const struct wait_subject *subject, struct wait_text *ret_text);

#endif
