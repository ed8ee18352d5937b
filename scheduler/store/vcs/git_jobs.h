/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_GIT_JOBS_H
#define SCHEDULER_STORE_VCS_GIT_JOBS_H

/*
 * Work with git, which workers do (proto/README.md, "Work with git"):
 *
 *  - look: read the refs of a repository. One for each repository.
 *  - diff: the paths that an event's commits changed. One for each event.
 *  - fetch: the files of a commit. One for each content (vcs_contents).
 *  - module: describes the content of a module's version (store/registry/module_inspections.h). It needs no repository.
 *
 * A row is deleted when its result is stored (runs/vcs/git_results.h). A worker holds a job by a lease and a token.
 * Every change by a worker names the attempt, so a late one changes nothing. A job whose lease ends waits again.
 */

#include "scheduler/store/store.h"
#include "scheduler/store/vcs/git_jobs.sql.h"

enum git_kind { GIT_FETCH, GIT_DIFF, GIT_LOOK, GIT_MODULE, GIT_KINDS };

/* "fetch", "diff", "look", "module"; GIT_KINDS for any other text. */
enum git_kind git_kind_parse(const char *name);

/* A job is tried that often: a try ends with a failure that may pass, or with its worker. */
enum { GIT_TRIES = 5, GIT_JOBS_CLAIMED = 64 };

/* The key of claim_waiters (outbox/claim_waiters.h) for git jobs of a pool, or of a worker's wait for one. */
void git_wait_key(const char *id, char ret_key[ID_SIZE]);

/*
 * Each adds the job unless it is there, and wakes a worker when the transaction has committed. A waiting look becomes
 * due at once. A look or a module's job that a worker holds is repeated, because it may have read the refs or the
 * content before this call.
 */
int git_job_look(struct store *store, const char *repository_id, struct err *err);
int git_job_diff(struct store *store, const char *event_id, struct err *err);
int git_job_fetch(struct store *store, const char *content_id, struct err *err);
int git_job_module(struct store *store, const char *version_id, struct err *err);

/* ---- of workers ---- */

struct git_claim {
	const char *pool_id, *worker_id;
	int slots;              /* at most GIT_JOBS_CLAIMED */
	struct db_array *kinds; /* that the worker can do */
	bool directories;       /* it can fetch a directory of a commit */
};
/*
 * Claims due jobs: fetches first, then diffs, modules and looks; within a kind, the organization with the fewest jobs
 * at work first. The rows have id, kind, attempt, tokens are in *ret_tokens in the same order (an array of texts, a new
 * reference). ERR_NOT_FOUND if the worker is not registered in the pool. In a transaction.
 */
int git_jobs_claim(struct store *store, const struct git_claim *claim, struct rows *ret_rows, json_t **ret_tokens,
	struct err *err);
/* The order to the worker: what git has to do, with the credential. A new reference. ERR_NOT_FOUND: what the job is for
 * is gone, or has no address; ERR_UNAVAILABLE: another scheduler can open the credential. */
int git_job_order(struct store *store, const char *job_id, json_t **ret_order, struct err *err);

/* Extends the leases of `jobs`, an array of {job, attempt}. *ret_jobs: for each whether the worker still holds it. */
int git_jobs_beat(struct store *store, const char *worker_id, const json_t *jobs, json_t **ret_jobs, struct err *err);

/* A held attempt. */
struct git_job {
	struct id id, repository, content, event, version; /* all but the first may be "" */
	enum git_kind kind;
	int attempt, tries;
	bool again;                                /* of a look or a module: another was asked for while this one ran */
	char blob[ID_SIZE], hash[SHA256_HEX_SIZE]; /* of a fetch's archive; "": none has been sent */
	long long size;
};
/* Reads the attempt that the token is for. ERR_NOT_FOUND if it has ended. */
int git_job_held(struct store *store, const char *job_id, const char *token, struct git_job *ret_job, struct err *err);
/* Whether the token is that of a held attempt. */
bool git_job_token_valid(struct store *store, const char *job_id, const char *token);

struct git_archive {
	const char *bytes; /* tar.gz; borrowed */
	size_t len;
	const char *hash; /* SHA-256 of the tar, in hex */
	long long size;   /* of the tar */
};
/* Stores the archive of a held fetch, for its result. */
int git_job_archive(
	struct store *store, const char *job_id, const char *token, const struct git_archive *archive, struct err *err);

/*
 * ---- their ends ----
 *
 * Each is ERR_NOT_FOUND if the attempt has ended meanwhile. Call them last in a transaction, after all rows that the
 * result changes are locked, because transactions that make jobs lock these rows first, too.
 */

/* Removes the job; or lets it wait again, if another look or inspection was asked for meanwhile. */
int git_job_end(struct store *store, const struct git_job *job, struct err *err);
/* Lets the job wait again: after `after_seconds`, with the error of this try. NULL: it did not fail. */
int git_job_again(
	struct store *store, const struct git_job *job, const char *error, int after_seconds, struct err *err);
/* Jobs whose lease has ended, at most 100. */
int git_jobs_lost(struct store *store, struct rows *ret_rows, struct err *err);
void git_job_of_row(const struct git_job_row *row, struct git_job *ret_job);
/* Moves waiting jobs to the pool that their connection has now. */
int git_jobs_tidy(struct store *store, struct err *err);

#endif
