/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ASSIGNMENT_H
#define WORKER_ASSIGNMENT_H

/* A claimed job as the scheduler describes it (proto/README, "A claimed job"), read and checked. */

#include "common/ids.h"
#include "common/json.h"
#include "proto/messages.h"

struct buf;
struct err;

enum stage { STAGE_PLAN, STAGE_OPA, STAGE_COST, STAGE_SENTINEL, STAGE_APPLY };

struct variable {
	const char *key;
	const char *value;
	bool env; /* of the environment; else terraform's */
	bool hcl; /* the value is an expression, to be used as it is */
	bool sensitive;
};

struct assignment {
	json_t *source; /* owned; what follows points into it */
	const char *job;
	int attempt;
	const char *token;
	enum stage stage;
	const char *run;
	const char *run_token;       /* for what runs in the run to ask the API with; or "" */
	const char *api_url;         /* where that is: "https://runyard.example.com"; or "" */
	const char *ssh_key;         /* that modules are fetched with; or "" */
	const char *organization;    /* its name */
	const char *organization_id; /* from an older scheduler its name */
	const char *project;
	const char *workspace;
	const char *workspace_id;
	char *engine_needs;      /* owned; what it needs of an engine (proto/capabilities.h) */
	char *working_directory; /* owned; relative, "" for the top; no ".." in it */
	bool destroy, refresh, refresh_only, json_log;
	bool watched;  /* by a terraform that applies without asking */
	bool generate; /* configuration of what is imported may be written */
	bool debug;    /* the engine is to log all that it does */
	bool has_state, has_init;
	bool json_later;        /* nothing reads the plan's JSON before the apply: it may come after the result */
	bool has_json;          /* (of an apply) the plan's JSON is there */
	bool state_differences; /* the scheduler takes differences of states */
	long long time_limit;   /* seconds that its organization gives it, or 0 */
	enum stop stop;
	int64_t claimed_ms; /* when its claim was sent, by clock_boot_ms; the caller of assignment_read sets it */
	struct variable *variables; /* owned array, the weakest first */
	size_t variable_count;
	const json_t *targets, *replaces, *invokes; /* arrays of addresses */
};

/* Takes a reference to `source`. ERR_MALFORMED if it is no job (its ids become folder names and URLs, so they are held
 * to their form), and nothing is kept then. ERR_INVALID: the job is fine and can't be done, for the reason in *err; the
 * assignment is usable for reporting that. */
int assignment_read(const json_t *source, struct assignment *ret_assignment, struct err *err);
/* Appends what came along under the name of a request ("state"), and forgets it. -1, and it has to be asked for: it did
 * not come, or is not in order. */
int assignment_take(struct assignment *assignment, const char *name, struct buf *out);
void assignment_release(struct assignment *assignment);

const char *stage_name(enum stage stage);
/* What the scheduler asks for by name; nothing for NULL or an unknown one. */
enum stop stop_wish(const char *name);

#endif
