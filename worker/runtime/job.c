/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/job.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/exec/child.h"
#include "worker/identity/vault_session.h"
#include "worker/metrics.h"
#include "worker/network/network.h"
#include "worker/rescue/rescue.h"
#include "worker/upload/unsent.h"

static void job_advance(struct job *job);

/* For the log. */
#define JOB_FIELDS(job)                                                                                                \
	"run", (job)->result.run.text, "job", (job)->result.job.text, "stage", stages[(job)->assignment.stage].name

/* ---- lifecycle ---- */

static void attempt_is_over(void *data)
{
	job_lose(data);
}

/* Ends the job from a timer, because the transfer that received the answer is still in progress. */
static void attempt_over(void *data)
{
	struct job *job = data;

	loop_timer_set(job->host->loop, &job->over_timer, 0, attempt_is_over, job);
}

/* Stops the program, because its open connections would wait for answers forever. */
static void network_lost(void *data)
{
	struct job *job = data;

	network_release(job->network);
	job->network = NULL;
	job->network_lost = job->child != NULL;
	log_warn("a job lost its network", "run", job->result.run.text, "job", job->result.job.text, NULL);
	if (job->child)
		job_limits_stop(job);
}

static void network_begin(struct job *job)
{
	job->network = network_take(job->host->networks, job->assignment.organization_id, job->assignment.api_url);
	network_on_loss(job->network, network_lost, job);
}

static void job_begin(void *data)
{
	struct job *job = data;
	const struct job_host *host = job->host;
	const struct workdir_place place = {.jobs = host->jobs, .path = host->jobs_path, .quota = host->limits->quota};
	struct err err = ERR_INIT;

	if (host->networks && (job->assignment.stage == STAGE_PLAN || job->assignment.stage == STAGE_APPLY))
		network_begin(job); /* the network is made while the job's files are downloaded */
	if (workdir_make(&place, &job->assignment, &job->dir, &err) < 0)
		job_fail(job, OUTCOME_ERRORED, "The worker can't make a folder for the job: %s", err.message);
	else if (org_packages_enter(host->org_packages, job->assignment.organization_id, &job->packages, &err) < 0)
		job_fail(job, OUTCOME_ERRORED, "The worker can't make a folder for provider packages: %s", err.message);
	job_release(job);
}

struct job *job_start(const struct job_host *host, struct assignment *assignment, const struct keeper_lease *lease,
	const struct err *refusal)
{
	struct job *job = mem_new(1, sizeof(*job));

	job->host = host;
	job->lease = *lease;
	job->assignment = *assignment;
	job->dir = (struct workdir)WORKDIR_INIT;
	job->configuration = job->init_bundle = job->plan_json = job->state_file = job->plan_file = job->record = -1;
	job->network_user = -1;
	job->begun_ms = job->step_ms = clock_mono_ms();
	job->steps = host->steps[assignment->stage];
	job->folder = assignment->working_directory ? workdir_folder(assignment) : NULL;
	text_copy(job->result.job.text, sizeof(job->result.job.text), assignment->job);
	text_copy(job->result.run.text, sizeof(job->result.run.text), assignment->run);
	job->result.attempt = assignment->attempt;
	channel_open(&job->channel,
		&(struct channel_spec){.loop = host->loop,
			.fetcher = host->fetcher,
			.scheduler_url = host->scheduler_url,
			.job = assignment->job,
			.token = assignment->token});
	job->channel.bounded = true;
	job->channel.on_over = attempt_over;
	job->channel.data = job;
	redactor_init(&job->redactor, &job->assignment);
	joblog_init(&job->log, host->loop, &job->channel, &job->redactor);
	job->states = (struct states){.inotify = -1};
	log_info("job claimed", "run", assignment->run, "job", assignment->job, "stage", stages[assignment->stage].name,
		NULL);
	if (refusal) {
		job_fail(job, OUTCOME_ERRORED, "%s", refusal->message);
		joblog_write(&job->log, refusal->message);
		joblog_write(&job->log, "\n");
	}
	job->stop = assignment->stop;
	job_limits_begin(job);
	job_hold(job);
	loop_timer_set(host->loop, &job->begin_timer, 0, job_begin, job);
	return job;
}

