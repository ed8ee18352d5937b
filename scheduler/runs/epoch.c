/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/epoch.h"

#include <string.h>

#include "common/log.h"
#include "common/metrics.h"
#include "proto/states.h"
#include "scheduler/lifecycle/history.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/epoch.sql.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/maintenance.h"

enum { MAX_FENCED = 100 };

/* ---- the fence ---- */

#define MAY_LACK "The database may have lost its last commits by a failover or a restore. "

static const char plan_reason[] = MAY_LACK "The attempt counts no more, and is tried again.";
static const char apply_reason[] = MAY_LACK
	"The start of this apply may be among them, and an apply that may have started is never started again. The "
	"workspace is held until the last state of the apply has arrived.";

static struct run_transition fenced(const struct epoch_attempts_row *job)
{
	bool apply = text_equal(job->stage, stages[STAGE_APPLY].name);
	struct run_transition item = {
		.attempt = (int)job->attempt, .fenced = true, .reason = apply ? apply_reason : plan_reason};

	text_copy(item.run.text, ID_SIZE, job->run_id);
	text_copy(item.job.text, ID_SIZE, job->id);
	/* Not EV_LOST: the plan did not cause the end of its worker. */
	item.event = (struct run_event){.kind = job->claimed ? EV_STOPPED : EV_ERRORED, .state_owed = true};
	return item;
}

/* Fences the next jobs in the order of their ids. *last is the id of the last one; "" after the end. */
static int some_fence(struct store *store, struct id *last, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_transition items[MAX_FENCED];

	if (db_query(store->db, &rows, err, epoch_attempts, .after = last->text, .limit = MAX_FENCED) < 0)
		return -1;
	last->text[0] = '\0';
	for (int i = 0; i < rows.count; i++) {
		const struct epoch_attempts_row *job = row_of(epoch_attempts, &rows, i);

		items[i] = fenced(job);
		*last = items[i].job;
		log_warn("an attempt is fenced", "run", items[i].run.text, "job", items[i].job.text, "stage",
			job->stage, NULL);
	}
	return rows.count ? runs_apply_transitions(store, items, (size_t)rows.count, err) : 0;
}

/* model: epoch */
static int fence(struct store *store, struct err *err)
{
	struct id last = {""};

	do {
		if (some_fence(store, &last, err) < 0)
			return -1;
	} while (last.text[0]);
	metric_add(M_EPOCHS, "", 1);
	return db_query(store->db, NULL, err, epoch_advance);
}

static int begin_in(void *data, struct err *err)
{
	struct store *store = data;

	if (db_query(store->db, NULL, err, epoch_lock) < 0)
		return -1;
	return fence(store, err);
}

int epoch_begin(struct store *store, struct err *err)
{
	return db_transaction(store->db, begin_in, store, err);
}

/* ---- applies that the database does not know ---- */

static const char unknown_reason[] = MAY_LACK
	"A worker says that it applies this run: that is among the lost commits. The apply is not started again. The "
	"workspace is held until the last state of the apply has arrived.";

/* Ends the run, whatever its state in the remaining history. */
static int run_end(struct store *store, const char *run_id, const char *reason, struct err *err)
{
	static const enum run_event_kind ends[] = {EV_ERRORED, EV_DISCARDED};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct run_transition item = {.event = {.kind = ends[i], .state_owed = true}, .reason = reason};

		text_copy(item.run.text, ID_SIZE, run_id);
		if (runs_apply_transitions(store, &item, 1, err) < 0)
			return -1;
		if (item.outcome == TRANSITION_APPLIED)
			return 0;
	}
	return 0;
}

struct named_applies {
	struct store *store;
	const char *named, *token_hash;
};

/* model: hear */
static int hear_in(void *data, struct err *err)
{
	const struct named_applies *h = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(h->store->db, &rows, err, epoch_hold_unknown, .named = h->named, .token_hash = h->token_hash,
		    .reason = unknown_reason) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const char *run = row_of(epoch_hold_unknown, &rows, i)->run_id;

		log_warn("a worker applies a run that the database does not know of", "run", run, NULL);
		if (run_end(h->store, run, unknown_reason, err) < 0)
			return -1;
	}
	return 0;
}

int epoch_check_young(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err unasked = ERR_INIT;

	if (db_query(store->db, &rows, &unasked, epoch_young, .lease_seconds = store->settings->lease_seconds) < 0 ||
		!row_of(epoch_young, &rows, 0)->young)
		return 0;
	return err_set(err, ERR_UNAVAILABLE, "the database failed over, and the workers are being heard: ask again");
}

bool epoch_names_unknown(const struct worker_beat *beat, const json_t *answered)
{
	const json_t *item, *named;
	size_t i, k;

	json_array_foreach((json_t *)answered, i, item)
	{
		if (json_bool_at(item, "held", true))
			continue;
		json_array_foreach((json_t *)beat->jobs, k, named)
		{
			if (json_string_at(named, "apply-of") &&
				text_equal(json_string_at(named, "job"), json_string_at(item, "job")))
				return true;
		}
	}
	return false;
}

