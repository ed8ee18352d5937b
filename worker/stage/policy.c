/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/policy.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/exec/bounded.h"
#include "worker/exec/program.h"
#include "worker/metrics.h"
#include "worker/policy/evaluator.h"
#include "worker/policy/report.h"
#include "worker/stage/stages.h"

#define POLICIES "policies.json"
#define PLAN     "plan.json"
#define RESULTS  "policy-results.json"

enum { LIMITS_MOST = 8 << 20 };

static const size_t policies_limit = (size_t)1 << 30;

struct policy_stage {
	struct job *job;
	const struct evaluator *evaluator;
	char *program; /* path, or NULL */
	char why[300]; /* there is nothing to evaluate with; or "" */
	char *limits;  /* what the program said of itself, or NULL */
	struct policy_sets sets;
	json_t *run;
	size_t set, policy; /* the one that is evaluated, or is next */
	int64_t begun_ms;
	struct err err; /* of the work in a thread */
};

void policy_stage_free(struct policy_stage *stage)
{
	if (!stage)
		return;
	policy_sets_release(&stage->sets);
	json_decref(stage->run);
	free(stage->program);
	free(stage->limits);
	free(stage);
}

/* ---- fetching ---- */

static void find_program(struct policy_stage *stage)
{
	const struct policy_host *host = &stage->job->host->policies;
	const char *wanted = stage->evaluator == &evaluator_opa ? host->opa : host->sentinel;

	if (*wanted)
		stage->program = program_find(wanted, host->engine_dir);
	if (!*wanted)
		snprintf(stage->why, sizeof(stage->why), "This worker has no program for %s policies (option --%s)",
			stage->evaluator->name, stage->evaluator->name);
	else if (!stage->program)
		snprintf(stage->why, sizeof(stage->why), "This worker has no \"%.200s\" to evaluate policies with",
			wanted);
}

static void fetch(struct job *job, const struct evaluator *evaluator)
{
	struct policy_stage *stage = mem_new(1, sizeof(*stage));

	job->policies = stage;
	*stage = (struct policy_stage){.job = job, .evaluator = evaluator};
	find_program(stage);
	job->plan_json = beneath_open(job->dir.top, PLAN, O_RDWR | O_CREAT | O_EXCL, 0600);
	job_download(job, "plan-json", job->plan_json, true);
	job->configuration = beneath_open(job->dir.top, POLICIES, O_RDWR | O_CREAT | O_EXCL, 0600);
	job_download(job, "policies", job->configuration, true);
}

static void step_fetch_opa(struct job *job)
{
	fetch(job, &evaluator_opa);
}

static void step_fetch_sentinel(struct job *job)
{
	fetch(job, &evaluator_sentinel);
}

/* ---- one run of the program ---- */

struct trial {
	const char *below;  /* root of what it sees, below the job's root */
	const char *folder; /* to start in, below that */
	struct texts args;
	size_t most_out;
	void (*done)(void *data, const struct bounded_result *result);
};

static void make_env(const struct job *job, struct texts *env)
{
	texts_add(env, "PATH=/usr/local/bin:/usr/bin:/bin");
	texts_add(env, "LANG=C.UTF-8");
	texts_add(env, "HOME=/tmp");
	/* Half of the address space: a Go program that comes near it collects its garbage sooner. */
	texts_add(env, "GOMEMLIMIT=%lld", job->host->policies.memory / 2);
}

static int trial_start(struct policy_stage *stage, const struct trial *trial, struct err *err)
{
	struct job *job = stage->job;
	const struct sandbox *sandbox = job->host->sandbox;
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	_cleanup_(freep) char *root = mem_printf("%s/root%s%s", job->dir.path, *trial->below ? "/" : "", trial->below);
	const struct sandbox_job view = {.root = root, .read_only = true, .engine = stage->program};
	_cleanup_(freep) char *folder = sandbox_path(sandbox, &view, trial->folder);
	const struct sandbox_command command = {.folder = folder,
		.args = &trial->args,
		.env = &env,
		.offline = !job->host->policies.network,
		.memory = job->host->policies.memory};
	_cleanup_(sandbox_start_release) struct sandbox_start start = {.args_fd = -1};
	const struct bounded_spec spec = {.start = &start,
		.most_ms = job->host->policies.most_ms,
		.most_out = trial->most_out,
		.most_errors = POLICY_PRINT_MOST,
		.done = trial->done,
		.data = stage};

	make_env(job, &env);
	if (sandbox_prepare(sandbox, &view, &command, &start, err) < 0)
		return -1;
	job->child_in_order = false;
	stage->begun_ms = clock_mono_ms();
	return bounded_start(job->host->loop, &spec, &job->child, err);
}

