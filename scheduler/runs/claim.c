/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/claim.h"

#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/metrics.h"
#include "proto/capabilities.h"
#include "scheduler/auth/run_token.h"
#include "scheduler/metrics.h"
#include "scheduler/lifecycle/job_class.h"
#include "scheduler/runs/claim.sql.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/job_document.h"
#include "scheduler/runs/job_document.sql.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/content/rescues.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/runs/artifacts.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/variables/variables.h"
#include "scheduler/store/workers/draining.h"
#include "scheduler/store/workers/quotas.h"
#include "scheduler/store/workers/quotas.sql.h"
#include "scheduler/store/workers/workers.h"

/*
 * A worker accepts an answer of up to 64 MiB (worker/runtime/lease.c). ANSWER_LIMIT bounds the variables and addresses
 * of all jobs of one answer, unless a single job exceeds it: an earlier version created runs with more than
 * RUN_VARIABLES_LIMIT.
 */
enum {
	MAX_TRIES = 5,
	MAX_PICKS = 12,         /* Most picks of a try while picks find jobs for other workers. */
	MAX_PICKS_BY_NEEDS = 6, /* After this many, a pick excludes the organizations of such jobs. */
	ANSWER_LIMIT = 2 * RUN_VARIABLES_LIMIT,
	PROMPT_SECONDS = 30 /* a job starts in time if it is claimed within this time */
};

struct picked_job {
	struct id job, run, organization;
	int attempt;
	bool applies;
	char *token, *run_token;     /* the worker's token for the job; the token for the processes in the run */
	struct rescue_grant rescue;  /* of an apply, with --rescue 1 */
	struct engine_choice engine; /* of a plan or an apply */
	const char *why;             /* why the run does not start: a broken invariant or a refusal; a constant */
	char *refusal;               /* why no worker of the pool can run the job; owned */
	bool fills_quota;            /* it takes the last place of its organization's or its pool's quota */
};

struct claiming {
	struct store *store;
	const char *pool, *worker;
	int slots;
	long long deadline_seconds;    /* deadline of an apply, counted from now; 0: none */
	bool locked;                   /* another transaction holds some of the jobs locked */
	bool again;                    /* another try may find more jobs */
	bool more;                     /* more jobs wait */
	bool limited;                  /* quotas apply to the picked jobs */
	bool full;                     /* the next job does not fit into the answer */
	long long bytes_before, bytes; /* size of the variables and addresses in the answer: before this try, now */
	struct db_array left_out;      /* jobs that do not start; this claim does not pick them again */
	const json_t *capabilities;    /* the worker's; NULL: a worker of an earlier version */
	json_t *others;                /* from workers_capabilities; NULL: not read yet */
	json_t *disabled;              /* disabled engine versions; NULL: none */
	bool has_misfits;              /* the last pick found jobs for other workers */
	int picks;                     /* number of picks in this try */
	struct db_array misfit_needs, misfit_organizations; /* Excluded from this claim's next picks. */
	struct picked_job picked[MAX_CLAIMED];
	size_t count;
	struct picked_job failed[MAX_CLAIMED]; /* picked jobs whose runs do not start */
	size_t failed_count;
	struct rows details;
};

static void picked_release(struct claiming *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->picked[i].token);
		free(c->picked[i].run_token);
		rescue_grant_release(&c->picked[i].rescue);
		c->picked[i] = (struct picked_job){.why = NULL};
	}
	for (size_t i = 0; i < c->failed_count; i++)
		free(c->failed[i].refusal);
	c->count = c->failed_count = 0;
}

/* Returns the error for a run that needs an engine which no worker of the pool has. The caller frees it. */
static char *refusal_make(const char *needs, const json_t *own, const json_t *others)
{
	_cleanup_(buf_release) struct buf sentence = BUF_INIT(RESULT_ERROR_SIZE);
	json_auto_t *engines = json_copy((json_t *)own);
	json_t *other;
	size_t i;

	json_array_foreach((json_t *)others, i, other) json_array_extend(engines, other);
	capabilities_refusal(needs, "no worker of its pool has", engines, &sentence);
	return buf_take(&sentence);
}

/* The capabilities that the pool's other workers may use for the job. */
static json_t *others_allowed(const struct claiming *c, const struct claim_pick_row *row)
{
	json_t *allowed = json_array(), *other;
	size_t i;

	json_array_foreach(c->others, i, other)
	{
		if (!capabilities_refuse(other, row->kind))
			json_array_append_new(allowed, capabilities_allowed(other, row->needs, c->disabled));
	}
	return allowed;
}

