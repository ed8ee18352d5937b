/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_GIT_TASK_H
#define WORKER_GIT_GIT_TASK_H

/*
 * One claimed git job (proto/README.md, "Work with git"): makes its folder, runs runyard-git below a keeper
 * (helper/helper.h), packs and sends the archive of a fetch, and sends the result. For the kind `module`, it downloads
 * the archive and runs runyard-inspect (worker/inspect).
 *
 * The credential is in the order, which the program gets in a memory file. It is in no argument, environment or file.
 */

#include "common/json/json.h"
#include "worker/keeper/keeper.h"

struct git_task;
struct worker;

/* What all tasks of a worker share; must outlive them. */
struct git_host {
	struct worker *worker;
	int jobs;                /* folder of the tasks' folders: <data-dir>/git */
	const char *jobs_path;   /* of the same folder */
	int caches;              /* folder of the repositories' caches: <data-dir>/git-caches */
	const char *caches_path; /* of the same folder */
	const char *helper;      /* path of runyard-git */
	const char *inspector;   /* path of runyard-inspect */
	bool offline;            /* the sandbox can do without a network */
	/* The task has ended and is freed after the call. */
	void (*ended)(void *data, struct git_task *task);
	void *data;
};

/* Starts a job of a claim's answer. Its lease begins when the claim was sent. NULL if the job can't be read. */
struct git_task *git_task_start(const struct git_host *host, const json_t *claimed, const struct keeper_lease *lease);
/* The worker stops: ends the task at once, and without a result. For when the loop no longer runs. */
void git_task_abandon(struct git_task *task);
/* To be called after the loop is freed. */
void git_task_free(struct git_task *task);

const char *git_task_job(const struct git_task *task);
int git_task_attempt(const struct git_task *task);
/* Whether it has used its repository's cache (caches.h). */
bool git_task_caches(const struct git_task *task);
/* Renews its lease. */
void git_task_renew(struct git_task *task, const struct keeper_lease *lease);
/* The worker does not hold the job any more: kills it, and reports nothing. */
void git_task_lose(struct git_task *task);
/* The worker drains: kills it, and gives it back. */
void git_task_give_up(struct git_task *task);

#endif