static void folder_remove(void *data)
{
	struct workdir *dir = data;

	beneath_remove(dir->jobs, dir->name);
	workdir_release(dir);
	free(dir);
}

/* Removes the folder. For an apply, the unsent data is saved first, or the folder stays. */
static void folder_give_up(struct job *job)
{
	const struct unsent_end end = {.result = job->lost ? NULL : &job->result,
		.owed = job->behind,
		.unrecorded = job->unrecorded,
		.rescue = job->rescue};
	struct workdir *dir;

	if (job->stateless && !json_array_size(job->unrecorded)) {
		unsent_forget(&job->dir);
	} else if (job->states.dir) {
		if (unsent_ended(job->host->unsent, &job->dir, &end) < 0)
			return;
		unsent_forget(&job->dir); /* the folder has an earlier state while it is removed */
		job->rescue = NULL;
	}
	dir = mem_new(1, sizeof(*dir));

	*dir = job->dir;
	job->dir = (struct workdir)WORKDIR_INIT;
	if (dir->name)
		loop_work(job->host->loop, folder_remove, NULL, dir);
	else
		free(dir);
}

void job_free(struct job *job)
{
	loop_timer_clear(job->host->loop, &job->begin_timer);
	loop_timer_clear(job->host->loop, &job->over_timer);
	job_limits_release(job);
	vault_session_free(job->vault);
	network_release(job->network);
	closep(&job->network_user);
	states_release(&job->states);
	rescue_free(job->rescue);
	joblog_release(&job->log);
	channel_close(&job->channel);
	if (job->policies)
		job->policies_free(job->policies);
	redactor_release(&job->redactor);
	closep(&job->configuration);
	closep(&job->init_bundle);
	closep(&job->plan_json);
	closep(&job->state_file);
	closep(&job->plan_file);
	closep(&job->record);
	org_packages_leave(job->host->org_packages, job->packages);
	workdir_release(&job->dir);
	assignment_release(&job->assignment);
	json_decref(job->unrecorded);
	json_decref(job->credentials);
	json_decref(job->ephemeral);
	free(job->folder);
	free(job->engine);
	texts_release(&job->programs);
	texts_release(&job->hook_env);
	free(job->locked);
	free(job);
}

static const char *stop_sentence(const struct job *job)
{
	if (job->abandoned)
		return "The worker was stopped while the job ran.";
	return job->stop == STOP_FORCE ? "The run was force-canceled." : "The run was canceled.";
}

/* An apply that succeeded before its interrupt arrived has succeeded. The scheduler shows any other outcome of a run
 * that a user has stopped as canceled, as if nothing had been applied. So a hook that failed after the apply does not
 * count then. */
static void applied_outcome(const struct job *job, struct job_result *result)
{
	if (!job->hook_failed || job->stop == STOP_NONE || job->abandoned)
		return;
	result->outcome = OUTCOME_PASSED;
	result->error[0] = '\0';
}

void job_outcome(const struct job *job, struct job_result *result)
{
	if (job->applied) {
		applied_outcome(job, result);
		return;
	}
	if (job->stop != STOP_NONE) {
		result->outcome = OUTCOME_CANCELED;
		text_copy(result->error, sizeof(result->error), stop_sentence(job));
	} else if (!job->decided) {
		result->outcome = OUTCOME_PASSED;
		result->error[0] = '\0';
	}
}

/* The run's apply may begin at once, in the same network. */
static void network_give_back(struct job *job)
{
	const int *namespaces = job->network ? network_namespaces(job->network) : NULL;

	if (namespaces)
		job->network_user = fcntl(namespaces[0], F_DUPFD_CLOEXEC, 0);
	network_release(job->network);
	job->network = NULL;
}

