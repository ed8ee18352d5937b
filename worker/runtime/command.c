/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/exec/child.h"
#include "worker/identity/credentials.h"
#include "worker/metrics.h"
#include "worker/network/network.h"
#include "worker/sandbox/base.h"
#include "worker/stage/summary.h"
#include "worker/upload/record.h"

enum { KEPT_LIMIT = 1024 * 1024 };

/* The worker's own settings for network access, which jobs need as well. */
static const char *const passed_on[] = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
	"no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "TZ"};

struct running {
	struct job *job;
	struct command command;
	int kept;         /* memory file, or -1 */
	bool done_before; /* the job was already done when the command was requested: the command belongs to the closing
			     steps */
	int64_t begun_ms;
	int base; /* of its sandbox (sandbox/base.h), borrowed, or SANDBOX_NO_BASE */
};

/* ---- the environment ---- */

char *command_path(const struct job *job, const char *path)
{
	_cleanup_(freep) char *root = mem_printf("%s/root", job->dir.path);

	return sandbox_path(job->host->sandbox, &(struct sandbox_job){.root = root}, path);
}

/* The job's view of its sandbox: paths and access. */
static struct sandbox_job view_make(const struct job *job, char **ret_root, char **ret_cli_config)
{
	*ret_root = mem_printf("%s/root", job->dir.path);
	*ret_cli_config = mem_printf("%s/cli.tfrc", job->dir.path);
	return (struct sandbox_job){.root = *ret_root,
		.cli_config = *ret_cli_config,
		.engine = job->engine,
		.packages = job->packages ? org_user_path(job->packages) : NULL};
}

/* HCP's names for the facts of a run. The variables of commits are empty for an uploaded configuration. */
static void add_facts(const struct assignment *assignment, const char *prefix, struct texts *env)
{
	_cleanup_(freep) char *slug = mem_printf("%s/%s", assignment->organization, assignment->workspace);
	const char *const facts[][2] = {
		{"TFC_RUN_ID", assignment->run},
		{"TFC_WORKSPACE_NAME", assignment->workspace},
		{"TFC_WORKSPACE_ID", assignment->workspace_id},
		{"TFC_WORKSPACE_SLUG", slug},
		{"TFC_PROJECT_NAME", assignment->project},
		{"TFC_CONFIGURATION_VERSION_GIT_BRANCH", assignment->commit_branch},
		{"TFC_CONFIGURATION_VERSION_GIT_COMMIT_SHA", assignment->commit_sha},
		{"TFC_CONFIGURATION_VERSION_GIT_TAG", assignment->commit_tag},
	};

	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		texts_add(env, "%s%s=%s", prefix, facts[i][0], facts[i][1]);
}

/* Fewer garbage collections make the engine's short commands a tenth faster. The memory limit keeps long ones from
 * growing too large. OpenTofu writes the state of an apply at this interval in seconds, and accepts none below 20. */
static const char *const fixed[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/engine",
	"LANG=C.UTF-8",
	"TF_IN_AUTOMATION=1",
	"TF_INPUT=0",
	"CHECKPOINT_DISABLE=1",
	"GOGC=400",
	"GOMEMLIMIT=1GiB",
	"TF_STATE_PERSIST_INTERVAL=20",
	NULL,
};

/* Uses the workspace's key and no other. Accepts unknown host keys, because no one is there to confirm them. A
 * variable of the job's own overrides this one. */
static const char ssh_command[] = "GIT_SSH_COMMAND=ssh -i \"$HOME/.ssh/key\" -F /dev/null -o IdentitiesOnly=yes "
				  "-o BatchMode=yes -o StrictHostKeyChecking=accept-new "
				  "-o UserKnownHostsFile=\"$HOME/.ssh/known_hosts\"";

static void add_cost(struct texts *env)
{
	for (char **at = environ; *at; at++)
		if (text_starts(*at, "INFRACOST_"))
			texts_add(env, "%s", *at);
}

int command_credentials(const struct job *job, struct texts *env, struct err *err)
{
	_cleanup_(buf_release) struct buf seen = BUF_INIT(65536);
	_cleanup_(freep) char *own = command_path(job, WORKDIR_CREDENTIALS);
	struct credential_paths paths = {.own = own, .stable = own};

	if (!job->host->sandbox->bwrap) {
		if (workdir_seen(&job->assignment, WORKDIR_CREDENTIALS, &seen) < 0)
			return err_set(err, ERR_TOO_LARGE, "the working directory is too deep");
		paths.stable = buf_str(&seen);
	}
	return credentials_environment(job->credentials, &paths, job->ephemeral, env, err);
}

/* Configurations get the facts also as input variables. The step that takes the credentials has checked that they fit
 * into an environment. */
