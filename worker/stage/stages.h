/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_STAGES_H
#define WORKER_STAGE_STAGES_H

/* The steps of each stage, and the steps that stages share. */

#include "worker/packages/archive.h"
#include "worker/runtime/job.h"

/* By stage; NULL for a stage that a worker does not do (stage_work). */
extern const struct step *const stage_steps[STAGE_COUNT];
extern const struct step plan_steps[];
extern const struct step opa_steps[];
extern const struct step cost_steps[];
extern const struct step sentinel_steps[];
extern const struct step apply_steps[];

/* prepare.c: finds the engine and downloads the configuration, the state and, for an apply, the plan and the init
 * bundle. */
void step_fetch(struct job *job);
/* Unpacks the downloads and writes the engine's other input files. */
void step_unpack(struct job *job);

enum download_need {
	DOWNLOAD_NEEDED, /* a missing file fails the job */
	DOWNLOAD_OPTIONAL,
	DOWNLOAD_RECENT, /* optional, and a scheduler of an earlier version does not know the file */
};

/* Writes the scheduler's file of that name to `fd`: takes it from the claim, or downloads it under a hold. The
 * caller owns `fd` and keeps it open until the step ends; if it is negative, the job fails. A missing file that is
 * not needed stays empty. */
void job_download(struct job *job, const char *what, int fd, enum download_need need);

/* reuse.c: a plan takes the result of an earlier init on this worker, if its own init would give the same result. */
void step_reuse(struct job *job);
/* Fills job->init_key, given the digest of the configuration. May run in a thread, like bundle_unpack. */
void init_key_make(struct job *job, const char *configuration);
/* Unpacks the result of init. Returns false if a part of it is missing on this worker, or with *err set on an error. */
bool bundle_unpack(const struct job *job, int folder, int bundle, struct err *err);
extern const struct archive_bounds bundle_bounds;
/* The reused result was unusable: the next plan runs init. */
void init_useless(struct job *job);

/* settle.c: begins the log with two lines on what runs. */
void step_begin(struct job *job);
/* settle.c: adds the line that the engine's init begins. */
void step_announce_init(struct job *job);

/* hooks.c: run the operator's hooks before the engine's init, and after its plan or apply has ended. */
void step_pre_hook(struct job *job);
void step_post_hook(struct job *job);

/* credentials.c: gets the run's dynamic credentials, from Vault too, and writes their files. */
void step_credentials(struct job *job);
/* Removes the files, and ends the job's Vault session, which revokes its tokens. */
void step_revoke(struct job *job);

/* init.c: fetches modules, then installs providers and the backend, then keeps the new provider packages. */
void step_get(struct job *job);
void step_init(struct job *job);
/* Fails the job if the engine uses another backend than the worker's. */
void step_check_backend(struct job *job);
/* Copies new packages to the organization's packages and requests their verification by the installer. Packs the
 * result for the apply and sends it. */
void step_keep_init(struct job *job);
/* The provider packages that the job may use. Borrows from the job and its host. */
struct package_view job_packages(const struct job *job);
/* The source of providers: --provider-mirror, else the scheduler's mirror, else "". The caller frees it. */
char *job_mirror(const struct job *job);
/* Sends the bundle; takes the descriptor. */
void job_upload_init(struct job *job, int bundle);

/* plan.c: whether the plan is to be shown as JSON. True also for a failed plan that was to write configuration. */
bool plan_is_shown(const struct job *job);
/* Takes the counts and the first error from a line of the log. */
void plan_line_came(void *data, const char *line, size_t len);
/* query.c: lists resources in place of the plan. `var_file` may be NULL. */
void query_run(struct job *job, const char *var_file);
/* test.c: tests a module in place of the plan. `var_file` may be NULL. */
void test_run(struct job *job, const char *var_file);
void step_show(struct job *job);

/* settle.c: waits for uploads, the log and the last state. */
void step_settle(struct job *job);
/* Uploads a file (takes the descriptor) in the background; the settle step waits for it. */
void job_upload(struct job *job, const struct transfer_spec *spec);
/* The same for a plan's JSON or schemas, which may be sent after the plan's result. */
void job_upload_plan(struct job *job, const char *path, const char *what, int fd);
/* The path of such a request. The caller frees it. */
char *plan_path(const struct job *job, const char *path);
/* To be called when one of job->uploads has ended. */
void job_upload_ended(struct job *job);

#endif