void job_report(struct job *job)
{
	job_outcome(job, &job->result);
	job->decided = job->reported = job->optional = true;
	job->reported_ms = clock_mono_ms();
	network_give_back(job);
	job->lease = (struct keeper_lease){0}; /* it no longer holds anything that another worker could be given */
	job->host->reported(job->host->data, job, &job->result);
}

void job_await_turn(struct job *job)
{
	job->turn = TURN_AWAITED;
	job_hold(job);
	job->host->show(job->host->data);
}

static void turn_leave(struct job *job, enum turn turn)
{
	if (job->turn != TURN_AWAITED)
		return;
	job->turn = turn;
	job_release(job);
}

void job_take_turn(struct job *job)
{
	turn_leave(job, TURN_TAKEN);
}

/* In this case no state of the workspace has the apply's resources. So the workspace is held, and the next plan waits
 * for a person. Only options that move the state cause this. Without them, OpenTofu writes no state if the apply
 * restored the last one, for example if it recreated deleted resources. */
bool job_state_is_missing(const struct job *job)
{
	const struct job_result *result = &job->result;

	return job->applied && job->moves_state && !job->states.seen &&
		result->additions + result->changes + result->destructions + result->imports > 0;
}

static void state_fails(struct job *job, const char *what, const char *why)
{
	_cleanup_(freep) char *text = mem_printf("%s: %s", what, why);

	job->result.outcome = OUTCOME_ERRORED;
	job_error_set(job, text);
}

/* An error of a hook says that the state is the workspace's, so an error of the state takes its place. */
static bool engine_passed(const struct job *job)
{
	return job->result.outcome == OUTCOME_PASSED || job->hook_failed;
}

/* Fails the job because its state can't be read. The scheduler still lacks the state, and the workspace is held. An
 * earlier error of the engine is more specific and stays. */
static void state_unreadable(struct job *job, const struct err *why)
{
	log_error("the state that an apply left can't be delivered", "run", job->result.run.text, "job",
		job->result.job.text, "error", why->message, NULL);
	if (!engine_passed(job))
		return;
	job->result.outcome = OUTCOME_ERRORED;
	snprintf(job->result.error, sizeof(job->result.error),
		"The state that the apply left can't be delivered: %s. The workspace is held. The file is kept in the "
		"folder unsent/ of the worker's data: repair and upload it, and release the workspace.",
		why->message);
}

/* Fails an apply whose engine succeeded, if the workspace lacks its last state. */
static void state_undelivered(struct job *job)
{
	const struct states *states = &job->states;

	if (job->result.state_owed)
		state_fails(job,
			"The worker keeps the state that the apply left, because the scheduler has not accepted it",
			*states->undelivered ? states->undelivered : "it was not sent");
	else if (*states->detached_why)
		state_fails(job, "The state that the apply left is stored as a detached state", states->detached_why);
}

/* Decides whether the apply passed. An apply has not passed before its state is the workspace's. That holds after a
 * stop too: an engine that succeeded before its interrupt arrived has left a state. */
static void states_judge(struct job *job)
{
	struct err unreadable = ERR_INIT;

	if (!job->states.dir)
		return;
	job->behind = states_behind(&job->states, &unreadable);
	job->result.state_owed = job->behind || json_array_size(job->unrecorded);
	job->stateless = unreadable.kind == ERR_NONE && job_state_is_missing(job);
	if (job->stateless) {
		job->result.state_owed = true;
		job->result.outcome = OUTCOME_ERRORED;
		text_copy(job->result.error, sizeof(job->result.error),
			"The apply changed resources, but wrote no state where the worker keeps it. The workspace is "
			"held: "
			"see where the configuration or TF_CLI_ARGS_apply put the state, upload it, and release the "
			"workspace.");
		return;
	}
	if (unreadable.kind != ERR_NONE)
		state_unreadable(job, &unreadable);
	if (engine_passed(job))
		state_undelivered(job);
}

