/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <unistd.h>

#include "common/err.h"

/* ---- uploads in the background ---- */

struct upload {
	struct job *job;
	const char *what;
};

void job_upload_ended(struct job *job)
{
	if (--job->uploads == 0 && job->settling)
		job_release(job);
}

static void upload_ended(void *data, int status, const struct buf *body)
{
	struct upload upload = *(struct upload *)data;
	struct job *job = upload.job;
	char why[300];

	free(data);
	if ((status < 200 || status >= 300) && !job->channel.over) {
		answer_sentence(status, body, why, sizeof(why));
		job_fail(job, OUTCOME_ERRORED, "The scheduler did not take the %s: %s", upload.what, why);
	}
	job_upload_ended(job);
}

void job_upload(struct job *job, const char *path, const char *what, const char *content_type, int fd)
{
	const struct transfer_spec spec = {
		.method = "PUT", .path = path, .what = what, .content_type = content_type, .body_fd = fd};
	struct upload *upload;

	if (fd < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't read the %s", what);
		return;
	}
	if (job->channel.over) {
		close(fd);
		return;
	}
	upload = mem_new(1, sizeof(*upload));
	*upload = (struct upload){.job = job, .what = what};
	job->uploads++;
	channel_send(&job->channel, &spec, upload_ended, upload);
}

/* ---- the log's frame ---- */

void step_begin(struct job *job)
{
	_cleanup_(freep) char *text = mem_printf("%s v%s\non %s\nInitializing plugins and modules...\n",
		job->tofu ? "OpenTofu" : "Terraform", job->result.terraform_version, providers_platform());

	joblog_write(&job->log, text);
}

/* ---- the closing step ---- */

static void settled(void *data)
{
	job_release(data);
}

void step_settle(struct job *job)
{
	job->settling = true;
	if (job->uploads > 0)
		job_hold(job);
	job_hold(job);
	joblog_flush(&job->log, settled, job);
	if (job->states.dir) {
		job_hold(job);
		states_settle(&job->states, settled, job);
	}
}
