/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/git_jobs.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/vcs/git_jobs.sql.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/workers.h"

enum { MAX_LOST = 100 };

static const char *const kinds[GIT_KINDS] = {
	[GIT_FETCH] = "fetch", [GIT_DIFF] = "diff", [GIT_LOOK] = "look", [GIT_MODULE] = "module"};

enum git_kind git_kind_parse(const char *name)
{
	enum git_kind kind = 0;

	while (kind < GIT_KINDS && !text_equal(kinds[kind], name))
		kind++;
	return kind;
}

void git_wait_key(const char *id, char ret_key[ID_SIZE])
{
	snprintf(ret_key, ID_SIZE, "git %s", id);
}

/* ---- new jobs ---- */

/* Wakes a worker of the pool when the transaction has committed. */
static void pool_wake(struct store *store, const char *pool_id)
{
	char key[ID_SIZE];

	if (!store->sink)
		return;
	git_wait_key(pool_id, key);
	claim_waiters_wake_later(store->sink->waiters, store->db, key);
}

static void pools_wake(struct store *store, const struct rows *rows)
{
	for (int i = 0; i < rows->count; i++)
		pool_wake(store, row_of(git_job_pool, rows, i)->pool_id);
}

static int job_insert(
	struct store *store, const struct db_statement *statement, const char *subject_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct git_job_insert_row *job;

	if (db_query_one_of(store->db, &rows, err, statement, git_job_look, .new_id = id_new("gj").text,
		    .subject_id = subject_id) < 0)
		return -1;
	job = rows.count ? row_of(git_job_insert, &rows, 0) : NULL;
	if (job && text_equal(job->state, "waiting"))
		pool_wake(store, job->pool_id);
	return 0;
}

int git_job_look(struct store *store, const char *repository_id, struct err *err)
{
	return job_insert(store, &git_job_look_statement, repository_id, err);
}

int git_job_diff(struct store *store, const char *event_id, struct err *err)
{
	return job_insert(store, &git_job_diff_statement, event_id, err);
}

int git_job_fetch(struct store *store, const char *content_id, struct err *err)
{
	return job_insert(store, &git_job_fetch_statement, content_id, err);
}

int git_job_module(struct store *store, const char *version_id, struct err *err)
{
	return job_insert(store, &git_job_module_statement, version_id, err);
}

/* ---- claims ---- */

static int jobs_mark(struct store *store, const struct git_claim *claim, const json_t *marks, struct err *err)
{
	_cleanup_(freep) char *text = json_text(marks);

	return db_queue(store->db, err, git_jobs_mark, .marks = text, .worker_id = claim->worker_id,
		.lease_seconds = store->settings->lease_seconds);
}

int git_jobs_claim(
	struct store *store, const struct git_claim *claim, struct rows *ret_rows, json_t **ret_tokens, struct err *err)
{
	json_auto_t *tokens = json_array(), *marks = json_array();
	struct rows rows = ROWS_INIT;
	int status;

	if (db_query(store->db, &rows, err, git_jobs_pick, .pool_id = claim->pool_id, .worker_id = claim->worker_id,
		    .slots = claim->slots, .kinds = claim->kinds) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const char *id = row_of(git_jobs_pick, &rows, i)->id;
		_cleanup_(freep) char *token = crypto_token("git.");
		char hash[SHA256_HEX_SIZE];

		if (!id)
			break;
		crypto_sha256_hex(token, strlen(token), hash);
		json_array_append_new(tokens, json_string(token));
		json_array_append_new(marks, json_pack("{ss ss}", "id", id, "hash", hash));
	}
	status = row_of(git_jobs_pick, &rows, 0)->known ? 0 : err_set(err, ERR_NOT_FOUND, "worker not found");
	if (status == 0 && json_array_size(marks))
		status = jobs_mark(store, claim, marks, err);
	if (status < 0) {
		rows_release(&rows);
		return -1;
	}
	*ret_rows = rows;
	*ret_tokens = json_incref(tokens);
	return 0;
}