static void add_job(const struct job *job, const struct command *command, struct texts *env)
{
	struct err err = ERR_INIT;

	if (job->assignment.debug && command->output == OUTPUT_LOG && !command->hook)
		texts_add(env, "TF_LOG=TRACE");
	add_facts(&job->assignment, "", env);
	add_facts(&job->assignment, "TF_VAR_", env);
	if (command->with_ssh_key && *job->assignment.ssh_key)
		texts_add(env, "%s", ssh_command);
	variables_environment(&job->assignment, env);
	if (command->with_credentials)
		command_credentials(job, env, &err);
}

/* Adds those variables that hooks have set whose names begin with the prefix. */
static void add_hook_env(const struct job *job, const char *prefix, struct texts *env)
{
	for (size_t i = 0; i < job->hook_env.count; i++) {
		const char *item = job->hook_env.items[i], *equals = strchr(item, '=');
		_cleanup_(freep) char *name = mem_printf("%.*s", (int)(equals - item), item);

		if (text_starts(name, prefix))
			texts_set_env(env, name, equals + 1);
	}
}

static void add_own(struct texts *env)
{
	for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
		if (getenv(passed_on[i]))
			texts_add(env, "%s=%s", passed_on[i], getenv(passed_on[i]));
}

void command_environment(struct texts *env)
{
	texts_add_list(env, fixed);
	add_own(env);
}

/* The environment of a program that runs as the worker's account: a variable of the job's users, such as PATH,
 * LD_PRELOAD or BASH_ENV, could make it run their code. */
static void make_trusted_env(const struct job *job, struct texts *env)
{
	texts_add(env, "PATH=%s", text_or_empty(getenv("PATH")));
	texts_add(env, "LANG=C.UTF-8");
	texts_add(env, "PYTHONSAFEPATH=1"); /* Python imports no module from the working directory */
	add_own(env);
	add_facts(&job->assignment, "", env);
	variables_identity(&job->assignment, env);
	texts_add(env, "TFC_AGENT_ENV=%s/" WORKDIR_HOOK_ENV, job->dir.path);
}

static void make_env(
	const struct job *job, const struct sandbox_job *view, const struct command *command, struct texts *env)
{
	enum command_env kind = command->env;
	const struct sandbox *sandbox = job->host->sandbox;
	_cleanup_(freep) char *root = command_path(job, "");
	_cleanup_(freep) char *home = command_path(job, "home");
	_cleanup_(freep) char *folder = command_path(job, job->folder);
	_cleanup_(freep) char *hook_env = command_path(job, WORKDIR_HOOK_ENV);

	command_environment(env);
	texts_add(env, "HOME=%s", home);
	texts_add(env, "TF_CLI_CONFIG_FILE=%s", sandbox_cli_config(sandbox, view));
	if (kind == ENV_COST)
		add_cost(env);
	else
		texts_add(env, "TF_WORKSPACE=%s", job_workspace(job));
	if (kind == ENV_TOKENS) {
		variables_tokens(&job->assignment, env);
		add_hook_env(job, variables_token, env);
	}
	if (kind == ENV_JOB || kind == ENV_HOOK)
		add_job(job, command, env);
	if (kind == ENV_JOB)
		add_hook_env(job, "", env);
	if (kind == ENV_HOOK)
		texts_set_env(env, "TFC_AGENT_ENV", hook_env);
	variables_git(root, folder, env);
}

/* ---- the end ---- */

static void line_came(void *data, const char *line, size_t len)
{
	struct running *running = data;
	struct job *job = running->job;

	if (!job->child_spoke && job->interrupt_due && job->child)
		child_interrupt(job->child);
	job->child_spoke = true;
	if (running->command.on_line)
		running->command.on_line(job, line, len);
}

static int code_of(const struct running *running, const struct keeper_report *report)
{
	if (running->command.max_seconds && report->why == KEEPER_DEADLINE)
		return COMMAND_OVERDUE;
	return WIFEXITED(report->status) ? WEXITSTATUS(report->status) : -1;
}

static void command_ended(void *data, const struct keeper_report *report)
{
	struct running *running = data;
	int code = code_of(running, report);
	struct job *job = running->job;
	_cleanup_(buf_release) struct buf errors = BUF_INIT(KEPT_LIMIT);
	char chunk[8192];
	ssize_t got;
	off_t at = 0;

	job_child_ended(job, report->why);
	if (running->command.output == OUTPUT_LOG)
		joblog_detach(&job->log);
	/* An apply that succeeded before its interrupt arrived has succeeded. */
	if (report->status != 0 || job->assignment.stage != STAGE_APPLY) {
		job_limits_ended(job, code == COMMAND_OVERDUE ? KEEPER_ENDED : report->why);
		job_network_judge(job);
	}
	while (running->kept >= 0 && (got = pread(running->kept, chunk, sizeof(chunk), at)) > 0 &&
		buf_append(&errors, chunk, (size_t)got) == 0)
		at += got;
	metric_observef(M_PROCESS_SECONDS, (double)(clock_mono_ms() - running->begun_ms) / 1000, "command=\"%s\"",
		running->command.name);
	running->command.done(job, code, running->kept >= 0 ? buf_str(&errors) : NULL);
	closep(&running->kept);
	free(running);
	job_release(job);
}