/* Decides whether this worker can run the job. Reads the other workers' capabilities only if it cannot. */
static int claim_judge(struct claiming *c, const struct claim_pick_row *row, struct picked_job *job,
	enum job_fit *ret_fit, struct err *err)
{
	const char *needs = row->needs;
	json_auto_t *own = capabilities_allowed(c->capabilities, needs, c->disabled), *others = NULL;

	*ret_fit = JOB_FITS;
	if (capabilities_meet(own, needs, &job->engine))
		return 0;
	if (!c->others && workers_capabilities(c->store, c->pool, c->worker, &c->others, err) < 0)
		return -1;
	others = others_allowed(c, row);
	*ret_fit = capabilities_judge(own, others, needs, &job->engine);
	if (*ret_fit == JOB_REFUSED)
		job->refusal = refusal_make(needs, own, others);
	return 0;
}

static void misfit_add(struct claiming *c, const struct claim_pick_row *row)
{
	c->has_misfits = true;
	db_array_add(&c->misfit_needs, row->needs);
	if (c->picks >= MAX_PICKS_BY_NEEDS)
		db_array_add(&c->misfit_organizations, row->organization_id);
}

/* The rows are in the order of the queue: the first whose variables do not fit ends the pick. */
static int claim_take(struct claiming *c, const struct claim_pick_row *row, struct err *err)
{
	struct picked_job job = {.attempt = (int)row->attempt, .applies = row->class == CLASS_APPLY};
	enum job_fit fit;

	text_copy(job.job.text, ID_SIZE, row->id);
	text_copy(job.run.text, ID_SIZE, row->run_id);
	text_copy(job.organization.text, ID_SIZE, row->organization_id);
	if (claim_judge(c, row, &job, &fit, err) < 0)
		return -1;
	if (fit == JOB_REFUSED) {
		c->failed[c->failed_count++] = job;
	} else if (fit == JOB_WAITS) {
		misfit_add(c, row);
	} else if (c->bytes + row->bytes > ANSWER_LIMIT && c->bytes) {
		c->full = true;
	} else {
		c->bytes += row->bytes;
		c->picked[c->count++] = job;
	}
	return 0;
}

static int claim_pick_once(struct claiming *c, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(db_bytes_release) struct db_bytes keys = DB_BYTES_INIT;
	const struct claim_pick_row *first;

	keys_numbers(c->store, &keys);
	if (db_query(c->store->db, &rows, err, claim_pick, .pool = c->pool, .slots = c->slots, .worker = c->worker,
		    .left_out = &c->left_out, .misfit_needs = &c->misfit_needs,
		    .misfit_organizations = &c->misfit_organizations, .keys = &keys,
		    .lease_seconds = c->store->settings->lease_seconds) < 0)
		return -1;
	first = row_of(claim_pick, &rows, 0);
	if (!first->known)
		return err_set(err, ERR_NOT_FOUND, "worker not found");
	json_decref(c->disabled);
	c->disabled = json_shown(first->disabled);
	c->limited = first->limited;
	for (int i = 0; i < rows.count && first->id && !c->full; i++)
		if (claim_take(c, row_of(claim_pick, &rows, i), err) < 0)
			return -1;
	c->more = first->candidates > (long long)c->count;
	c->locked = c->more && !c->full && !c->has_misfits && !c->failed_count && (int)c->count < c->slots;
	return 0;
}

/* Repeats the pick, excluding the needs of jobs that are left to other workers, until this worker can run all picked
 * jobs. */
static int claim_pick(struct claiming *c, struct err *err)
{
	c->picks = 0;
	do {
		picked_release(c);
		c->bytes = c->bytes_before;
		c->full = c->has_misfits = false;
		if (claim_pick_once(c, err) < 0)
			return -1;
	} while (c->has_misfits && ++c->picks < MAX_PICKS);
	return 0;
}

static bool room_is_of(const struct quotas_lock_read_row *row, const struct picked_job *job)
{
	return !row->organization_id || text_equal(row->organization_id, job->organization.text);
}

/* Takes a place in each room of the job: its organization's and the pool's. Returns false if one is full. */
static bool rooms_take(const struct rows *rooms, const struct picked_job *job, long long *left)
{
	bool fits = true;

	for (int i = 0; i < rooms->count; i++)
		fits = fits && (left[i] > 0 || !room_is_of(row_of(quotas_lock_read, rooms, i), job));
	for (int i = 0; fits && i < rooms->count; i++)
		left[i] -= room_is_of(row_of(quotas_lock_read, rooms, i), job);
	return fits;
}