int git_jobs_beat(struct store *store, const char *worker_id, const json_t *jobs, json_t **ret_jobs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(jobs);

	if (db_query(store->db, &rows, err, git_jobs_beat, .worker_id = worker_id, .jobs = text,
		    .lease_seconds = store->settings->lease_seconds) < 0)
		return -1;
	*ret_jobs = json_array();
	for (int i = 0; i < rows.count; i++) {
		const struct git_jobs_beat_row *row = row_of(git_jobs_beat, &rows, i);

		json_array_append_new(*ret_jobs,
			json_pack("{ss si sb}", "job", text_or_empty(row->job), "attempt", (int)row->attempt, "held",
				row->held));
	}
	return 0;
}

/* ---- held jobs ---- */

void git_job_of_row(const struct git_job_row *row, struct git_job *ret_job)
{
	*ret_job = (struct git_job){.kind = git_kind_parse(row->kind),
		.attempt = (int)row->attempt,
		.tries = (int)row->tries,
		.again = row->again,
		.size = row->size};
	text_copy(ret_job->id.text, ID_SIZE, row->id);
	text_copy(ret_job->repository.text, ID_SIZE, text_or_empty(row->repository_id));
	text_copy(ret_job->content.text, ID_SIZE, text_or_empty(row->content_id));
	text_copy(ret_job->event.text, ID_SIZE, text_or_empty(row->event_id));
	text_copy(ret_job->version.text, ID_SIZE, text_or_empty(row->module_version_id));
	text_copy(ret_job->blob, ID_SIZE, text_or_empty(row->blob_id));
	text_copy(ret_job->hash, sizeof(ret_job->hash), text_or_empty(row->hash));
}

static int held_read(struct store *store, const char *job_id, const char *token, struct rows *ret_rows, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(text_or_empty(token), strlen(text_or_empty(token)), hash);
	return db_query(store->db, ret_rows, err, git_job_held, .job_id = job_id, .hash = hash);
}

int git_job_held(struct store *store, const char *job_id, const char *token, struct git_job *ret_job, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (held_read(store, job_id, token, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	git_job_of_row(row_of(git_job, &rows, 0), ret_job);
	return 0;
}

bool git_job_token_valid(struct store *store, const char *job_id, const char *token)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err err = ERR_INIT;

	return held_read(store, job_id, token, &rows, &err) == 0 && rows.count > 0;
}

struct archiving {
	struct store *store;
	const char *job_id, *token;
	const struct git_archive *archive;
};

static int archive_run(void *data, struct err *err)
{
	struct archiving *a = data;
	struct git_job job;
	struct id blob;

	if (git_job_held(a->store, a->job_id, a->token, &job, err) < 0)
		return -1;
	if (job.kind != GIT_FETCH)
		return err_set(err, ERR_INVALID, "the job is no fetch");
	if (blob_put_shared(a->store, a->archive->bytes, a->archive->len, &blob, err) < 0)
		return -1;
	return db_query(a->store->db, NULL, err, git_job_archive, .id = job.id.text, .blob = blob.text,
		.hash = a->archive->hash, .size = a->archive->size);
}

int git_job_archive(
	struct store *store, const char *job_id, const char *token, const struct git_archive *archive, struct err *err)
{
	struct archiving a = {store, job_id, token, archive};

	return db_transaction(store->db, archive_run, &a, err);
}

/* ---- ends ---- */

static int ended(const struct rows *rows, struct err *err)
{
	return rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "this attempt is over");
}

int git_job_again(struct store *store, const struct git_job *job, const char *error, int after_seconds, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, git_job_again, .id = job->id.text, .error = error,
		    .after_seconds = after_seconds, .attempt = job->attempt) < 0)
		return -1;
	if (after_seconds == 0)
		pools_wake(store, &rows);
	return ended(&rows, err);
}

int git_job_end(struct store *store, const struct git_job *job, struct err *err)
{
	_cleanup_(rows_release) struct rows gone = ROWS_INIT;

	if (db_query(store->db, &gone, err, git_job_end, .id = job->id.text, .attempt = job->attempt) < 0)
		return -1;
	return gone.count ? 0 : git_job_again(store, job, NULL, 0, err);
}

int git_jobs_lost(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, git_jobs_lost, .max_lost = MAX_LOST);
}

int git_jobs_tidy(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, git_jobs_moved) < 0)
		return -1;
	pools_wake(store, &rows);
	return 0;
}
