/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_GIT_JOBS_H
#define SCHEDULER_STORE_VCS_GIT_JOBS_H

/* Work with git, which workers do. */

#include "scheduler/store/store.h"

/* Each adds the job unless it is there. */
int git_job_look(struct store *store, const char *repository_id, struct err *err);
int git_job_diff(struct store *store, const char *event_id, struct err *err);
int git_job_fetch(struct store *store, const char *content_id, struct err *err);

#endif