static bool room_is_full(const struct rows *rooms, const struct picked_job *job, const long long *left)
{
	for (int i = 0; i < rooms->count; i++)
		if (left[i] == 0 && room_is_of(row_of(quotas_lock_read, rooms, i), job))
			return true;
	return false;
}

/* Drops the jobs that exceed a quota: of two claims that count at the same time, the second one waits for the first. */
static int claim_fit_quotas(struct claiming *c, struct err *err)
{
	_cleanup_(db_array_release) struct db_array organizations = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rooms = ROWS_INIT;
	_cleanup_(freep) long long *left = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		db_array_add(&organizations, c->picked[i].organization.text);
	if (quotas_lock(c->store, c->pool, &organizations, &rooms, err) < 0)
		return -1;
	left = mem_new((size_t)rooms.count + 1, sizeof(*left));
	for (int i = 0; i < rooms.count; i++)
		left[i] = row_of(quotas_lock_read, &rooms, i)->room;
	for (size_t i = 0; i < c->count; i++)
		if (rooms_take(&rooms, &c->picked[i], left))
			c->picked[kept++] = c->picked[i];
	c->count = kept;
	for (size_t i = 0; i < c->count; i++)
		c->picked[i].fills_quota = room_is_full(&rooms, &c->picked[i], left);
	return 0;
}

/* Moves the jobs whose runs do not start to `failed`, so that they do not stop the others. */
static void claim_keep_started(struct claiming *c, const struct run_transition *started)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct picked_job picked = c->picked[i];

		if (started[i].outcome == TRANSITION_APPLIED) {
			c->picked[kept++] = picked;
			continue;
		}
		picked.why = started[i].outcome == TRANSITION_NO_RUN ? "its rows are incomplete" : started[i].refused;
		c->failed[c->failed_count++] = picked;
	}
	for (size_t i = kept; i < c->count; i++)
		c->picked[i] = (struct picked_job){.why = NULL};
	c->count = kept;
}

static int claim_start_runs(struct claiming *c, struct err *err)
{
	struct run_transition started[MAX_CLAIMED] = {0};
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;

	for (size_t i = 0; i < c->count; i++)
		started[i] = (struct run_transition){.run = c->picked[i].run,
			.event = {.kind = EV_STARTED},
			.job = c->picked[i].job,
			.attempt = c->picked[i].attempt};
	if (transitions_apply_within(c->store, started, c->count, &kicked, err) < 0)
		return -1;
	claim_keep_started(c, started);
	return 0;
}

static void token_make(char **token, const char *prefix, char ret_hash[SHA256_HEX_SIZE])
{
	*token = crypto_token(prefix);
	crypto_sha256_hex(*token, strlen(*token), ret_hash);
}

static int claim_mark(struct claiming *c, struct err *err)
{
	json_auto_t *claims = json_array();

	for (size_t i = 0; i < c->count; i++) {
		char hash[SHA256_HEX_SIZE], run_hash[SHA256_HEX_SIZE];

		token_make(&c->picked[i].token, "job.", hash);
		token_make(&c->picked[i].run_token, RUN_TOKEN_PREFIX, run_hash);
		json_array_append_new(claims,
			json_pack("{ss ss ss ss ss}", "id", c->picked[i].job.text, "hash", hash, "run_hash", run_hash,
				"engine", text_or_empty(c->picked[i].engine.engine), "version",
				c->picked[i].engine.version));
	}
	_cleanup_(freep) char *text = json_text(claims);
	return db_queue(c->store->db, err, claim_mark, .claims = text, .worker = c->worker,
		.lease_seconds = c->store->settings->lease_seconds, .slots = c->slots,
		.deadline_seconds = c->deadline_seconds);
}

/* Gives each apply the right to write its rescue object. */
static int claim_rescues(struct claiming *c, struct err *err)
{
	json_auto_t *grants = json_array();

	for (size_t i = 0; i < c->count; i++) {
		struct picked_job *picked = &c->picked[i];

		if (!picked->applies || !c->store->settings->rescue)
			continue;
		rescue_grant_release(&picked->rescue);
		picked->rescue = rescue_grant_new();
		json_array_append_new(grants, rescue_grant_json(c->store, &picked->rescue, picked->job.text));
	}
	return rescues_insert(c->store, grants, err);
}

