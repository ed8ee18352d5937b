/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"

/* ---- uploads in the background ---- */

struct upload {
	struct job *job;
	const char *what;
};

void job_upload_ended(struct job *job)
{
	if (--job->uploads > 0 || !job->settling)
		return;
	job->settling = false;
	job_release(job);
}

static void upload_ended(void *data, int status, const struct buf *body)
{
	struct upload upload = *(struct upload *)data;
	struct job *job = upload.job;
	char why[300];

	free(data);
	if (status == 0 && body->len > 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't read the %s from its disk: %s", upload.what,
			buf_str(body));
	} else if ((status < 200 || status >= 300) && !job->channel.over) {
		answer_sentence(status, body, why, sizeof(why));
		job_fail(job, OUTCOME_ERRORED, "The scheduler did not take the %s: %s", upload.what, why);
	}
	job_upload_ended(job);
}

void job_upload(struct job *job, const struct transfer_spec *spec)
{
	struct transfer_spec put = *spec;
	struct upload *upload;

	put.method = "PUT";
	if (spec->body_fd < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't open the %s on its disk: %s", spec->what,
			strerror(errno));
		return;
	}
	if (job->channel.over) {
		close(spec->body_fd);
		return;
	}
	upload = mem_new(1, sizeof(*upload));
	*upload = (struct upload){.job = job, .what = spec->what};
	job->uploads++;
	channel_send(&job->channel, &put, upload_ended, upload);
}

/* The path of a plan's request. After its result is given, the plan is addressed by its id. */
char *plan_path(const struct job *job, const char *path)
{
	if (!job->reported)
		return mem_text(path);
	return mem_printf(
		"%s%cplan=plan-%s", path, strchr(path, '?') ? '&' : '?', strchr(job->assignment.run, '-') + 1);
}

void job_upload_plan(struct job *job, const char *path, const char *what, int fd)
{
	_cleanup_(freep) char *full = plan_path(job, path);

	job_upload(job,
		&(struct transfer_spec){.path = full,
			.what = what,
			.content_type = "application/json",
			.body_fd = fd,
			.batched = IN_BATCH});
}

/* ---- the log's first lines ---- */

void step_begin(struct job *job)
{
	_cleanup_(freep) char *text = mem_printf("%s v%s\non %s\n", job->tofu ? "OpenTofu" : "Terraform",
		job->result.terraform_version, providers_platform());

	joblog_write(&job->log, text);
}

void step_announce_init(struct job *job)
{
	joblog_write(&job->log, "Initializing plugins and modules...\n");
	/* A person may be looking at the plan's empty log. An apply's first lines are sent with its start. */
	if (job->assignment.stage == STAGE_PLAN)
		joblog_push(&job->log);
}

/* ---- the closing step ---- */

static void settled(void *data)
{
	job_release(data);
}

/* Delays the end of a failed apply to READ_BY ms after its start. terraform polls the plan's log every two seconds.
 * When the log has ended, it reads the run again. If the apply has failed by then, terraform shows neither the plan nor
 * the error. */
static int64_t linger_ms(const struct job *job)
{
	enum { READ_BY = 3000 };
	const struct assignment *assignment = &job->assignment;
	int64_t left = job->begun_ms + READ_BY - clock_mono_ms();

	if (assignment->stage != STAGE_APPLY || !assignment->watched || job->result.outcome == OUTCOME_PASSED)
		return 0;
	return left > 0 ? left : 0;
}

void step_settle(struct job *job)
{
	int64_t linger = linger_ms(job);

	job_limits_explain(job);
	job->settling = job->uploads > 0;
	if (job->settling)
		job_hold(job);
	job_hold(job);
	joblog_flush(&job->log, settled, job);
	if (linger > 0) {
		job_hold(job);
		loop_timer_set(job->host->loop, &job->linger_timer, linger, settled, job);
	}
	if (job->states.dir) {
		job_hold(job);
		states_settle(&job->states, settled, job);
	}
}
