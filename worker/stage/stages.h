/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_STAGES_H
#define WORKER_STAGE_STAGES_H

/* The steps of each stage, and the steps that stages share. */

#include "worker/exec/archive.h"
#include "worker/job.h"

/* The list for a stage. Borrowed. */
const struct step *stage_steps(enum stage stage);
extern const struct step plan_steps[];
extern const struct step opa_steps[];
extern const struct step cost_steps[];
extern const struct step sentinel_steps[];
extern const struct step apply_steps[];

/* prepare.c: the engine is found while configuration, state and, for an apply, plan and init bundle are downloaded...
 */
void step_fetch(struct job *job);
/* ...and unpacked; what the engine is told besides is written. */
void step_unpack(struct job *job);

/* Puts what the scheduler has under that name into a file: what came with the claim, or downloads it under a hold. `fd`
 * stays the caller's and must stay open until the step ends; below 0 the job fails. If it is not `needed`, nothing
 * there is fine. */
void job_download(struct job *job, const char *what, int fd, bool needed);

/* reuse.c: a plan takes what an earlier init on this worker made, if its own would make the same. */
void step_reuse(struct job *job);
/* Fills job->init_key, given the digest of the configuration. May run in a thread; so may the next. */
void init_key_make(struct job *job, const char *configuration);
/* Unpacks what init made. False: something of it is missing here; or *err. */
bool bundle_unpack(const struct job *job, int folder, int bundle, struct err *err);
extern const struct archive_bounds bundle_bounds;
/* What was reused did no good: the next plan runs init. */
void init_useless(struct job *job);

/* settle.c: begins the log with the three lines that say what runs. */
void step_begin(struct job *job);

/* init.c: modules, then providers and backend, then the provider packages that came are kept. */
void step_get(struct job *job);
void step_init(struct job *job);
/* Fails the job if another backend than the worker's is in force. */
void step_check_backend(struct job *job);
/* Copies new packages to the organization's, asks the installer to verify them, and packs and sends the result for the
 * apply. */
void step_keep_init(struct job *job);
/* The provider packages that the job may use. Borrows from the job and its host. */
struct package_view job_packages(const struct job *job);
/* Sends it; takes the descriptor. */
void job_upload_init(struct job *job, int bundle);

/* plan.c: whether the plan is to be shown as JSON: one that failed, too, where it was to write configuration. */
bool plan_is_shown(const struct job *job);
void step_show(struct job *job);

/* ...what is under way is waited for: uploads, the log, the last state. */
void step_settle(struct job *job);
/* Puts a file (takes the descriptor) in the background; the settle step waits for it. */
void job_upload(struct job *job, const struct transfer_spec *spec);
/* The same of a plan's JSON or schemas, which may come after its result. */
void job_upload_plan(struct job *job, const char *path, const char *what, int fd);
/* The path of such a request. The caller frees it. */
char *plan_path(const struct job *job, const char *path);
/* One of job->uploads is done with. */
void job_upload_ended(struct job *job);

#endif
