/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

/*
 * Dynamic credentials. The step `credentials` checks those of the claimed job, gets the secrets that Vault makes, and
 * writes the files, before any program of the run starts. All of it is redacted in the log. The plan, the apply and the
 * fetching of modules get the variables (runtime/command.h).
 *
 * runyard-vault runs in the job's sandbox and network. It is the job's program until it has logged in, so that stops
 * and limits reach it. Then it renews the tokens beside the engine, until the step `revoke`.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/log.h"
#include "common/process.h"
#include "worker/exec/child.h"
#include "worker/identity/credentials.h"
#include "worker/identity/vault_order.h"
#include "worker/identity/vault_session.h"
#include "worker/runtime/command.h"

static const char vault_folder[] = "vault";

/* The sentence may be a Vault's. */
static void fail(struct job *job, const char *sentence)
{
	if (job_done(job))
		return;
	job_fail(job, OUTCOME_ERRORED, "%s", sentence);
	joblog_write(&job->log, job->result.error);
	joblog_write(&job->log, "\n");
}

static void secret_redact(void *data, const char *secret)
{
	redactor_add(data, secret);
}

/* ---- files ---- */

static int file_write(void *data, const char *path, struct bytes content, struct err *err)
{
	const struct job *job = data;
	_cleanup_(freep) char *below = mem_printf(WORKDIR_CREDENTIALS "/%s", path);

	return beneath_write(job->dir.root, below, 0600, content, err);
}

static int files_write(struct job *job, struct err *err)
{
	_cleanup_(freep) char *own = command_path(job, WORKDIR_CREDENTIALS);
	const struct credential_paths paths = {.own = own, .stable = own};
	_cleanup_(texts_release) struct texts env = {.items = NULL};

	if (mkdirat(job->dir.root, WORKDIR_CREDENTIALS, 0700) < 0)
		return err_errno(err, WORKDIR_CREDENTIALS);
	if (credentials_files(job->credentials, &paths, file_write, job, err) < 0)
		return -1;
	return command_credentials(job, &env, err);
}

static void finish(struct job *job)
{
	_cleanup_(freep) char *sentence = NULL;
	struct err err = ERR_INIT;

	if (files_write(job, &err) == 0)
		return;
	sentence = mem_printf("The run's credentials can't be written: %s.", err.message);
	fail(job, sentence);
}

/* ---- events of the Vault session ---- */

/* The program handles interrupts now. */
static void begun(struct job *job, const json_t *event)
{
	(void)event;
	if (job->child && job->interrupt_due)
		child_interrupt(job->child);
	job->child_spoke = true;
}

static void secret_came(struct job *job, const json_t *event)
{
	struct err err = ERR_INIT;

	if (vault_take(job->credentials, event, &err) < 0) {
		fail(job, err.message);
		vault_session_finish(job->vault, VAULT_FINISH_MS);
	}
	credentials_secrets(job->credentials, secret_redact, &job->redactor);
}

static void sleeping(struct job *job, const json_t *event)
{
	_cleanup_(freep) char *line =
		mem_printf("Waiting %lld s until the new credentials are known everywhere (..._SLEEP_SECONDS)...\n",
			json_int_at(event, "sleeping", 0));

	joblog_write(&job->log, line);
	joblog_push(&job->log);
}

static bool is_login(const struct job *job)
{
	return job->child && job->vault && job->child == vault_session_child(job->vault);
}

/* The login has succeeded, unless it was stopped meanwhile: then the program ends soon. */
static void ready(struct job *job, const json_t *event)
{
	(void)event;
	if (!is_login(job) || job_done(job) || job->limits.met != LIMIT_NONE || job->network_lost)
		return;
	job->child = NULL;
	job->vault_held = false;
	if (vault_complete(job->credentials))
		finish(job);
	else
		fail(job, "The credentials can't be had: runyard-vault has not read all of them.");
	job_release(job);
}

static void failed(struct job *job, const json_t *event)
{
	fail(job, text_or_empty(json_string_at(event, "failed")));
}

static void warned(struct job *job, const json_t *event)
{
	_cleanup_(freep) char *clean = redact_text(&job->redactor, text_or_empty(json_string_at(event, "warning")));

	log_warn("a Vault token of a run", "run", job->result.run.text, "why", clean, NULL);
}

static const struct event_row {
	const char *member;
	void (*fn)(struct job *job, const json_t *event);
} events[] = {
	{"begun", begun},
	{"vault", secret_came},
	{"secret", secret_came},
	{"sleeping", sleeping},
	{"ready", ready},
	{"failed", failed},
	{"warning", warned},
};

