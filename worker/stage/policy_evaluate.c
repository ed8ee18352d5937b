/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/policy_stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "worker/metrics.h"
#include "worker/policy/report.h"

/* ---- one run of the program ---- */

static void make_env(const struct job *job, const struct trial *trial, struct texts *env)
{
	TEXTS_ADD(env, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp");
	if (!trial->offline && job->host->sandbox->trust)
		texts_add(env, "SSL_CERT_FILE=%s", job->host->sandbox->trust);
	/* half of the address space: a Go program that approaches it collects garbage more often */
	texts_add(env, "GOMEMLIMIT=%lld", job->host->policies.memory / 2);
}

int trial_start(struct policy_stage *stage, const struct trial *trial, struct err *err)
{
	struct job *job = stage->job;
	const struct sandbox *sandbox = job->host->sandbox;
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	_cleanup_(freep) char *root = mem_printf("%s/root%s%s", job->dir.path, *trial->below ? "/" : "", trial->below);
	const struct sandbox_job view = {.root = root, .read_only = true, .engine = trial->program};
	_cleanup_(freep) char *folder = sandbox_path(sandbox, &view, trial->folder);
	const struct sandbox_command command = {
		.folder = folder, .args = &trial->args, .env = &env, .offline = trial->offline};
	_cleanup_(sandbox_start_release) struct sandbox_start start = SANDBOX_START_INIT;
	struct bounded_spec spec = {.start = &start,
		.max_ms = job->host->policies.max_ms,
		.max_out = trial->max_out,
		.max_errors = MAX_POLICY_PRINT,
		.done = trial->done,
		.data = stage};

	if (!job_leased(job))
		return err_set(err, ERR_CONFLICT, "its lease is over");
	if (!command.offline && job_network(job, &spec.network, err) < 0)
		return -1;
	make_env(job, trial, &env);
	if (sandbox_prepare(sandbox, &view, &command, &start, err) < 0)
		return -1;
	spec.terms = job_terms(job, &(struct child_kind){.in_order = false});
	spec.terms.limits.memory = job->host->policies.memory;
	if (!stage->evaluator->limits_itself)
		spec.terms.limits.addresses = job->host->policies.memory;
	stage->begun_ms = clock_mono_ms();
	return bounded_start(job->host->loop, &spec, &job->child, err);
}

/* ---- outcome of a policy ---- */

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

/* Keeps the policy's outcome and goes on to the next policy. */
static void judged(struct policy_stage *stage, struct judgement *judgement)
{
	static const char *const names[] = {
		[VERDICT_PASSED] = "passed", [VERDICT_FAILED] = "failed", [VERDICT_ERRORED] = "errored"};

	if (judgement->verdict != VERDICT_AGAIN) {
		report_add(&stage->sets.sets[stage->set], current(stage), judgement, &stage->job->redactor);
		metric_addf(
			M_POLICIES, 1, "kind=\"%s\",status=\"%s\"", stage->evaluator->name, names[judgement->verdict]);
		stage->policy++;
	}
	judgement_release(judgement);
}

/* True if the program died because it got no more memory, which a Go program reports before it exits. */
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
		errored(judgement, "It ran for more than %lld s and was stopped", (long long)host->max_ms / 1000);
	else if (result->end == BOUNDED_OUT && stage->evaluator->max_out > MAX_POLICY_PRINT)
		errored(judgement, "Its result has more than %zu MiB", stage->evaluator->max_out >> 20);
	else if (result->end != BOUNDED_ENDED)
		errored(judgement, "It printed more than %d KiB and was stopped", MAX_POLICY_PRINT / 1024);
	else if (result->why == KEEPER_PROCESSES)
		errored(judgement, "It had more than %lld processes at a time and was stopped",
			stage->job->host->limits->processes);
	else if (result->why == KEEPER_MEMORY || out_of_memory(result))
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

/* Keeps the output up to then, which may have the reason. */
static void keep_printed(
	const struct policy_stage *stage, const struct bounded_result *result, struct judgement *judgement)
{
	judgement->says = json_array();
	if (stage->evaluator->prints_out)
		keep_text(judgement->says, result->out);
	keep_text(judgement->says, result->errors);
}

static void trial_ended(void *data, const struct bounded_result *result)
{
	struct policy_stage *stage = data;
	struct job *job = stage->job;
	struct judgement judgement = {.says = NULL};

	job_child_ended(job, result->why);
	job_limits_ended(job, KEEPER_ENDED);
	job_network_judge(job);
	metric_observef(M_PROCESS_SECONDS, (double)(clock_mono_ms() - stage->begun_ms) / 1000, "command=\"%s\"",
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

static int evaluate(struct policy_stage *stage, const char *program, struct err *err)
{
	const struct policy_set *set = &stage->sets.sets[stage->set];
	const struct evaluation evaluation = {.set = set,
		.policy = current(stage),
		.max_ms = stage->job->host->policies.max_ms,
		.memory = stage->job->host->policies.memory,
		.http_hosts = stage->job->host->policies.http_hosts};
	struct trial trial = {.below = set->folder,
		.program = program,
		.offline = set->offline,
		.max_out = stage->evaluator->max_out,
		.done = trial_ended};
	int status;

	trial.folder = stage->evaluator->arguments(&evaluation, &trial.args);
	status = trial_start(stage, &trial, err);
	texts_release(&trial.args);
	return status;
}

/* Starts the evaluation of the current policy. If it can't be started, records the policy as errored and returns
 * false. */
static bool evaluate_one(struct policy_stage *stage)
{
	struct judgement judgement = {.says = NULL};
	struct err err = ERR_INIT;
	const char *why, *program = policy_program(stage, &stage->sets.sets[stage->set], &why);

	if (!program)
		errored(&judgement, "%s", why);
	else if (evaluate(stage, program, &err) == 0)
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

void step_evaluate(struct job *job)
{
	evaluate_next(job->policies);
}
