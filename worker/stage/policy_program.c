/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/policy_stage.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "proto/version.h"
#include "worker/packages/download.h"
#include "worker/packages/providers.h"

enum { MAX_SAID = 8 << 20 };

/* The policy set at stage->set, which is then the next one's; NULL at the end. */
static struct policy_set *next_set(struct policy_stage *stage)
{
	return stage->set < stage->sets.count ? &stage->sets.sets[stage->set++] : NULL;
}

const char *policy_program(const struct policy_stage *stage, const struct policy_set *set, const char **ret_why)
{
	*ret_why = *set->why ? set->why : stage->why;
	if (*set->why)
		return NULL;
	return set->program ? set->program : stage->program;
}

/* ---- the program of each set ---- */

/* The version of OPA that is wanted for a set: the exact one that it asks for, or the worker's if it has no other OPA.
 * Returns false if the program of the stage evaluates it. */
static bool version_wanted(const struct policy_stage *stage, const struct policy_set *set, struct version *ret_version)
{
	if (version_exact(set->tool_version, ret_version) == 0)
		return true;
	return !stage->program && version_exact(stage->job->host->policies.opa_version, ret_version) == 0;
}

/* The site's address and checksum of that version for this machine, or NULL. */
static const json_t *arch_of(const struct policy_set *set)
{
	static const char linux_prefix[] = "linux_";
	const char *own = providers_platform() + strlen(linux_prefix);
	const json_t *arch;
	size_t i;

	json_array_foreach((json_t *)set->tool_archs, i, arch)
	{
		if (text_equal(json_string_at(arch, "arch"), own))
			return arch;
	}
	return NULL;
}

static void listed_take(const json_t *arch, struct download_wanted *wanted)
{
	const char *url = json_string_at(arch, "url"), *sha = json_string_at(arch, "sha");

	if (url && sha) {
		wanted->url = url;
		wanted->sha = sha;
	}
}

static void find_next(struct policy_stage *stage);

/* A set whose version can't be had from anywhere is evaluated by the program of the stage. */
static void program_found(void *data, const struct engine *engine, const struct err *err)
{
	struct job *job = data;
	struct policy_stage *stage = job->policies;
	struct policy_set *set = &stage->sets.sets[stage->set - 1];

	if (engine) {
		set->program = mem_text(engine->path);
		set->early = engine->version.part[0] == 0;
		texts_add(&job->programs, "%s", engine->path);
	} else if (err->kind != ERR_NOT_FOUND) {
		text_copy(set->why, sizeof(set->why), err->message);
	}
	find_next(stage);
	job_release(job);
}

static void find_next(struct policy_stage *stage)
{
	struct job *job = stage->job;
	struct download_wanted wanted = {.choice.engine = program_opa};
	struct version version;
	struct policy_set *set;

	while ((set = next_set(stage)) && (*set->error || !version_wanted(stage, set, &version)))
		;
	if (!set || job_done(job)) {
		stage->set = 0;
		return;
	}
	text_copy(wanted.choice.version, sizeof(wanted.choice.version), version.text);
	listed_take(arch_of(set), &wanted);
	job_hold(job);
	engines_find_opa(job->host->engines, &wanted, program_found, job);
}

void step_find_programs(struct job *job)
{
	find_next(job->policies);
}

/* ---- asking it for its capabilities ---- */

static void ask_next(struct policy_stage *stage);

static void limits_came(void *data, const struct bounded_result *result)
{
	struct policy_stage *stage = data;
	struct job *job = stage->job;
	struct policy_set *set = &stage->sets.sets[stage->set - 1];
	bool fine = result->end == BOUNDED_ENDED && WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0;

	job->child = NULL;
	if (fine)
		set->said = mem_text(buf_str(result->out));
	else
		snprintf(set->why, sizeof(set->why), "%s can't be asked what it is able to do: %.200s",
			stage->evaluator->name, buf_str(result->errors));
	ask_next(stage);
	job_release(job);
}

/* Starts the program of the current set. If it can't be started, returns -1, and the set has the reason. */
static int ask(struct policy_stage *stage, struct policy_set *set, const char *program)
{
	struct trial trial = {.below = "",
		.folder = "",
		.program = program,
		.offline = true,
		.max_out = MAX_SAID,
		.done = limits_came};
	struct err err = ERR_INIT;
	int status;

	stage->evaluator->ask(&trial.args);
	status = trial_start(stage, &trial, &err);
	texts_release(&trial.args);
	if (status < 0)
		snprintf(
			set->why, sizeof(set->why), "%s can't be started: %.200s", stage->evaluator->name, err.message);
	return status;
}

static void ask_next(struct policy_stage *stage)
{
	struct policy_set *set;
	const char *program, *why;

	while (!job_done(stage->job) && (set = next_set(stage))) {
		program = set->limited ? policy_program(stage, set, &why) : NULL;
		if (program && ask(stage, set, program) == 0) {
			job_hold(stage->job);
			return;
		}
	}
	stage->set = 0;
}

void step_ask(struct job *job)
{
	ask_next(job->policies);
}

/* ---- limiting it ---- */

static void limit(void *data)
{
	struct policy_stage *stage = data;
	const struct shared shared = policy_shared(stage);

	for (size_t i = 0; i < stage->sets.count && stage->err.kind == ERR_NONE; i++)
		if (stage->sets.sets[i].said)
			stage->evaluator->limit(&shared, &stage->sets.sets[i], &stage->err);
}

void step_limit(struct job *job)
{
	struct policy_stage *stage = job->policies;

	for (size_t i = 0; i < stage->sets.count; i++)
		if (stage->sets.sets[i].said) {
			job_work(job, limit, policy_work_ended, stage);
			return;
		}
}
