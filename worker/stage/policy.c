/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/policy_stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/log.h"
#include "common/process.h"
#include "common/terraform/mocks.h"
#include "worker/exec/program.h"
#include "worker/policy/report.h"
#include "worker/stage/stages.h"

#define POLICIES "policies.json"
#define PLAN     "plan.json"
#define RESULTS  "policy-results.json"

static const size_t policies_limit = (size_t)1 << 30;

static void policies_free(struct policy_stage *stage)
{
	policy_sets_release(&stage->sets);
	json_decref(stage->run);
	closep(&stage->schemas);
	free(stage->program);
	free(stage);
}

/* ---- fetching ---- */

static void find_program(struct policy_stage *stage, const char *wanted)
{
	if (*wanted)
		stage->program = program_find(wanted, stage->job->host->policies.engine_dir);
	if (!*wanted)
		snprintf(stage->why, sizeof(stage->why), "This worker has no program for %s policies (option --%s)",
			stage->evaluator->name, stage->evaluator->name);
	else if (!stage->program)
		snprintf(stage->why, sizeof(stage->why), "This worker has no \"%.200s\" to evaluate policies with",
			wanted);
}

static void fetch(struct job *job, const struct evaluator *evaluator, const char *program)
{
	struct policy_stage *stage = mem_new(1, sizeof(*stage));

	job->policies = stage;
	job->policies_free = policies_free;
	*stage = (struct policy_stage){.job = job, .evaluator = evaluator, .schemas = -1};
	find_program(stage, program);
	job->plan_json = beneath_open(job->dir.top, PLAN, O_RDWR | O_CREAT | O_EXCL, 0600);
	job_download(job, "plan-json", job->plan_json, DOWNLOAD_NEEDED);
	job->configuration = beneath_open(job->dir.top, POLICIES, O_RDWR | O_CREAT | O_EXCL, 0600);
	job_download(job, "policies", job->configuration, DOWNLOAD_NEEDED);
}

static void step_fetch_opa(struct job *job)
{
	fetch(job, &evaluator_opa, job->host->policies.opa);
}

static void step_fetch_sentinel(struct job *job)
{
	_cleanup_(freep) char *own = process_helper("runyard-policy");
	const char *wanted = job->host->policies.sentinel;

	if (*wanted)
		fetch(job, &evaluator_sentinel, wanted);
	else
		fetch(job, &evaluator_runyard_policy, own);
}

/* ---- unpacking, in a thread ---- */

static int read_policies(struct policy_stage *stage)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(policies_limit);
	json_auto_t *document = NULL;

	if (beneath_read(stage->job->dir.top, POLICIES, &text, &stage->err) < 0 ||
		json_parse(buf_str(&text), text.len, &document, &stage->err) < 0)
		return -1;
	if (policy_sets_read(document, &stage->sets, &stage->err) < 0)
		return -1;
	stage->run = policy_run(stage->sets.run);
	return 0;
}

struct shared policy_shared(const struct policy_stage *stage)
{
	const struct job *job = stage->job;

	return (struct shared){.root = job->dir.root,
		.plan = job->plan_json,
		.run = stage->run,
		.offline = !job->host->policies.network,
		.http_hosts = job->host->policies.http_hosts};
}

static void lay_out(struct policy_stage *stage, const struct shared *shared, struct policy_set *set)
{
	struct err err = ERR_INIT;

	set->offline = shared->offline;
	if (policy_set_unpack(shared->root, stage->evaluator, set, &stage->err) < 0 || *set->error)
		return;
	if (stage->evaluator->lay_out(shared, set, &err) < 0)
		text_copy(set->error, sizeof(set->error), err.message);
}

static void unpack(void *data)
{
	struct policy_stage *stage = data;
	struct shared shared;

	if (read_policies(stage) < 0)
		return;
	shared = policy_shared(stage);
	if (stage->evaluator->share(&shared, &stage->err) < 0)
		return;
	for (size_t i = 0; i < stage->sets.count && stage->err.kind == ERR_NONE; i++)
		lay_out(stage, &shared, &stage->sets.sets[i]);
}

void policy_work_ended(void *data)
{
	struct policy_stage *stage = data;

	if (stage->err.kind != ERR_NONE)
		job_fail(stage->job, OUTCOME_ERRORED, "The policies can't be evaluated: %s", stage->err.message);
}

static void parameters_redact(struct redactor *redactor, const struct policy_set *set)
{
	const json_t *parameter;
	size_t i;

	json_array_foreach(set->parameters, i, parameter)
	{
		if (json_bool_at(parameter, "sensitive", false))
			redactor_add_literal(redactor, text_or_empty(json_string_at(parameter, "value")));
	}
}

static void unpacked(void *data)
{
	struct policy_stage *stage = data;

	for (size_t i = 0; i < stage->sets.count; i++)
		parameters_redact(&stage->job->redactor, &stage->sets.sets[i]);
	policy_work_ended(stage);
}

