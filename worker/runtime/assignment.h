/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_ASSIGNMENT_H
#define WORKER_RUNTIME_ASSIGNMENT_H

/* A claimed job as the scheduler describes it (proto/README, "A claimed job"), parsed and validated. */

#include "common/ids.h"
#include "common/json/json.h"
#include "proto/messages.h"
#include "proto/states.h"

struct buf;
struct err;

struct variable {
	const char *key;
	const char *value;
	bool env; /* an environment variable; otherwise a terraform variable */
	bool hcl; /* the value is an expression, passed on unchanged */
	bool sensitive;
	bool identity; /* the scheduler made it: a workload identity token */
};

struct assignment {
	json_t *source; /* owned; the pointers below point into it */
	const char *job;
	int attempt;
	const char *token;
	enum stage stage;
	const char *run;
	const char *run_token;       /* API token for the programs of the run, or "" */
	const char *api_url;         /* the API's base URL: "https://runyard.example.com"; or "" */
	bool has_mirror;             /* the API serves a mirror of providers (access_mirror) */
	const char *ssh_key;         /* the key that modules are fetched with, or "" */
	const char *organization;    /* its name */
	const char *organization_id; /* its name, if an older scheduler sent the job */
	const char *project;
	const char *workspace;
	const char *workspace_id;
	const char *commit_sha, *commit_branch, *commit_tag; /* of the configuration; "": it has none */
	char *engine_needs;      /* owned; the engine that the job requires (proto/capabilities.h) */
	char *working_directory; /* owned; relative, "" for the top; no ".." in it */
	bool destroy, refresh, refresh_only, json_log;
	bool watched;       /* a terraform CLI that applies without asking watches the run */
	bool query;         /* of a plan: resources are listed instead (terraform query) */
	const json_t *test; /* of a plan: how the module is tested instead (terraform test); or NULL */
	bool generate; /* the engine may write configuration for imported resources, and for those that a query finds */
	bool debug;    /* the engine logs at its most verbose level */
	bool has_state, has_init;
	bool json_later;                     /* the plan's JSON may be sent after the result */
	bool has_json;                       /* (apply only) the scheduler has the plan's JSON */
	bool takes_packages;                 /* the scheduler accepts the configuration's packages */
	bool state_differences;              /* the scheduler accepts state differences */
	const char *rescue_url, *rescue_key; /* of an apply's rescue object (rescue/rescue.h); "": there is none */
	long long time_limit;                /* seconds; the organization's limit, or 0 */
	enum stop stop;
	int64_t claimed_ms; /* when its claim was sent, by clock_boot_ms; set by the caller of assignment_read */
	struct variable *variables; /* owned array, in increasing precedence */
	size_t variable_count;
	const json_t *targets, *replaces, *invokes; /* arrays of addresses */
	const json_t *provider_sets;                /* unchecked (engine/provider_sets.h); or NULL */
	const json_t *credentials;                  /* unchecked (identity/credentials.h); or NULL */
};

/* Takes a reference to `source`.
 *  - ERR_MALFORMED: it is not a valid job, and nothing is retained. Ids become folder names and URLs, so their form is
 *    checked.
 *  - ERR_INVALID: the job is well-formed but can't be run, for the reason in *err. The assignment can still be used to
 *    report that. */
int assignment_read(const json_t *source, struct assignment *ret_assignment, struct err *err);
/* Appends the inlined answer to the named request ("state") to `out` and forgets it. Returns -1 if the claim did not
 * bring it or it is malformed: the caller must then request it. */
int assignment_take(struct assignment *assignment, const char *name, struct buf *out);
void assignment_release(struct assignment *assignment);

/* The work of a stage as error messages name it: "policy check". NULL: a worker does not do that stage. */
const char *stage_work(enum stage stage);
/* Parses the name of a stop request. Returns the value for "no stop" for NULL and unknown names. */
enum stop stop_wish(const char *name);

#endif