/* The rows arrive with the commit (db_ask). */
static int claim_details(struct claiming *c, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	for (size_t i = 0; i < c->count; i++)
		db_array_add(&ids, c->picked[i].job.text);
	rows_release(&c->details);
	return job_documents_ask(c->store, &ids, &c->details, err);
}

/* model: claim */
static int claim_run(void *data, struct err *err)
{
	struct claiming *c = data;

	if (claim_pick(c, err) < 0 || (c->limited && c->count && claim_fit_quotas(c, err) < 0))
		return -1;
	if (!c->count)
		return 0;
	if (claim_start_runs(c, err) < 0)
		return -1;
	if (!c->count)
		return 0;
	return claim_mark(c, err) < 0 || claim_rescues(c, err) < 0 ? -1 : claim_details(c, err);
}

/* ---- after the commit ---- */

static const struct picked_job *picked_of(const struct claiming *c, const char *job_id)
{
	size_t i = 0;

	while (i < c->count - 1 && !text_equal(c->picked[i].job.text, job_id))
		i++;
	return &c->picked[i];
}

/* Whether the job got its slot in time. A pool without a free slot for it is a question of capacity, not a fault, and
 * so is a quota that the job had to wait for: this job fills it again. */
static const char *start_word(double waited, const char *waited_free, bool fills_quota)
{
	if (waited <= PROMPT_SECONDS)
		return "result=\"prompt\"";
	return !fills_quota && waited_free && strtod(waited_free, NULL) > PROMPT_SECONDS ? "result=\"late\""
											 : "result=\"no_slot\"";
}

static void note_claim(const struct job_document_row *job, const struct picked_job *picked)
{
	double waited = strtod(job->waited, NULL);

	log_debug("job handed out", "run", job->run, "stage", job->stage, NULL);
	metric_addf(M_CLAIMED_JOBS, 1, "pool=\"%s\",stage=\"%s\"", job->pool, job->stage);
	if (job->assessment)
		return;
	metric_observef(M_CLAIM_WAIT, waited, "stage=\"%s\"", job->stage);
	if (job->attempt == 1)
		metric_add(M_JOB_STARTS, start_word(waited, job->waited_free, picked->fills_quota), 1);
}

/* Ends the run of a job that cannot be handed out (its snapshot was changed, say) with the reason, so that it does not
 * block other jobs. If the job's key changed between the pick and the lock, and this scheduler lacks the new key, the
 * job is handed out again when its lease ends. */
static void claim_unreadable(struct claiming *c, const struct job_document_row *job, const struct err *why)
{
	struct err err = ERR_INIT;
	struct run_transition item = {
		.event = {.kind = EV_ERRORED}, .reason = why->message, .attempt = (int)job->attempt};

	text_copy(item.run.text, ID_SIZE, job->run);
	text_copy(item.job.text, ID_SIZE, job->job);
	if (why->kind == ERR_INVALID)
		log_info("a run can't start", "run", item.run.text, "why", why->message, NULL);
	else
		log_error("a job can't be handed out", "run", item.run.text, "error", why->message, NULL);
	if (why->kind == ERR_UNAVAILABLE)
		return;
	if (runs_apply_transitions(c->store, &item, 1, &err) < 0)
		log_error("its run goes on to wait for its lease's end", "run", item.run.text, "error", err.message,
			NULL);
}

/* Ends the run of a job that does not start as errored and takes the job out of the queue, since every claim would pick
 * it again. If the run refuses even that event, it needs no job, and the job is deleted. If this version does not know
 * the run's state, the job stays for a scheduler of the other version. */
static void claim_withdraw(struct claiming *c, const struct picked_job *failed)
{
	_cleanup_(freep) char *reason = failed->refusal ? mem_text(failed->refusal)
							: mem_printf("The run could not be started: %s.", failed->why);
	struct run_transition item = {.run = failed->run,
		.job = failed->job,
		.attempt = failed->attempt,
		.event = {.kind = EV_ERRORED},
		.reason = reason};
	struct err err = ERR_INIT;

	if (failed->refusal)
		log_info("no worker of the pool can run a job: it is withdrawn", "run", failed->run.text, "job",
			failed->job.text, "why", failed->refusal, NULL);
	else
		log_error("a run does not start: its job is withdrawn", "run", failed->run.text, "job",
			failed->job.text, "error", failed->why, NULL);
	db_array_add(&c->left_out, failed->job.text);
	if (runs_apply_transitions(c->store, &item, 1, &err) == 0 &&
		(item.outcome == TRANSITION_REFUSED || item.outcome == TRANSITION_NO_RUN))
		db_query(c->store->db, NULL, &err, claim_withdraw, .job = failed->job.text, .attempt = failed->attempt);
	if (err.kind != ERR_NONE)
		log_error("a job can't be withdrawn", "run", failed->run.text, "job", failed->job.text, "error",
			err.message, NULL);
}

