/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/git_results.h"

#include <string.h>

#include "common/log.h"
#include "common/vcs/ref.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/runs/vcs/commit_contents.h"
#include "scheduler/runs/vcs/events.h"
#include "scheduler/runs/vcs/git_results.sql.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/module_tags.h"
#include "scheduler/store/vcs/calls/event_asks.h"
#include "scheduler/store/vcs/events/commits.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/git_jobs.sql.h"

enum {
	SENTENCE_MAX = 2000,
	RETRY_SECONDS = 5,
	RETRY_FACTOR = 4,
	LOGIN_TRIES = 2,
	LOOK_SECONDS = 300,
	LOOK_FAILED_MAX = 3600
};

/* ---- claims ---- */

struct claiming {
	struct store *store;
	const struct git_claim *claim;
	struct rows rows;
	json_t *tokens;
};

static int claim_run(void *data, struct err *err)
{
	struct claiming *c = data;

	rows_release(&c->rows);
	json_decref(c->tokens);
	c->tokens = NULL;
	return git_jobs_claim(c->store, c->claim, &c->rows, &c->tokens, err);
}

static int claim_failed(struct store *store, const char *job_id, const char *token, const struct err *why);

static void claimed_add(struct claiming *c, int row, json_t *jobs)
{
	const struct git_jobs_pick_row *picked = row_of(git_jobs_pick, &c->rows, row);
	const char *id = picked->id;
	const char *token = json_string_value(json_array_get(c->tokens, (size_t)row));
	struct err why = ERR_INIT;
	json_t *order = NULL;

	if (text_equal(picked->kind, "module"))
		order = json_pack("{ss}", "kind", picked->kind);
	else if (git_job_order(c->store, id, &order, &why) < 0) {
		claim_failed(c->store, id, token, &why);
		return;
	}
	/* An earlier worker would send the whole repository. */
	if (json_object_get(order, "directory") && !c->claim->directories) {
		err_set(&why, ERR_UNAVAILABLE,
			"The worker is of an earlier version: it can't fetch a part of a commit.");
		claim_failed(c->store, id, token, &why);
		json_decref(order);
		return;
	}
	json_object_set_new(order, "job", json_string(id));
	json_object_set_new(order, "attempt", json_integer(picked->attempt));
	json_object_set_new(order, "token", json_string(token));
	json_array_append_new(jobs, order);
}

int git_claim_jobs(struct store *store, const struct git_claim *claim, json_t **ret_jobs, struct err *err)
{
	struct claiming c = {.store = store, .claim = claim, .rows = ROWS_INIT};
	int status = db_transaction(store->db, claim_run, &c, err);

	if (status == 0) {
		*ret_jobs = json_array();
		for (size_t i = 0; i < json_array_size(c.tokens); i++)
			claimed_add(&c, (int)i, *ret_jobs);
	}
	rows_release(&c.rows);
	json_decref(c.tokens);
	return status;
}

/* ---- failures ---- */

/* 5 s, 20 s, 80 s, 320 s. */
static int retry_seconds(int tries)
{
	int seconds = RETRY_SECONDS;

	while (tries-- > 0)
		seconds *= RETRY_FACTOR;
	return seconds;
}

/* The next look is later with each failure in a row. The repository may have been renamed, so the scheduler requests
 * its name from the provider. */