/* ---- what opa can do ---- */

static void limits_came(void *data, const struct bounded_result *result)
{
	struct policy_stage *stage = data;
	struct job *job = stage->job;
	bool fine = result->end == BOUNDED_ENDED && WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0;

	job->child = NULL;
	if (fine)
		stage->limits = mem_text(buf_str(result->out));
	else
		snprintf(stage->why, sizeof(stage->why), "opa can't be asked what it is able to do: %.200s",
			buf_str(result->errors));
	job_release(job);
}

/* Only asked where something is to be taken from it (policy/opa.c). */
static void step_ask(struct job *job)
{
	struct policy_stage *stage = job->policies;
	struct trial trial = {.below = "", .folder = "", .most_out = LIMITS_MOST, .done = limits_came};
	struct err err = ERR_INIT;

	if (*stage->why || job->host->policies.network)
		return;
	texts_add(&trial.args, "capabilities");
	texts_add(&trial.args, "--current");
	if (trial_start(stage, &trial, &err) < 0)
		snprintf(stage->why, sizeof(stage->why), "opa can't be started: %.200s", err.message);
	else
		job_hold(job);
	texts_release(&trial.args);
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

static void lay_out(struct policy_stage *stage, const struct shared *shared, struct policy_set *set)
{
	struct err err = ERR_INIT;

	set->limited = stage->limits != NULL;
	if (policy_set_unpack(shared->root, stage->evaluator, set, &stage->err) < 0 || *set->error)
		return;
	if (stage->evaluator->lay_out(shared, set, &err) < 0)
		text_copy(set->error, sizeof(set->error), err.message);
}

static void unpack(void *data)
{
	struct policy_stage *stage = data;
	struct shared shared = {.root = stage->job->dir.root, .plan = stage->job->plan_json, .limits = stage->limits};

	if (read_policies(stage) < 0)
		return;
	shared.run = stage->run;
	if (stage->evaluator->share(&shared, &stage->err) < 0)
		return;
	for (size_t i = 0; i < stage->sets.count && stage->err.kind == ERR_NONE; i++)
		lay_out(stage, &shared, &stage->sets.sets[i]);
}

static void unpacked(void *data)
{
	struct policy_stage *stage = data;

	if (stage->err.kind != ERR_NONE)
		job_fail(stage->job, OUTCOME_ERRORED, "The policies can't be evaluated: %s", stage->err.message);
}

static void step_unpack_policies(struct job *job)
{
	job_work(job, unpack, unpacked, job->policies);
}

/* ---- evaluating ---- */

static void evaluate_next(struct policy_stage *stage);

static const struct policy *current(const struct policy_stage *stage)
{
	return &stage->sets.sets[stage->set].policies[stage->policy];
}

__attribute__((format(printf, 2, 3))) static void errored(struct judgement *judgement, const char *format, ...)
{
	va_list args;

	judgement->verdict = VERDICT_ERRORED;
	va_start(args, format);
	vsnprintf(judgement->reason, sizeof(judgement->reason), format, args);
	va_end(args);
}

/* Keeps what came of the policy and goes to the next. */
static void judged(struct policy_stage *stage, struct judgement *judgement)
{
	static const char *const names[] = {
		[VERDICT_PASSED] = "passed", [VERDICT_FAILED] = "failed", [VERDICT_ERRORED] = "errored"};

	if (judgement->verdict != VERDICT_AGAIN) {
		report_add(&stage->sets.sets[stage->set], current(stage), judgement, &stage->job->redactor);
		count(M_POLICIES, 1, "kind=\"%s\",status=\"%s\"", stage->evaluator->name, names[judgement->verdict]);
		stage->policy++;
	}
	judgement_release(judgement);
}

/* A Go program that gets no more memory says so on its way out. */
static bool out_of_memory(const struct bounded_result *result)
{
	const char *errors = buf_str(result->errors);

	return WIFEXITED(result->status) && WEXITSTATUS(result->status) != 0 && result->out->len == 0 &&
		(strstr(errors, "out of memory") || strstr(errors, "cannot allocate memory") ||
			strstr(errors, "failed to reserve"));
}

static bool cut_short(
	const struct policy_stage *stage, const struct bounded_result *result, struct judgement *judgement)
{
	const struct policy_host *host = &stage->job->host->policies;

	if (result->end == BOUNDED_TIME)
		errored(judgement, "It ran for more than %lld s and was stopped", (long long)host->most_ms / 1000);
	else if (result->end == BOUNDED_OUT && stage->evaluator->most_out > POLICY_PRINT_MOST)
		errored(judgement, "Its result has more than %zu MiB", stage->evaluator->most_out >> 20);
	else if (result->end != BOUNDED_ENDED)
		errored(judgement, "It printed more than %d KiB and was stopped", POLICY_PRINT_MOST / 1024);
	else if (out_of_memory(result))
		errored(judgement, "It needed more than %lld MiB of memory", host->memory >> 20);
	else if (!WIFEXITED(result->status))
		errored(judgement, "It was killed by signal %d", WTERMSIG(result->status));
	else
		return false;
	return true;
}

static void keep_text(json_t *says, const struct buf *bytes)
{
	_cleanup_(freep) char *clean = text_clean(buf_str(bytes), bytes->len);
	json_t *printed = text_trimmed(clean);

	if (printed)
		json_array_append_new(says, printed);
}

/* What it printed until then may say why. OPA's standard output is its answer and no print. */
static void keep_printed(
	const struct policy_stage *stage, const struct bounded_result *result, struct judgement *judgement)
{
	judgement->says = json_array();
	if (stage->evaluator == &evaluator_sentinel)
		keep_text(judgement->says, result->out);
	keep_text(judgement->says, result->errors);
}

static void trial_ended(void *data, const struct bounded_result *result)
{
	struct policy_stage *stage = data;
	struct job *job = stage->job;
	struct judgement judgement = {.says = NULL};

	job->child = NULL;
	observe(M_PROCESS_SECONDS, (double)(clock_mono_ms() - stage->begun_ms) / 1000, "command=\"%s\"",
		stage->evaluator->name);
	if (!job_done(job) && cut_short(stage, result, &judgement)) {
		keep_printed(stage, result, &judgement);
		judged(stage, &judgement);
	} else if (!job_done(job)) {
		_cleanup_(freep) char *out = text_clean(buf_str(result->out), result->out->len);
		_cleanup_(freep) char *errors = text_clean(buf_str(result->errors), result->errors->len);
		const struct evaluated evaluated = {
			.code = WEXITSTATUS(result->status), .out = out, .errors = errors, .out_len = strlen(out)};

		stage->evaluator->judge(&stage->sets.sets[stage->set], current(stage), &evaluated, &judgement);
		judged(stage, &judgement);
	}
	evaluate_next(stage);
	job_release(job);
}

static int evaluate(struct policy_stage *stage, struct err *err)
{
	const struct policy_set *set = &stage->sets.sets[stage->set];
	struct trial trial = {.below = set->folder, .most_out = stage->evaluator->most_out, .done = trial_ended};
	int status;

	trial.folder = stage->evaluator->arguments(set, current(stage), &trial.args);
	status = trial_start(stage, &trial, err);
	texts_release(&trial.args);
	return status;
}

/* True if one was started; the rest of them is done with. */
static bool evaluate_one(struct policy_stage *stage)
{
	struct judgement judgement = {.says = NULL};
	struct err err = ERR_INIT;

	if (*stage->why)
		errored(&judgement, "%s", stage->why);
	else if (evaluate(stage, &err) == 0)
		return true;
	else
		errored(&judgement, "%s can't be started: %s", stage->evaluator->name, err.message);
	judged(stage, &judgement);
	return false;
}

static void evaluate_next(struct policy_stage *stage)
{
	for (; stage->set < stage->sets.count; stage->set++, stage->policy = 0) {
		const struct policy_set *set = &stage->sets.sets[stage->set];

		while (!*set->error && stage->policy < set->count) {
			if (job_done(stage->job))
				return;
			if (evaluate_one(stage)) {
				job_hold(stage->job);
				return;
			}
		}
	}
}

static void step_evaluate(struct job *job)
{
	evaluate_next(job->policies);
}

/* ---- what came of it ---- */

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
	if (beneath_write(job->dir.top, RESULTS, 0600, text, strlen(text), &err) < 0)
		job_fail(job, OUTCOME_ERRORED, "The policies' results can't be written: %s", err.message);
	else
		job_upload(job, "policy-results", "policies' results", "application/json",
			beneath_open(job->dir.top, RESULTS, O_RDONLY, 0));
}

/* After the results are delivered: a verdict that nobody can look up would be of no use. */
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
	{"ask", step_ask, false},
	{"unpack", step_unpack_policies, false},
	{"evaluate", step_evaluate, false},
	{"report", step_report, false},
	{"settle", step_settle, true},
	{"conclude", step_conclude, false},
	{NULL, NULL, false},
};

const struct step sentinel_steps[] = {
	{"fetch", step_fetch_sentinel, false},
	{"unpack", step_unpack_policies, false},
	{"evaluate", step_evaluate, false},
	{"report", step_report, false},
	{"settle", step_settle, true},
	{"conclude", step_conclude, false},
	{NULL, NULL, false},
};