void command_failed(struct job *job, const char *name, int code, const char *errors)
{
	char first[sizeof(job->result.error)] = "";

	if (job->optional) {
		_cleanup_(freep) char *clean = redact_text(&job->redactor, text_or_empty(errors));

		log_warn("a plan can't be shown", "run", job->result.run.text, "command", name, "output", clean, NULL);
		return;
	}
	if (errors) {
		summary_first_error(errors, first, sizeof(first));
		if (!job->lost && job->stop == STOP_NONE)
			joblog_write(&job->log, errors);
	} else {
		text_copy(first, sizeof(first), job->result.error);
	}
	if (*first)
		job_fail(job, OUTCOME_FAILED, "%s failed: %.800s", name, first);
	else if (code >= 0)
		job_fail(job, OUTCOME_FAILED, "%s ended with exit code %d", name, code);
	else
		job_fail(job, OUTCOME_FAILED, "%s was killed", name);
}

bool command_wrote_all(int out)
{
	struct stat info;
	char last = '\0';

	return fstat(out, &info) == 0 && info.st_size > 0 && pread(out, &last, 1, info.st_size - 1) == 1 &&
		last == '\n';
}

/* ---- the start ---- */

static int open_output(struct running *running, struct child_spec *spec, int *ret_read, struct err *err)
{
	int pipe_fds[2];

	if (running->command.output == OUTPUT_LOG) {
		if (pipe2(pipe_fds, O_CLOEXEC) < 0 || fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK) < 0)
			return err_errno(err, "pipe");
		*ret_read = pipe_fds[0];
		spec->fds[1] = spec->fds[2] = pipe_fds[1];
		return 0;
	}
	running->kept = child_output();
	if (running->kept < 0 || (running->command.output == OUTPUT_FILE && running->command.out < 0))
		return err_errno(err, "the output's file");
	spec->fds[1] = running->command.output == OUTPUT_FILE ? running->command.out : running->kept;
	spec->fds[2] = running->kept;
	return 0;
}

/* infracost is the operator's program, so it keeps the network when jobs have none. A job that has reported has given
 * its network back. */
static bool offline(const struct job *job, enum command_env env)
{
	return (job->host->offline && env != ENV_COST) || (job->host->networks && job->reported);
}

/* The apply goes on without the record. Stopping it would lose more than the record's list of resources, which
 * matters only if the worker dies. */
static void record_failed(void *data)
{
	const struct job *job = data;

	log_warn("the output of an apply can't be kept on the disk", "run", job->result.run.text, "job",
		job->result.job.text, "error", strerror(errno), NULL);
}

static int record_begin(struct running *running, struct child_kept *ret_kept, struct err *err)
{
	struct job *job = running->job;

	if (!running->command.recorded)
		return 0;
	if (record_open(job->dir.top, &job->record, err) < 0)
		return -1;
	*ret_kept = (struct child_kept){
		.output = -1, .copy = job->record, .held = job->network ? network_socket(job->network) : -1};
	return 0;
}

static void output_attach(struct running *running, int output)
{
	struct job *job = running->job;

	joblog_attach(&job->log, output, line_came, running);
	if (running->command.recorded)
		joblog_copy(&job->log, job->record, record_failed, job);
}

static bool is_trusted(const struct running *running)
{
	return running->command.env == ENV_TRUSTED;
}

static struct keeper_terms terms_make(const struct running *running)
{
	struct keeper_terms terms = job_terms(running->job, &running->command.kind);
	int64_t end = clock_boot_ms() + running->command.max_seconds * 1000;

	if (running->command.max_seconds)
		terms.deadline = (struct keeper_lease){.interrupt_ms = end, .kill_ms = end};
	return terms;
}