static int look_failed(struct store *store, const struct git_job *job, const char *sentence, struct err *err)
{
	if (vcs_look_failed(store, job->repository.text, sentence, err) < 0 ||
		vcs_repository_doubt(store, job->repository.text, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_look_failed, .repository_id = job->repository.text,
		.sentence = sentence, .look_seconds = LOOK_SECONDS, .max_seconds = LOOK_FAILED_MAX);
}

/* Tries the provider's API, which may list the changed files. */
static int diff_failed(struct store *store, const struct git_job *job, const char *sentence, struct err *err)
{
	bool asked;

	if (vcs_files_ask(store, job->event.text, sentence, &asked, err) < 0)
		return -1;
	return asked ? 0 : vcs_files_known(store, job->event.text, NULL, sentence, err);
}

static int job_failed(struct store *store, const struct git_job *job, const char *sentence, struct err *err)
{
	int status = 0;

	if (job->kind == GIT_FETCH)
		status = content_failed(store, job->content.text, sentence, err);
	if (job->kind == GIT_DIFF)
		status = diff_failed(store, job, sentence, err);
	if (job->kind == GIT_LOOK)
		status = look_failed(store, job, sentence, err);
	if (job->kind == GIT_MODULE && !job->again)
		status = module_inspection_fail(store, job->version.text, sentence, err);
	return status < 0 ? -1 : git_job_end(store, job, err);
}

/* Shows why the content is not here yet. */
static int retry_note(struct store *store, const struct git_job *job, const char *sentence, struct err *err)
{
	if (job->kind != GIT_FETCH)
		return 0;
	return db_query(store->db, NULL, err, vcs_content_note, .content_id = job->content.text, .sentence = sentence);
}

static int job_retry(struct store *store, const struct git_job *job, const char *sentence, struct err *err)
{
	if (job->tries + 1 >= GIT_TRIES)
		return job_failed(store, job, sentence, err);
	if (retry_note(store, job, sentence, err) < 0)
		return -1;
	return git_job_again(store, job, sentence, retry_seconds(job->tries), err);
}

struct failing {
	struct store *store;
	const char *job_id, *token, *sentence;
	bool passes;
};

static int failing_run(void *data, struct err *err)
{
	const struct failing *f = data;
	struct git_job job;

	if (git_job_held(f->store, f->job_id, f->token, &job, err) < 0)
		return -1;
	return f->passes ? job_retry(f->store, &job, f->sentence, err) : job_failed(f->store, &job, f->sentence, err);
}

/* The job can't be given to a worker. */
static int claim_failed(struct store *store, const char *job_id, const char *token, const struct err *why)
{
	struct failing failing = {store, job_id, token, why->message, why->kind != ERR_NOT_FOUND};
	struct err err = ERR_INIT;

	log_warn("a git job can't be started", "job", job_id, "error", why->message, NULL);
	return db_transaction(store->db, failing_run, &failing, &err);
}

/* ---- successes ---- */

struct applying {
	struct store *store;
	const char *job_id, *token;
	const json_t *result;
};

/* Refs and commits whose names no rule allows are left out: they may not come near git again. */
static json_t *refs_checked(const json_t *refs)
{
	json_t *checked = json_object();
	const char *name;
	json_t *sha;

	json_object_foreach((json_t *)refs, name, sha)
	{
		if (vcs_ref_valid(name) && vcs_sha_valid(json_string_value(sha)))
			json_object_set(checked, name, sha);
	}
	return checked;
}

/* Another look was asked for while this one ran: its refs may be older than what was asked about. A request for a look
 * that the VCS thread has not seen yet stays (vcs_look_now). */
static int look_stored(struct store *store, const struct git_job *job, const json_t *result, struct err *err)
{
	json_auto_t *refs = refs_checked(json_object_get(result, "refs"));
	const char *head = vcs_ref_branch(json_string_at(result, "head"));

	if (job->again)
		return 0;
	/* Requests may be for the default branch. */
	if (head &&
		db_queue(store->db, err, vcs_default_branch_set, .repository_id = job->repository.text, .head = head) <
			0)
		return -1;
	if (vcs_refs_seen(store, job->repository.text, refs, err) < 0)
		return -1;
	if (db_queue(store->db, err, vcs_look_done, .repository_id = job->repository.text,
		    .look_seconds = LOOK_SECONDS) < 0)
		return -1;
	return module_repository_looked(store, job->repository.text, err);
}

static int diff_stored(struct store *store, const struct git_job *job, const json_t *result, struct err *err)
{
	const json_t *files = json_object_get(result, "files");
	const char *note = json_string_at(result, "note");

	return vcs_files_known(store, job->event.text, json_is_array(files) ? files : NULL, note, err);
}

static int fetch_stored(struct store *store, const struct git_job *job, struct err *err)
{
	const struct stored_content content = {
		.content_id = job->content.text, .blob_id = job->blob, .hash = job->hash, .size = job->size};

	if (!*job->blob)
		return err_set(err, ERR_INVALID, "the archive must be sent before the result");
	return content_stored(store, &content, err);
}

static int commits_known(struct store *store, const struct git_job *job, const json_t *commits, struct err *err)
{
	const char *sha;
	json_t *commit;

	json_object_foreach((json_t *)commits, sha, commit)
	{
		if (vcs_sha_valid(sha) && json_is_object(commit) &&
			vcs_commit_describe(store, job->repository.text, sha, commit, err) < 0)
			return -1;
	}
	return 0;
}

/* Host keys that were seen for the first time are pinned from now on. */
static int host_keys_add(struct store *store, const struct git_job *job, const char *keys, struct err *err)
{
	if (!keys || !*keys || !*job->repository.text)
		return 0;
	return db_query(store->db, NULL, err, vcs_host_keys_add, .repository_id = job->repository.text, .keys = keys);
}

/* The content may have been replaced since the job read it. */
static int module_stored(struct store *store, const struct git_job *job, const json_t *result, struct err *err)
{
	if (!job->again &&
		module_inspection_store(store, job->version.text, json_object_get(result, "module"), err) < 0)
		return -1;
	return git_job_end(store, job, err);
}

static int success_store(struct store *store, const struct git_job *job, const json_t *result, struct err *err)
{
	int status;

	if (job->kind == GIT_MODULE)
		return module_stored(store, job, result, err);
	/* Before the job's own change: a run that starts has the message of its commit. */
	if (commits_known(store, job, json_object_get(result, "commits"), err) < 0)
		return -1;
	status = job->kind == GIT_LOOK  ? look_stored(store, job, result, err)
		: job->kind == GIT_DIFF ? diff_stored(store, job, result, err)
					: fetch_stored(store, job, err);
	return status < 0 ? -1 : git_job_end(store, job, err);
}

/* A token may expire while git works, or be revoked early. If it can be renewed, the job is tried again with the new
 * one. */
static int failure_apply(struct store *store, const struct git_job *job, const json_t *result, struct err *err)
{
	bool again = false;
	char sentence[SENTENCE_MAX];

	text_copy(sentence, sizeof(sentence), text_or_empty(json_string_at(result, "error")));
	if (*job->repository.text && json_bool_at(result, "login-refused", false) && job->tries < LOGIN_TRIES &&
		renewal_hasten(store, job->repository.text, &again, err) < 0)
		return -1;
	return again ? job_retry(store, job, sentence, err) : job_failed(store, job, sentence, err);
}

static int applying_run(void *data, struct err *err)
{
	const struct applying *a = data;
	const char *outcome = json_string_at(a->result, "outcome");
	char sentence[SENTENCE_MAX];
	struct git_job job;

	if (git_job_held(a->store, a->job_id, a->token, &job, err) < 0 ||
		host_keys_add(a->store, &job, json_string_at(a->result, "host-keys"), err) < 0)
		return -1;
	text_copy(sentence, sizeof(sentence), text_or_empty(json_string_at(a->result, "error")));
	if (text_equal(outcome, "done"))
		return success_store(a->store, &job, a->result, err);
	if (text_equal(outcome, "retry"))
		return job_retry(a->store, &job, sentence, err);
	if (text_equal(outcome, "failed"))
		return failure_apply(a->store, &job, a->result, err);
	if (text_equal(outcome, "given-up"))
		return git_job_again(a->store, &job, NULL, 0, err);
	return err_set(err, ERR_INVALID, "'outcome' must be done, retry, failed or given-up");
}

int git_result_apply(struct store *store, const char *job_id, const char *token, const json_t *result, struct err *err)
{
	struct applying applying = {store, job_id, token, result};

	return db_transaction(store->db, applying_run, &applying, err);
}

/* ---- leases ---- */

struct losing {
	struct store *store;
	struct git_job job;
};

static int losing_run(void *data, struct err *err)
{
	const struct losing *l = data;

	return job_retry(l->store, &l->job, "Contact with the worker that worked with git was lost.", err);
}

int git_jobs_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (git_jobs_lost(store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		struct losing losing = {.store = store};
		struct err why = ERR_INIT;

		git_job_of_row(row_of(git_job, &rows, i), &losing.job);
		if (db_transaction(store->db, losing_run, &losing, &why) == 0 || why.kind == ERR_NOT_FOUND)
			continue;
		log_error("a lost git job can't be ended", "job", losing.job.id.text, "error", why.message, NULL);
	}
	return 0;
}
