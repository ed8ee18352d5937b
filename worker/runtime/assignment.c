/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/assignment.h"

#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "proto/rescue.h"
#include "worker/packages/archive.h"

static const char *const works[STAGE_COUNT] = {
	[STAGE_PLAN] = "plan",
	[STAGE_OPA] = "policy check",
	[STAGE_COST] = "cost estimate",
	[STAGE_SENTINEL] = "policy check",
	[STAGE_APPLY] = "apply",
};

const char *stage_work(enum stage stage)
{
	return stage < STAGE_COUNT ? works[stage] : NULL;
}

enum stop stop_wish(const char *name)
{
	int stop = name ? stop_parse(name) : -1;

	return stop < 0 ? STOP_NONE : (enum stop)stop;
}

static int stage_read(const json_t *source, enum stage *ret_stage, struct err *err)
{
	const char *name = text_or_empty(json_string_at(source, "stage"));
	int stage = stage_parse(name);

	if (stage < 0 || !stage_work((enum stage)stage))
		return err_set(err, ERR_INVALID, "this worker can't do the stage \"%s\"", name);
	*ret_stage = (enum stage)stage;
	return 0;
}

static void variables_read(const json_t *source, struct assignment *to)
{
	const json_t *list = json_at(source, "variables"), *item;
	size_t i;

	to->variables = mem_new(json_array_size(list) + 1, sizeof(*to->variables));
	json_array_foreach(list, i, item)
	{
		const char *key = json_string_at(item, "key");

		if (!key)
			continue;
		to->variables[to->variable_count++] = (struct variable){
			.key = key,
			.value = text_or_empty(json_string_at(item, "value")),
			.env = text_equal(json_string_at(item, "category"), "env"),
			.hcl = json_bool_at(item, "hcl", false),
			.sensitive = json_bool_at(item, "sensitive", false),
			.identity = json_bool_at(item, "identity", false),
		};
	}
}

/* An earlier scheduler sends no rescue object. */
static void rescue_read(const json_t *source, struct assignment *to)
{
	const char *url = text_or_empty(json_string_at(source, "rescue.url")),
		   *key = text_or_empty(json_string_at(source, "rescue.key"));
	bool usable = (text_starts(url, "https://") || text_starts(url, "http://")) && rescue_key_valid(key);

	to->rescue_url = usable ? url : "";
	to->rescue_key = usable ? key : "";
}

static void facts_read(const json_t *source, struct assignment *to)
{
	const char *engine =
		text_or_empty(json_string_at(source, "engine")); /* an earlier scheduler sends no "engine" */

	to->run_token = text_or_empty(json_string_at(source, "run-token"));
	to->api_url = text_or_empty(json_string_at(source, "api-url"));
	to->has_mirror = json_bool_at(source, "provider-mirror", false);
	to->ssh_key = text_or_empty(json_string_at(source, "ssh-key"));
	to->project = text_or_empty(json_string_at(source, "project"));
	to->organization = text_or_empty(json_string_at(source, "organization"));
	to->organization_id = json_string_at(source, "organization-id");
	if (!to->organization_id)
		to->organization_id = to->organization;
	to->workspace = text_or_empty(json_string_at(source, "workspace.name"));
	to->workspace_id = text_or_empty(json_string_at(source, "workspace.id"));
	to->commit_sha = text_or_empty(json_string_at(source, "commit.sha"));
	to->commit_branch = text_or_empty(json_string_at(source, "commit.branch"));
	to->commit_tag = text_or_empty(json_string_at(source, "commit.tag"));
	to->engine_needs = mem_printf(
		"%s %s", *engine ? engine : "engine", text_or_empty(json_string_at(source, "terraform-version")));
	to->destroy = json_bool_at(source, "destroy", false);
	to->refresh = json_bool_at(source, "refresh", true);
	to->refresh_only = json_bool_at(source, "refresh-only", false);
	to->json_log = json_bool_at(source, "json-log", true);
	to->watched = json_bool_at(source, "watched", false);
	to->has_state = json_bool_at(source, "has-state", false);
	to->has_init = json_bool_at(source, "has-init", false);
	to->json_later = json_bool_at(source, "json-later", false);
	to->takes_packages = json_bool_at(source, "packages", false);
	to->state_differences = json_bool_at(source, "state-differences", false);
	to->has_json = json_bool_at(source, "has-plan-json", true);
	to->stop = stop_wish(json_string_at(source, "stop"));
	to->targets = json_at(source, "target-addrs");
	to->replaces = json_at(source, "replace-addrs");
	to->invokes = json_at(source, "invoke-addrs");
	to->credentials = json_at(source, "credentials");
	to->provider_sets = json_at(source, "provider-sets");
	to->generate = json_bool_at(source, "generate-config", false);
	to->query = json_bool_at(source, "query", false);
	to->test = json_at(source, "test");
	if (!json_is_object(to->test))
		to->test = NULL;
	to->debug = json_bool_at(source, "debug", false);
	to->time_limit = json_int_at(source, "time-limit", 0);
	rescue_read(source, to);
}

static int identity_read(const json_t *source, struct assignment *to, struct err *err)
{
	to->job = json_string_at(source, "job");
	to->run = json_string_at(source, "run");
	to->token = json_string_at(source, "token");
	to->attempt = (int)json_int_at(source, "attempt", 0);
	if (!to->job || !id_valid(to->job, "job"))
		return err_set(err, ERR_MALFORMED, "a claimed job has no valid id");
	if (!to->run || !id_valid(to->run, "run"))
		return err_set(err, ERR_MALFORMED, "job %s has no valid run", to->job);
	if (to->attempt < 1 || !to->token || !*to->token)
		return err_set(err, ERR_MALFORMED, "job %s has no attempt or no token", to->job);
	return 0;
}

int assignment_read(const json_t *source, struct assignment *ret_assignment, struct err *err)
{
	struct assignment to = {.stage = STAGE_PLAN}; /* a job that is refused for its stage ends as a plan does */
	const char *folder = text_or_empty(json_string_at(source, "working-directory"));
	const char *refusal = text_or_empty(json_string_at(source, "refusal"));
	int status;

	if (identity_read(source, &to, err) < 0)
		return -1;
	facts_read(source, &to);
	variables_read(source, &to);
	status = stage_read(source, &to.stage, err);
	if (status == 0 && !(to.working_directory = archive_path(folder + strspn(folder, "/"))))
		status = err_set(err, ERR_INVALID, "the working directory \"%s\" leaves the configuration", folder);
	if (status == 0 && *refusal)
		status = err_set(err, ERR_INVALID, "%s", refusal);
	to.source = json_incref((json_t *)source);
	*ret_assignment = to;
	return status;
}

int assignment_take(struct assignment *assignment, const char *name, struct buf *out)
{
	json_t *contents = json_object_get(assignment->source, "contents");
	const char *text = json_string_value(json_object_get(contents, name));
	int status = text ? crypto_base64_decode(text, out) : -1;

	json_object_del(contents, name);
	return status;
}

void assignment_release(struct assignment *assignment)
{
	free(assignment->working_directory);
	free(assignment->engine_needs);
	free(assignment->variables);
	json_decref(assignment->source);
	*assignment = (struct assignment){.source = NULL};
}