static void claim_documents(struct claiming *c, json_t *jobs)
{
	for (int i = 0; i < c->details.count; i++) {
		const struct job_document_row *row = row_of(job_document, &c->details, i);
		const struct picked_job *picked = picked_of(c, row->job);
		const struct job_tokens tokens = {.token = picked->token,
			.run_token = picked->run_token,
			.rescue = &picked->rescue,
			.credentials = json_has_text(c->capabilities, capability_identity),
			.provider_sets = json_has_text(c->capabilities, capability_provider_sets)};
		struct err err = ERR_INIT;
		json_t *job = job_document(c->store, row, &tokens, &err);

		if (!job) {
			claim_unreadable(c, row, &err);
			continue;
		}
		json_array_append_new(jobs, job);
		note_claim(row, picked);
	}
}

static int claim_once(struct claiming *c, json_t *jobs, struct err *err)
{
	int result;

	c->details = (struct rows)ROWS_INIT;
	c->locked = c->more = false;
	c->bytes_before = c->bytes;
	result = db_transaction(c->store->db, claim_run, c, err);
	if (result == 0 && c->count)
		claim_documents(c, jobs);
	for (size_t i = 0; result == 0 && i < c->failed_count; i++)
		claim_withdraw(c, &c->failed[i]);
	c->again = c->locked || c->failed_count > 0;
	rows_release(&c->details);
	picked_release(c);
	return result;
}

/* ---- inputs in the answer ---- */

static void contents_add(struct store *store, json_t *jobs)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	json_auto_t *contents = NULL;
	struct err err = ERR_INIT;
	json_t *job, *own;
	size_t i;

	json_array_foreach(jobs, i, job) db_array_add(&ids, json_string_at(job, "job"));
	if (artifacts_small(store, &ids, &contents, &err) < 0) {
		log_warn("contents left out of a claim: its worker asks for them", "why", err.message, NULL);
		return;
	}
	json_array_foreach(jobs, i, job)
	{
		own = json_object_get(contents, json_string_at(job, "job"));
		if (own)
			json_object_set(job, "contents", own);
	}
}

int jobs_claim(
	struct store *store, const struct claim_request *request, json_t **ret_jobs, bool *ret_more, struct err *err)
{
	const struct timespec moment = {.tv_nsec = 3000000};
	json_auto_t *jobs = json_array();
	struct claiming c = {.store = store,
		.pool = request->pool_id,
		.worker = request->worker_id,
		.deadline_seconds = hold_deadline_seconds(request->apply_seconds),
		.capabilities = request->capabilities,
		.left_out = DB_ARRAY_INIT,
		.misfit_needs = DB_ARRAY_INIT,
		.misfit_organizations = DB_ARRAY_INIT};
	int slots = request->slots < MAX_CLAIMED ? request->slots : MAX_CLAIMED;
	int tries = 0, result;

	do {
		if (c.locked)
			nanosleep(&moment, NULL); /* another transaction locks a job: it is short */
		c.slots = slots - (int)json_array_size(jobs);
		result = claim_once(&c, jobs, err);
		tries += c.locked;
	} while (result == 0 && c.again && tries < MAX_TRIES && c.left_out.count < MAX_CLAIMED);
	db_array_release(&c.left_out);
	db_array_release(&c.misfit_needs);
	db_array_release(&c.misfit_organizations);
	json_decref(c.others);
	json_decref(c.disabled);
	/* Jobs that an earlier try committed are this worker's. If the answer did not name them, they would stay idle
	 * until their leases end. */
	if (result < 0 && !json_array_size(jobs))
		return -1;
	if (result < 0) {
		log_warn("a claim ends early with the jobs that it has", "worker", c.worker, "error", err->message,
			NULL);
		*err = (struct err)ERR_INIT;
	}
	if (json_array_size(jobs))
		contents_add(store, jobs);
	metric_add(M_CLAIMS, json_array_size(jobs) ? "outcome=\"jobs\"" : "outcome=\"none\"", 1);
	*ret_jobs = json_incref(jobs);
	*ret_more = c.more;
	return 0;
}