static void job_end(struct job *job)
{
	const char *stage = stages[job->assignment.stage].name;
	const char *outcome;

	if (!job->reported) {
		job_outcome(job, &job->result);
		states_judge(job);
	}
	outcome = job->lost && !job->reported ? "lost" : outcome_name(job->result.outcome);
	metric_addf(M_JOBS, 1, "stage=\"%s\",outcome=\"%s\"", stage, outcome);
	metric_observef(M_JOB_SECONDS, (double)(clock_mono_ms() - job->begun_ms) / 1000, "stage=\"%s\"", stage);
	log_info("job ended", "run", job->result.run.text, "job", job->result.job.text, "stage", stage, "outcome",
		outcome, "why", *job->result.error ? job->result.error : NULL, NULL);
	folder_give_up(job);
	job->host->ended(job->host->data, job, job->lost || job->reported ? NULL : &job->result);
	job_free(job);
}

/* ---- steps ---- */

void job_hold(struct job *job)
{
	job->holds++;
}

void job_release(struct job *job)
{
	if (--job->holds == 0)
		job_advance(job);
}

const char *job_workspace(const struct job *job)
{
	return job->old_plan ? "default" : workdir_workspace(&job->assignment);
}

bool job_done(const struct job *job)
{
	return job->decided || job->lost || job->stop != STOP_NONE;
}

static void step_timed(struct job *job)
{
	const char *stage = stages[job->assignment.stage].name;
	int64_t now = clock_mono_ms();

	if (job->step > 0) {
		const char *step = job->steps[job->step - 1].name;

		metric_observef(
			M_STEP_SECONDS, (double)(now - job->step_ms) / 1000, "stage=\"%s\",step=\"%s\"", stage, step);
		log_debug("step", "run", job->result.run.text, "stage", stage, "step", step, NULL);
	}
	job->step_ms = now;
}

static void job_advance(struct job *job)
{
	while (job->holds == 0) {
		const struct step *step;

		step_timed(job);
		while (job->steps[job->step].name && !job->steps[job->step].closing && job_done(job))
			job->step++;
		step = &job->steps[job->step];
		if (!step->name) {
			job_end(job);
			return;
		}
		job->step++;
		job->holds++;
		step->run(job);
		job->holds--;
	}
}

void job_error_set(struct job *job, const char *text)
{
	_cleanup_(freep) char *clean = redact_text(&job->redactor, text);

	text_copy(job->result.error, sizeof(job->result.error), clean);
}

/* The error may quote a program's output. */
void job_fail(struct job *job, enum outcome outcome, const char *format, ...)
{
	char error[sizeof(job->result.error)];
	va_list args;

	if (job->decided)
		return;
	job->decided = true;
	job->result.outcome = outcome;
	va_start(args, format);
	vsnprintf(error, sizeof(error), format, args);
	va_end(args);
	job_error_set(job, error);
}

struct job_work {
	struct job *job;
	loop_work_fn work, done;
	void *data;
};

static void work_run(void *data)
{
	struct job_work *work = data;

	work->work(work->data);
}

static void work_done(void *data)
{
	struct job_work work = *(struct job_work *)data;

	free(data);
	work.done(work.data);
	job_release(work.job);
}

void job_work(struct job *job, loop_work_fn work, loop_work_fn done, void *data)
{
	struct job_work *item = mem_new(1, sizeof(*item));

	*item = (struct job_work){.job = job, .work = work, .done = done, .data = data};
	job_hold(job);
	loop_work(job->host->loop, work_run, work_done, item);
}

/* ---- the program ---- */

bool job_leased(struct job *job)
{
	if (!job->reported && clock_boot_ms() >= job->lease.interrupt_ms)
		job_lose(job);
	return !job->lost;
}

struct keeper_terms job_terms(struct job *job, const struct child_kind *kind)
{
	struct keeper_terms terms;

