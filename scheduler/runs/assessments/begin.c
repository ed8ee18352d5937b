/* SPDX-License-Identifier: MPL-2.0 */
#include "common/log.h"
#include "scheduler/runs/assessments/assessments.h"
#include "scheduler/runs/assessments/begin.sql.h"
#include "scheduler/runs/run_create.h"

/* Workspaces that are looked at per pool and sweep, in addition to those that the pool has room for. */
enum { MAX_LOOKS = 20, MAX_BEGUN = 100 };

static const struct refusal {
	const char *word;
	int seconds;
	const char *sentence;
} refusals[] = {
#define REFUSAL(word, seconds, sentence) {word, seconds, sentence},
#include "scheduler/runs/assessments/refusals.def"
#undef REFUSAL
};

static const struct refusal *refusal_find(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		if (text_equal(refusals[i].word, word))
			return &refusals[i];
	return &refusals[0];
}

const char *assessment_refusal_sentence(const char *word)
{
	return word ? refusal_find(word)->sentence : NULL;
}

/* Borrows the row's and the caller's texts. */
static struct run_create_params order_of(const struct assessment_look_row *look, const char *user)
{
	return (struct run_create_params){.workspace_id = look->workspace,
		.configuration_version_id = look->configuration,
		.actor = user,
		.message = "Health assessment",
		.source = "assessment",
		.trigger_reason = "assessment",
		.plan_only = CHOICE_YES,
		.auto_apply = CHOICE_NO,
		.assessment = true};
}

/* ---- many workspaces ---- */

struct beginning {
	struct store *store;
	const char *pool;
	long long room;
	struct rows looks;
	struct run_create_params orders[MAX_BEGUN];
	struct run_creation creations[MAX_BEGUN];
	size_t count;
	json_t *postponed; /* rows of assessments_postpone */
};

static void postpone(struct beginning *b, const char *workspace, double seconds)
{
	json_array_append_new(b->postponed, json_pack("{ss sf}", "id", workspace, "seconds", seconds));
}

static void look_at(struct beginning *b, const struct assessment_look_row *look)
{
	if (!look->enabled) {
		json_array_append_new(b->postponed, json_pack("{ss sn}", "id", look->workspace, "seconds"));
	} else if (look->refusal) {
		postpone(b, look->workspace, refusal_find(look->refusal)->seconds);
	} else if (look->wait > 0) {
		postpone(b, look->workspace, look->wait);
	} else if ((long long)b->count < b->room && b->count < MAX_BEGUN) {
		b->orders[b->count] = order_of(look, NULL);
		b->creations[b->count] = (struct run_creation){.order = &b->orders[b->count]};
		b->count++;
	}
}

/* Records the runs. A workspace that can't have one gets a result that says why. */
static int begun_note(struct beginning *b, const char *user, struct err *err)
{
	_cleanup_(db_array_release) struct db_array runs = DB_ARRAY_INIT;

	for (size_t i = 0; i < b->count; i++) {
		const struct run_creation *creation = &b->creations[i];

		if (creation->err.kind == ERR_NONE) {
			db_array_add(&runs, creation->run.text);
			log_debug("assessment begins", "workspace", creation->order->workspace_id, "run",
				creation->run.text, NULL);
		} else if (assessment_fail(b->store, creation->order->workspace_id, creation->err.message, err) < 0) {
			return -1;
		}
	}
	return runs.count ? db_query(b->store->db, NULL, err, assessments_insert, .runs = &runs, .user = user) : 0;
}

static int pool_begin(void *data, struct err *err)
{
	struct beginning *b = data;
	_cleanup_(rows_release) struct rows pool = ROWS_INIT;

	if (db_query(b->store->db, &pool, err, assessments_lock_pool, .pool = b->pool) < 0)
		return -1;
	if (!pool.count)
		return 0;
	if (db_query(b->store->db, &b->looks, err, assessments_look, .pool = b->pool,
		    .hours = b->store->settings->assessment_hours, .max = b->room + MAX_LOOKS) < 0)
		return -1;
	for (int i = 0; i < b->looks.count; i++)
		look_at(b, row_of(assessment_look, &b->looks, i));
	if (b->count &&
		(run_creations_apply(b->store, b->creations, b->count, err) < 0 || begun_note(b, NULL, err) < 0))
		return -1;
	if (!json_array_size(b->postponed))
		return 0;
	_cleanup_(freep) char *text = json_text(b->postponed);
	return db_query(b->store->db, NULL, err, assessments_postpone, .looks = text);
}

int assessments_begin(struct store *store, const char *pool_id, long long room, struct err *err)
{
	_cleanup_(freep) struct beginning *b = mem_new(1, sizeof(*b));
	int result;

	*b = (struct beginning){
		.store = store, .pool = pool_id, .room = room, .looks = ROWS_INIT, .postponed = json_array()};
	result = db_transaction(store->db, pool_begin, b, err);
	rows_release(&b->looks);
	json_decref(b->postponed);
	return result;
}

/* ---- one workspace ---- */

struct starting {
	struct store *store;
	const char *workspace_id, *user_id;
};

/* ERR_CONFLICT if the workspace can't be assessed now. */
static int look_check(const struct starting *s, const struct assessment_look_row *look, struct err *err)
{
	_cleanup_(rows_release) struct rows recent = ROWS_INIT;

	if (!look->enabled)
		return err_set(err, ERR_CONFLICT, "health assessments are not enabled in the workspace");
	if (look->refusal)
		return err_set(err, ERR_CONFLICT, "%s", assessment_refusal_sentence(look->refusal));
	if (db_query(s->store->db, &recent, err, assessment_recent, .workspace = s->workspace_id) < 0)
		return -1;
	if (!recent.count)
		return 0;
	return err_set(err, ERR_CONFLICT,
		row_of(assessment_recent, &recent, 0)->underway
			? "an assessment of the workspace is in progress"
			: "an assessment of the workspace began within the last minute: try again later");
}

static int start_run(void *data, struct err *err)
{
	const struct starting *s = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array runs = DB_ARRAY_INIT;
	const struct assessment_look_row *look;
	struct run_create_params order;
	struct id run;

	if (db_query(s->store->db, &rows, err, assessment_look, .workspace = s->workspace_id,
		    .hours = s->store->settings->assessment_hours) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	look = row_of(assessment_look, &rows, 0);
	if (look_check(s, look, err) < 0)
		return -1;
	order = order_of(look, s->user_id);
	if (run_create(s->store, &order, &run, err) < 0)
		return -1;
	db_array_add(&runs, run.text);
	return db_query(s->store->db, NULL, err, assessments_insert, .runs = &runs, .user = s->user_id);
}

int assessment_start(struct store *store, const char *workspace_id, const char *user_id, struct err *err)
{
	struct starting s = {store, workspace_id, user_id};

	return db_transaction(store->db, start_run, &s, err);
}