int epoch_hear_applies(struct store *store, const struct worker_beat *beat, struct err *err)
{
	_cleanup_(freep) char *named = json_text(beat->jobs);
	char hash[SHA256_HEX_SIZE];
	const struct named_applies h = {store, named, hash};

	crypto_sha256_hex(text_or_empty(beat->token), strlen(text_or_empty(beat->token)), hash);
	return db_transaction(store->db, hear_in, (void *)&h, err);
}

/* ---- a restore ---- */

static const char restored_reason[] = "The database was restored from a backup. The run may have been applied since "
				      "that backup, and is not continued.";

static const char restored_maintenance[] = "the database was restored from a backup: runs wait until it was compared";

static int restore_list(struct store *store, json_t *list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, restore_runs) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct restore_runs_row *run = row_of(restore_runs, &rows, i);

		json_array_append_new(list,
			json_pack("{ss ss ss ss ss sb}", "workspace", run->workspace_id, "name", run->name,
				"organization", run->organization, "run", run->id, "status", run->status, "ended",
				run->holds));
	}
	return 0;
}

static int restore_mark(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err, restore_mark, .history = db_history(store->db)) < 0)
		return -1;
	return db_query(store->db, NULL, err, restore_drop_notifiers);
}

struct restoring {
	struct store *store;
	json_t *list;
};

static int restore_in(void *data, struct err *err)
{
	struct restoring *r = data;
	json_t *run;
	size_t i;

	json_array_clear(r->list);
	/* Maintenance comes first: the end of a run would start the next one of its queue. */
	if (maintenance_set(r->store, restored_maintenance, err) < 0 ||
		db_query(r->store->db, NULL, err, epoch_lock) < 0 || restore_list(r->store, r->list, err) < 0 ||
		fence(r->store, err) < 0)
		return -1;
	json_array_foreach(r->list, i, run)
	{
		if (json_bool_at(run, "ended", false) &&
			run_end(r->store, json_string_at(run, "run"), restored_reason, err) < 0)
			return -1;
	}
	return restore_mark(r->store, err);
}

int epoch_restore(struct store *store, json_t **ret_list, struct err *err)
{
	struct restoring r = {store, json_array()};

	if (db_transaction(store->db, restore_in, &r, err) < 0) {
		json_decref(r.list);
		return -1;
	}
	*ret_list = r.list;
	return 0;
}

/* ---- a new history ---- */

static int settle_in(void *data, struct err *err)
{
	struct store *store = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct epoch_lock_history_row *known;
	const char *now;
	enum history_change change;

	if (db_query(store->db, &rows, err, epoch_lock_history) < 0)
		return -1;
	known = row_of(epoch_lock_history, &rows, 0);
	now = db_history(store->db);
	change = history_compare(
		known->history, now, store->settings->replication == REPLICATION_SYNC && known->durable);
	if (change == HISTORY_SAME)
		return 0;
	if (change == HISTORY_FIRST)
		log_info("the history of the database is noted", "history", now, NULL);
	else if (change == HISTORY_CONTINUED)
		log_warn("PostgreSQL failed over: no commit is lost", "before", known->history, "history", now, NULL);
	else
		log_warn("PostgreSQL failed over or was restored: commits may be lost, and older attempts are fenced",
			"before", known->history, "history", now, NULL);
	if (change == HISTORY_MAY_LACK && fence(store, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, epoch_history_set, .history = now);
}

int epoch_settle(const struct store *store, const char *database_url, struct err *err)
{
	struct store own = *store;
	int result;

	own.db = db_open_unguarded(database_url);
	result = db_transaction(own.db, settle_in, &own, err);
	if (result == 0)
		db_history_admit(db_history(own.db));
	db_close(own.db);
	return result;
}

/* ---- the declared replication ---- */

int replication_is_durable(struct store *store, bool *ret_durable, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, epoch_replication) < 0)
		return -1;
	*ret_durable = row_of(epoch_replication, &rows, 0)->durable;
	return 0;
}

int epoch_watch_replication(struct store *store, struct err *err)
{
	bool durable;

	if (store->settings->replication != REPLICATION_SYNC)
		return 0;
	if (replication_is_durable(store, &durable, err) < 0)
		return -1;
	metric_set(M_SYNCHRONOUS, "", durable);
	if (!durable)
		log_error("PostgreSQL's commits do not wait for a standby, against --database-replication sync: a "
			  "failover now would fence all attempts",
			NULL);
	return db_query(store->db, NULL, err, epoch_durable_set, .durable = durable);
}

int epoch_check_replication(struct store *store, struct err *err)
{
	bool durable;

	if (store->settings->replication != REPLICATION_SYNC)
		return 0;
	if (replication_is_durable(store, &durable, err) < 0)
		return -1;
	if (!durable)
		return err_set(err, ERR_INVALID,
			"--database-replication sync: PostgreSQL's commits do not wait for a standby. Set "
			"synchronous_standby_names, and synchronous_commit to 'on' or 'remote_apply'; or declare "
			"'async'");
	return db_query(store->db, NULL, err, epoch_durable_set, .durable = true);
}