static void step_unpack_policies(struct job *job)
{
	job_work(job, unpack, unpacked, job->policies);
}

/* ---- provider schemas ---- */

static bool schemas_wanted(const struct policy_stage *stage)
{
	for (size_t i = 0; i < stage->sets.count; i++)
		if (stage->sets.sets[i].reads_schemas)
			return true;
	return false;
}

/* They are megabytes, which few policies read. */
static void step_fetch_schemas(struct job *job)
{
	struct policy_stage *stage = job->policies;
	const struct shared shared = policy_shared(stage);
	struct err err = ERR_INIT;

	if (!schemas_wanted(stage))
		return;
	stage->schemas = shared_create(&shared, SHARED_SCHEMAS, &err);
	job_download(job, "schemas", stage->schemas, DOWNLOAD_RECENT);
}

static void add_schemas(void *data)
{
	struct policy_stage *stage = data;
	const struct shared shared = policy_shared(stage);

	for (size_t i = 0; i < stage->sets.count && stage->err.kind == ERR_NONE; i++) {
		struct policy_set *set = &stage->sets.sets[i];

		set->has_schemas = set->reads_schemas &&
			shared_link(&shared, set, SHARED_SCHEMAS, SHARED_SCHEMAS, &stage->err) == 0;
	}
}

static void step_add_schemas(struct job *job)
{
	struct policy_stage *stage = job->policies;
	struct stat info;

	if (stage->schemas >= 0 && fstat(stage->schemas, &info) == 0 && info.st_size > 0)
		job_work(job, add_schemas, policy_work_ended, stage);
}

/* ---- the network ---- */

static void network_came(void *data, const struct err *err)
{
	struct job *job = data;

	if (err)
		job_fail(job, OUTCOME_ERRORED, "The policies' network can't be made: %s", err->message);
	job_release(job);
}

static bool network_wanted(const struct policy_stage *stage)
{
	for (size_t i = 0; i < stage->sets.count; i++)
		if (!stage->sets.sets[i].offline)
			return true;
	return false;
}

static void step_network(struct job *job)
{
	if (!network_wanted(job->policies))
		return;
	job_hold(job);
	job_network_wait(job, network_came, job);
}

/* ---- the outcome ---- */

static void log_counts(const struct policy_stage *stage)
{
	_cleanup_(freep) char *passed = mem_printf("%zu", report_count(&stage->sets, "passed"));
	_cleanup_(freep) char *failed = mem_printf("%zu", report_count(&stage->sets, "failed"));
	_cleanup_(freep) char *errors = mem_printf("%zu", report_count(&stage->sets, "errored"));

	log_info("policies evaluated", "run", stage->job->result.run.text, "job", stage->job->result.job.text, "stage",
		stage->evaluator->name, "passed", passed, "failed", failed, "errored", errors, NULL);
}

static void step_report(struct job *job)
{
	struct policy_stage *stage = job->policies;
	json_auto_t *document = NULL;
	_cleanup_(freep) char *text = NULL;
	struct err err = ERR_INIT;

	if (job_done(job))
		return;
	log_counts(stage);
	document = report_document(&stage->sets, stage->evaluator);
	text = json_text(document);
	if (beneath_write(job->dir.top, RESULTS, 0600, text_bytes(text), &err) < 0)
		job_fail(job, OUTCOME_ERRORED, "The policies' results can't be written: %s", err.message);
	else
		job_upload(job,
			&(struct transfer_spec){.path = "policy-results",
				.what = "policies' results",
				.content_type = "application/json",
				.body_fd = beneath_open(job->dir.top, RESULTS, O_RDONLY, 0)});
}

/* Runs after the results are delivered, so that users can look up the reasons of the outcome. */
static void step_conclude(struct job *job)
{
	struct policy_stage *stage = job->policies;
	char sentence[RESULT_ERROR_SIZE];
	enum outcome outcome;

	if (job_done(job))
		return;
	outcome = report_conclude(&stage->sets, stage->evaluator, sentence, sizeof(sentence));
	if (outcome != OUTCOME_PASSED)
		job_fail(job, outcome, "%s", sentence);
}

const struct step opa_steps[] = {
	{"fetch", step_fetch_opa, false},
	{"unpack", step_unpack_policies, false},
	{"programs", step_find_programs, false},
	{"network", step_network, false},
	{"ask", step_ask, false},
	{"limit", step_limit, false},
	{"evaluate", step_evaluate, false},
	{"report", step_report, false},
	{"settle", step_settle, true},
	{"conclude", step_conclude, false},
	{NULL, NULL, false},
};

const struct step sentinel_steps[] = {
	{"fetch", step_fetch_sentinel, false},
	{"unpack", step_unpack_policies, false},
	{"fetch schemas", step_fetch_schemas, false},
	{"add schemas", step_add_schemas, false},
	{"network", step_network, false},
	{"evaluate", step_evaluate, false},
	{"report", step_report, false},
	{"settle", step_settle, true},
	{"conclude", step_conclude, false},
	{NULL, NULL, false},
};