static void event_came(void *data, const json_t *event)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (json_object_get(event, events[i].member)) {
			events[i].fn(data, event);
			return;
		}
}

/* ---- the end of the session ---- */

static void login_ended(struct job *job, enum keeper_why why, const char *said)
{
	_cleanup_(freep) char *sentence = mem_printf("The credentials can't be had: runyard-vault ended. %s", said);

	job_child_ended(job, why);
	job_limits_ended(job, why);
	job_network_judge(job);
	fail(job, sentence);
}

static void session_ended(void *data, enum keeper_why why, const char *said)
{
	struct job *job = data;
	bool held = job->vault_held;
	_cleanup_(freep) char *clean = redact_text(&job->redactor, said);

	job->vault = NULL;
	job->vault_held = false;
	if (*said)
		log_warn("runyard-vault", "run", job->result.run.text, "output", clean, NULL);
	if (job->child && held)
		login_ended(job, why, said);
	else if (!held)
		log_warn("a Vault session ended before its run", "run", job->result.run.text, NULL);
	if (held)
		job_release(job);
}

/* ---- the start of the session ---- */

static int session_open(struct job *job, struct err *err)
{
	const struct sandbox *sandbox = job->host->sandbox;
	_cleanup_(freep) char *helper = process_helper("runyard-vault");
	_cleanup_(freep) char *root = mem_printf("%s/%s", job->dir.path, vault_folder);
	_cleanup_(freep) char *order = NULL;
	json_auto_t *document = vault_order(job->credentials);
	const struct sandbox_job view = {.root = root, .read_only = true, .engine = helper};
	_cleanup_(freep) char *folder = sandbox_path(sandbox, &view, "");
	_cleanup_(texts_release) struct texts env = {.items = NULL}, args = {.items = NULL};
	const struct sandbox_command command = {.folder = folder, .args = &args, .env = &env};
	_cleanup_(sandbox_start_release) struct sandbox_start start = SANDBOX_START_INIT;
	struct vault_session_spec spec = {
		.loop = job->host->loop, .start = &start, .event = event_came, .ended = session_ended, .data = job};

	if (mkdirat(job->dir.top, vault_folder, 0700) < 0)
		return err_errno(err, vault_folder);
	command_environment(&env);
	if (job_network(job, &spec.network, err) < 0 || sandbox_prepare(sandbox, &view, &command, &start, err) < 0)
		return -1;
	order = json_text(document);
	spec.order = order;
	spec.terms = job_terms(job, &(struct child_kind){.in_order = true});
	if (vault_session_open(&spec, &job->vault, err) < 0)
		return -1;
	job->child = vault_session_child(job->vault);
	job->vault_held = true;
	return 0;
}

/* Takes the hold of the step. */
static void network_came(void *data, const struct err *no_network)
{
	struct job *job = data;
	_cleanup_(freep) char *sentence = NULL;
	struct err err = ERR_INIT;

	if (no_network)
		sentence = mem_printf("The job's network can't be made: %s", no_network->message);
	else if (job_done(job) || !job_leased(job))
		sentence = NULL;
	else if (session_open(job, &err) == 0)
		return;
	else
		sentence = mem_printf("runyard-vault can't be started: %s", err.message);
	if (sentence)
		fail(job, sentence);
	job_release(job);
}

/* ---- the steps ---- */

void step_credentials(struct job *job)
{
	struct err err = ERR_INIT;

	if (!json_array_size(job->assignment.credentials))
		return;
	if (credentials_read(job->assignment.credentials, job->assignment.run, &job->credentials, &err) < 0) {
		fail(job, err.message);
		return;
	}
	credentials_secrets(job->credentials, secret_redact, &job->redactor);
	if (!vault_needed(job->credentials)) {
		finish(job);
	} else if (job->host->offline) {
		fail(job,
			"The run's credentials come from Vault, and jobs of this worker have no network (--job-network "
			"none).");
	} else {
		job_hold(job);
		job_network_wait(job, network_came, job);
	}
}

/* The folder of an apply may stay for longer (upload/unsent.h). */
static void files_remove(const struct job *job)
{
	if (json_array_size(job->credentials) && beneath_remove(job->dir.root, WORKDIR_CREDENTIALS) < 0)
		log_warn("the credentials of a run can't be removed", "run", job->result.run.text, "error",
			strerror(errno), NULL);
}

void step_revoke(struct job *job)
{
	files_remove(job);
	if (!job->vault)
		return;
	job_hold(job);
	job->vault_held = true;
	vault_session_finish(job->vault, job->stop == STOP_FORCE ? VAULT_HURRY_MS : VAULT_FINISH_MS);
}
