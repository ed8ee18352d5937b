/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/epoch.h"

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/dispatch/happen.h"
#include "scheduler/lifecycle/history.h"
#include "scheduler/metrics.h"
#include "proto/states.h"

enum { MOST_FENCED = 100 };

/* ---- the fence ---- */

#define MAY_LACK "The database may have lost its last commits by a failover or a restore. "

static const char plan_reason[] = MAY_LACK "The attempt counts no more, and is tried again.";
static const char apply_reason[] = MAY_LACK
	"The start of this apply may be among them, and an apply that may have started is never started again. The "
	"workspace is held until the last state of the apply has arrived.";

static struct happening fenced(const struct rows *rows, int row)
{
	bool apply = text_equal(row_text(rows, row, "stage"), stages[STAGE_APPLY].name);
	struct happening item = {.attempt = (int)row_int(rows, row, "attempt"),
		.fenced = true,
		.reason = apply ? apply_reason : plan_reason};

	text_copy(item.run.text, ID_SIZE, row_text(rows, row, "run_id"));
	text_copy(item.job.text, ID_SIZE, row_text(rows, row, "id"));
	/* Not EV_LOST: the plan is not what ended its worker. */
	item.event = (struct run_event){
		.kind = row_bool(rows, row, "claimed") ? EV_STOPPED : EV_ERRORED, .state_owed = true};
	return item;
}

/* The next of the jobs, in the order of their ids. *ret_last is the last one's; "" after the end. */
static int some_fence(struct store *store, struct id *last, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct happening items[MOST_FENCED];

	if (db_query(store->db, &rows, err,
		    "select id, run_id, attempt, stage, state = 'claimed' as claimed from jobs where id > $1 "
		    "and (state = 'claimed' or stage = 'apply') order by id limit $2",
		    P_TEXT(last->text), P_INT(MOST_FENCED)) < 0)
		return -1;
	last->text[0] = '\0';
	for (int i = 0; i < rows.count; i++) {
		items[i] = fenced(&rows, i);
		*last = items[i].job;
		log_warn("an attempt is fenced", "run", items[i].run.text, "job", items[i].job.text, "stage",
			row_text(&rows, i, "stage"), NULL);
	}
	return rows.count ? runs_happen(store, items, (size_t)rows.count, err) : 0;
}

static int fence(struct store *store, struct err *err)
{
	struct id last = {""};

	do {
		if (some_fence(store, &last, err) < 0)
			return -1;
	} while (last.text[0]);
	metric_add(M_EPOCHS, "", 1);
	return db_query(store->db, NULL, err, "update database_history set epoch = epoch + 1");
}

static int begin_in(void *data, struct err *err)
{
	struct store *store = data;

	if (db_query(store->db, NULL, err, "select 1 from database_history for update") < 0)
		return -1;
	return fence(store, err);
}

int epoch_begin(struct store *store, struct err *err)
{
	return db_transaction(store->db, begin_in, store, err);
}

/* ---- a new history ---- */

static int settle_in(void *data, struct err *err)
{
	struct store *store = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *known, *now;
	enum history_change change;

	if (db_query(store->db, &rows, err, "select history, durable from database_history for update") < 0)
		return -1;
	known = row_text(&rows, 0, "history");
	now = db_history(store->db);
	change = history_compare(known, now, store->replication == REPLICATION_SYNC && row_bool(&rows, 0, "durable"));
	if (change == HISTORY_SAME)
		return 0;
	if (change == HISTORY_FIRST)
		log_info("the history of the database is noted", "history", now, NULL);
	else if (change == HISTORY_CONTINUED)
		log_warn("PostgreSQL failed over: no commit is lost", "before", known, "history", now, NULL);
	else
		log_warn("PostgreSQL failed over or was restored: commits may be lost, and older attempts are fenced",
			"before", known, "history", now, NULL);
	if (change == HISTORY_MAY_LACK && fence(store, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, "update database_history set history = $1", P_TEXT(now));
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

/* ---- replication as it is declared ---- */

static int durable_now(struct store *store, bool *ret_durable, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select current_setting('synchronous_standby_names') <> '' and "
		    "current_setting('synchronous_commit') in ('on', 'remote_apply') as durable") < 0)
		return -1;
	*ret_durable = row_bool(&rows, 0, "durable");
	return 0;
}

int epoch_watch_replication(struct store *store, struct err *err)
{
	bool durable;

	if (store->replication != REPLICATION_SYNC)
		return 0;
	if (durable_now(store, &durable, err) < 0)
		return -1;
	metric_set(M_SYNCHRONOUS, "", durable);
	if (!durable)
		log_error("PostgreSQL's commits do not wait for a standby, against --database-replication sync: a "
			  "failover now would fence all attempts",
			NULL);
	return db_query(
		store->db, NULL, err, "update database_history set durable = $1 where durable <> $1", P_BOOL(durable));
}

int epoch_check_replication(struct store *store, struct err *err)
{
	bool durable;

	if (store->replication != REPLICATION_SYNC)
		return 0;
	if (durable_now(store, &durable, err) < 0)
		return -1;
	if (!durable)
		return err_set(err, ERR_INVALID,
			"--database-replication sync: PostgreSQL's commits do not wait for a standby. Set "
			"synchronous_standby_names, and synchronous_commit to 'on' or 'remote_apply'; or declare "
			"'async'");
	return db_query(store->db, NULL, err, "update database_history set durable = true where not durable");
}