static int start_child(struct running *running, const struct sandbox_start *start, struct err *err)
{
	struct job *job = running->job;
	struct child_kept kept = {-1, -1, -1};
	struct child_spec spec = {
		.ended = command_ended,
		.data = running,
		.argv = start->argv.items,
		.env = start->env.items ? start->env.items : (char *[]){NULL},
		.folder = start->folder,
		.fds = {-1, -1, -1, start->args_fd, start->second_fd},
		.kept = running->command.recorded ? &kept : NULL,
		.terms = terms_make(running),
	};
	int output = -1, status;

	if (!is_trusted(running) && !offline(job, running->command.env) && job_network(job, &spec.network, err) < 0)
		return -1;
	if (record_begin(running, &kept, err) < 0 || open_output(running, &spec, &output, err) < 0)
		return -1;
	kept.output = running->command.recorded ? output : -1;
	status = child_start(job->host->loop, &spec, &job->child, err);
	if (running->command.output == OUTPUT_LOG)
		close(spec.fds[1]);
	if (status < 0)
		closep(&output);
	else if (output >= 0)
		output_attach(running, output);
	return status;
}

/* The job may have put a link in the place of its folder, so the program's working directory is its descriptor 3. */
static int start_trusted(struct running *running, struct err *err)
{
	const struct job *job = running->job;
	_cleanup_(sandbox_start_release) struct sandbox_start start = SANDBOX_START_INIT;

	start.folder = "/proc/self/fd/3";
	start.args_fd = beneath_open(job->dir.root, job->folder, O_RDONLY | O_DIRECTORY, 0);
	if (start.args_fd < 0)
		return err_errno(err, "the configuration's folder");
	texts_add(&start.argv, "%s/%s", job->host->hooks->folder, running->command.hook);
	make_trusted_env(job, &start.env);
	return start_child(running, &start, err);
}

static int start_in_sandbox(struct running *running, struct err *err)
{
	struct job *job = running->job;
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	_cleanup_(freep) char *root = NULL;
	_cleanup_(freep) char *cli_config = NULL;
	struct sandbox_job view = view_make(job, &root, &cli_config);
	_cleanup_(freep) char *folder = command_path(job, job->folder);
	struct sandbox_command command = {.hook = running->command.hook,
		.folder = folder,
		.args = &running->command.args,
		.env = &env,
		.offline = offline(job, running->command.env),
		.base = running->base};
	_cleanup_(sandbox_start_release) struct sandbox_start prepared = SANDBOX_START_INIT;

	make_env(job, &view, &running->command, &env);
	job->moves_state = job->moves_state || variables_move_state(&env);
	if (sandbox_prepare(job->host->sandbox, &view, &command, &prepared, err) < 0)
		return -1;
	return start_child(running, &prepared, err);
}

/* Releases the inputs after the program has got them or has failed to start. */
static void release_inputs(struct running *running)
{
	texts_release(&running->command.args);
	running->command.args = (struct texts){.items = NULL};
	closep(&running->command.out);
}

/* Gives the command up. */
static void release(struct running *running)
{
	struct job *job = running->job;

	release_inputs(running);
	closep(&running->kept);
	free(running);
	job_release(job);
}

static void refuse(struct running *running, const char *why)
{
	if (running->command.refused)
		running->command.refused(running->job, why);
	else
		job_fail(running->job, OUTCOME_ERRORED, "%s can't be started: %s", running->command.name, why);
}

/* Re-checks the job, which may have been stopped or lost while its network and base were made. */
static void begin(void *data, int base)
{
	struct running *running = data;
	struct job *job = running->job;
	bool stopped = !running->done_before && job_done(job);
	struct err err = ERR_INIT;

	running->base = base < 0 ? SANDBOX_NO_BASE : base;
	if (!stopped && job_leased(job)) {
		running->begun_ms = clock_mono_ms();
		if ((is_trusted(running) ? start_trusted : start_in_sandbox)(running, &err) == 0) {
			release_inputs(running);
			return;
		}
		refuse(running, err.message);
	}
	release(running);
}

static void network_came(void *data, const struct err *no_network)
{
	struct running *running = data;
	struct job *job = running->job;
	const int *namespaces = job->network ? network_namespaces(job->network) : NULL;

	if (no_network && running->command.refused)
		running->command.refused(job, no_network->message);
	else if (no_network && !job_done(job))
		job_fail(job, OUTCOME_ERRORED, "The job's network can't be made: %s", no_network->message);
	if (no_network)
		release(running);
	else
		bases_get(
			job->host->bases, job->engine, namespaces ? namespaces[0] : job->network_user, begin, running);
}

void command_run(struct job *job, struct command *command)
{
	struct running *running;

	if (!job_leased(job)) {
		texts_release(&command->args);
		return;
	}
	running = mem_new(1, sizeof(*running));
	*running = (struct running){.job = job, .command = *command, .kept = -1, .done_before = job_done(job)};
	command->args = (struct texts){.items = NULL};
	/* The caller may close its descriptor before the network is ready. */
	running->command.out = command->output == OUTPUT_FILE ? fcntl(command->out, F_DUPFD_CLOEXEC, 0) : -1;
	job_hold(job);
	if (is_trusted(running))
		begin(running, -1);
	else
		job_network_wait(job, network_came, running);
}