	job->child_kind = *kind;
	job->child_spoke = job->interrupt_due = false;
	terms = (struct keeper_terms){.lease = job->lease,
		.in_order = kind->in_order,
		.outlives = kind->outlives,
		.low_priority = job->optional};
	job_limits_terms(job, &terms);
	return terms;
}

void job_child_ended(struct job *job, enum keeper_why why)
{
	job->child = NULL;
	if (why == KEEPER_LEASE)
		job_lose(job);
}

/* ---- its network ---- */

void job_network_wait(struct job *job, void (*fn)(void *data, const struct err *err), void *data)
{
	job->network_lost = false;
	if (!job->host->networks || job->reported) {
		fn(data, NULL);
		return;
	}
	if (!job->network)
		network_begin(job);
	network_wait(job->network, fn, data);
}

int job_network(const struct job *job, const int **ret_network, struct err *err)
{
	*ret_network = job->network ? network_namespaces(job->network) : NULL;
	if (job->host->networks && !*ret_network)
		return err_set(err, ERR_INTERNAL, "the job's network ended: pasta on the worker was killed or failed");
	return 0;
}

void job_network_judge(struct job *job)
{
	if (job->network_lost)
		job_fail(job, OUTCOME_ERRORED,
			"The job's network ended while the %s ran: pasta on the worker was killed or failed. "
			"Start the run again.",
			stages[job->assignment.stage].name);
}

/* ---- calls from the worker ---- */

void job_renew(struct job *job, const struct keeper_lease *lease)
{
	job->lease = *lease;
	if (job->child)
		child_renew(job->child, lease);
	if (job->vault)
		vault_session_renew(job->vault, lease);
}

void job_stop_child(struct job *job, bool force)
{
	if (!job->child)
		return;
	if (force || !job->child_kind.in_order)
		child_kill(job->child);
	else if (job->child_spoke)
		child_interrupt(job->child);
	else
		job->interrupt_due = true;
}

void job_stop(struct job *job, enum stop stop)
{
	if (stop <= job->stop)
		return;
	job->stop = stop;
	log_info("job is asked to stop", "run", job->result.run.text, "job", job->result.job.text, "how",
		stop_name(stop), NULL);
	job_hold(job);
	job_stop_child(job, stop == STOP_FORCE);
	if (job->vault && stop == STOP_FORCE)
		vault_session_finish(job->vault, VAULT_HURRY_MS);
	channel_give_up_downloads(&job->channel);
	engines_leave(job->host->engines, job);
	turn_leave(job, TURN_NONE);
	job_release(job);
}

void job_lose(struct job *job)
{
	if (job->lost)
		return;
	job->lost = true;
	if (job->reported)
		log_warn("a plan is not shown any more", JOB_FIELDS(job), NULL);
	else
		log_warn("the attempt is over: its lease ended, or the scheduler gave it up", JOB_FIELDS(job), NULL);
	job->channel.over = true; /* the scheduler no longer accepts its log */
	if (job->child && job->child_kind.outlives)
		return; /* the apply and its states go on */
	if (job->child)
		child_kill(job->child);
	if (job->vault)
		vault_session_finish(job->vault, VAULT_HURRY_MS);
	job_hold(job);
	channel_give_up(&job->channel);
	engines_leave(job->host->engines, job);
	turn_leave(job, TURN_NONE);
	job_release(job);
}

static void job_abandon(struct job *job, enum stop stop)
{
	if (job->stop == STOP_NONE)
		job->abandoned = true;
	job_stop(job, stop);
}

void job_interrupt(struct job *job)
{
	job_abandon(job, job->assignment.stage == STAGE_APPLY ? STOP_CANCEL : STOP_FORCE);
}

void job_kill(struct job *job)
{
	job_abandon(job, STOP_FORCE);
}

void job_let_go(struct job *job)
{
	job_hold(job);
	job->channel.over = true;
	turn_leave(job, TURN_NONE);
	states_give_up(&job->states); /* else a state that was written meanwhile would be sent, and awaited */
	channel_give_up(&job->channel);
	job_release(job);
}
