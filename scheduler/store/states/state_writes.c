/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_writes.h"

#include <string.h>

#include "common/metrics.h"
#include "scheduler/lifecycle/state_order.h"
#include "scheduler/metrics.h"
#include "scheduler/store/runs/run_events.h"
#include "scheduler/store/states/state_batch.h"
#include "scheduler/store/states/state_writes.sql.h"

struct acceptance {
	struct state_write *write;
	struct state_facts facts;
	struct err unfit; /* the content does not match its description */
	long long serial;
	const char *lineage;
	char md5[33];

	/* Results of a round. */
	bool decided, takes; /* takes: write its content */
	bool late;
	struct id workspace, fills; /* fills: the existing row for this content, or "" */
	struct id base;             /* the blob of a difference's base */
};

struct accepting {
	struct store *store;
	struct acceptance *all;
	size_t count;
	bool waiters; /* wait for locks on workspaces */
};

/* ---- order of states ---- */

/* Reasons to keep a worker's state as detached. */
static const char *const detached_reasons[] = {
	[STATE_OTHER_LINEAGE] = "it has another lineage than the workspace's state",
	[STATE_BEHIND] = "its serial is behind that of the workspace's state",
	[STATE_OVERTAKEN] = "the workspace's state was written by somebody else after the apply had begun",
	[STATE_MEETS_OTHERS] = "another apply is underway in the workspace, or somebody has locked it",
	[STATE_RESTORED] = "the database was restored after the apply had begun, and may lack newer states",
};

/* A worker's state is never rejected: if it can't become the current one, it is detached. A client gets an error. */
static void order_settle(struct acceptance *a, enum state_order order, const struct state_mark *there)
{
	struct state_write *write = a->write;

	a->takes = order != STATE_KNOWN;
	if (write->force || !a->takes || order == STATE_FOLLOWS)
		return;
	if (write->job_id) {
		write->detached_why = detached_reasons[order];
		return;
	}
	a->takes = false;
	if (order == STATE_OTHER_LINEAGE)
		err_set(&write->err, ERR_CONFLICT, "the state has another lineage than the workspace's (%s)",
			there->lineage);
	else
		err_set(&write->err, ERR_CONFLICT, "the state's serial %lld is behind the workspace's (%lld)",
			a->serial, there->serial);
}

static enum state_order order_find(
	const struct acceptance *a, const struct state_mark *there, const struct state_writes_read_row *row)
{
	const struct state_mark next = {a->serial, a->lineage, a->md5, a->write->job_id};
	struct state_since since;

	if (!a->late)
		return there ? state_order(there, &next) : STATE_FOLLOWS;
	if (row->came)
		return STATE_KNOWN;
	since = (struct state_since){
		.overtaken = row->overtaken, .others_work = row->others_work, .restored = row->restored};
	return state_order_late(there, &next, &since);
}

static bool is_difference(const struct acceptance *a)
{
	return a->write->difference.base;
}

/* A difference is accepted only if the attempt is current, the current state is the job's own, and its base is the
 * named one. Otherwise the worker must send the whole state. */
static void difference_settle(
	struct acceptance *a, const struct state_mark *there, const struct state_writes_read_row *row)
{
	struct state_write *write = a->write;
	bool fits = there && !a->late && text_equal(there->job, write->job_id) &&
		text_equal(row->base_digest, write->difference.base) && there->serial <= a->serial;

	if (!fits) {
		err_set(&write->err, ERR_CONFLICT, "the difference has another base: send the whole state");
		return;
	}
	a->takes = true;
	text_copy(a->fills.text, ID_SIZE, row->id);
	text_copy(a->base.text, ID_SIZE, row->base_id);
	write->id = a->fills;
}

/* A pending row is filled by its id. A job's row is found by the job: one regular row, one detached. */
static const char *row_to_fill(const struct acceptance *a, const struct state_writes_read_row *row)
{
	if (row->pending)
		return row->pending;
	return text_or_empty(a->write->detached_why ? row->own_detached : row->own);
}

/* A client writes state only while it holds the workspace's lock: otherwise the lock's holder could overwrite its
 * state. The rows are read under the workspace's row lock, so the result is valid until the commit. */
static bool write_refused(const struct acceptance *a, const struct state_writes_read_row *row, struct err *err)
{
	if (a->write->job_id)
		return false;
	if (!row->locked_by_creator)
		err_set(err, ERR_CONFLICT, "the workspace must be locked by you to write its state");
	else if (a->write->pending_id && !row->pending)
		err_set(err, ERR_CONFLICT, "the state version is not pending: its content can't be uploaded any more");
	return err->kind != ERR_NONE;
}

static void write_decide(struct acceptance *a, const struct state_writes_read_row *row)
{
	bool has_state = row->id;
	struct state_mark there = {.serial = 0};

	a->decided = true;
	a->write->err = a->unfit;
	text_copy(a->write->run.text, ID_SIZE, text_or_empty(row->run_id));
	if (a->write->err.kind != ERR_NONE || write_refused(a, row, &a->write->err))
		return;
	if (has_state)
		there = (struct state_mark){row->serial, row->lineage, row->md5, row->job_id};
	a->late = row->late;
	if (is_difference(a)) {
		difference_settle(a, has_state ? &there : NULL, row);
		return;
	}
	/* A whole state replaces a base, even one with the same content. */
	if (has_state && row->base_id && !a->write->base)
		there.md5 = "";
	order_settle(a, order_find(a, has_state ? &there : NULL, row), &there);
	text_copy(a->fills.text, ID_SIZE, row_to_fill(a, row));
	if (a->takes)
		a->write->id = a->fills.text[0] ? a->fills : id_new("sv");
	else
		text_copy(a->write->id.text, ID_SIZE, text_or_empty(row->id));
}

/* ---- the rows ---- */

static int places_lock(const struct accepting *g, struct db_array *jobs, struct db_array *workspaces,
	struct rows *ret_rows, struct err *err)
{
	return db_ask_one_of(g->store->db, ret_rows, err,
		g->waiters ? &state_writes_lock_statement : &state_writes_lock_ready_statement, state_writes_lock,
		.jobs = jobs, .workspaces = workspaces);
}

/* For writes that are not decided yet: the workspaces that are locked now, and a row for each write with a valid token
 * or workspace. `n` is the write's index. */
static int rows_read(const struct accepting *g, struct rows *ret_places, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array jobs = DB_ARRAY_INIT, hashes = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array workspaces = DB_ARRAY_INIT, pending = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array serials = DB_ARRAY_INIT, digests = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array creators = DB_ARRAY_INIT, lineages = DB_ARRAY_INIT;

	for (size_t i = 0; i < g->count; i++) {
		const struct acceptance *a = &g->all[i];
		const struct state_write *write = a->write;

		db_array_add(&jobs, a->decided ? NULL : write->job_id);
		db_array_add(&hashes, write->token_hash);
		db_array_add(&workspaces, a->decided || write->job_id ? NULL : write->workspace_id);
		db_array_add(&pending, write->pending_id);
		db_array_add_int(&serials, a->serial);
		db_array_add(&lineages, a->lineage);
		db_array_add(&digests, a->md5);
		db_array_add(&creators, write->created_by);
	}
	if (places_lock(g, &jobs, &workspaces, ret_places, err) < 0)
		return -1;
	return db_query(g->store->db, ret_rows, err, state_writes_read, .jobs = &jobs, .hashes = &hashes,
		.workspaces = &workspaces, .pending = &pending, .serials = &serials, .lineages = &lineages,
		.digests = &digests, .creators = &creators);
}

static bool has_place(const struct rows *places, const char *workspace)
{
	for (int i = 0; i < places->count; i++)
		if (text_equal(row_of(state_writes_place, places, i)->id, workspace))
			return true;
	return false;
}

/* ---- writing ---- */

/* Written once per apply: a later state replaces the row without an event. */
static int detached_note(const struct accepting *g, const struct acceptance *a, struct err *err)
{
	_cleanup_(freep) char *text = mem_printf("A state of the apply was stored as a detached state (%s): %s.",
		a->write->id.text, a->write->detached_why);

	return run_event_describe(g->store, a->write->run.text, "state-detached", text, err);
}

static int difference_take(
	const struct accepting *g, const struct acceptance *a, struct state_batch *batch, struct err *err)
{
	const struct state_write *write = a->write;

	return state_difference_add(&batch->bases, g->store,
		&(struct state_difference_row){.state_id = a->fills.text,
			.blob_id = a->base.text,
			.serial = a->serial,
			.size = write->difference.size,
			.frame = {write->bytes, write->len}},
		err);
}

static int whole_take(const struct accepting *g, const struct acceptance *a, struct state_batch *batch, struct err *err)
{
	const struct state_write *write = a->write;
	const struct state_row row = {.id = write->id.text,
		.fills = a->fills.text[0],
		.serial = a->serial,
		.lineage = a->lineage,
		.md5 = a->md5,
		.status = write->detached_why ? "detached" : "finalized",
		.intermediate = write->job_id && !a->late,
		.recovered = a->late,
		.rollback_id = write->rollback_id,
		.workspace_id = a->workspace.text,
		.run_id = write->job_id ? write->run.text : write->run_id,
		.job_id = write->job_id,
		.created_by = write->created_by,
		.current = !write->detached_why,
		.base = write->base && !write->detached_why && !a->late && write->len <= DIFFERENCE_STATE_MAX,
		.facts = &a->facts,
		.bytes = write->bytes,
		.len = write->len};

	if (state_add(batch, g->store, &row, err) < 0)
		return -1;
	return write->detached_why && !row.fills ? detached_note(g, a, err) : 0;
}

static int round_write(const struct accepting *g, struct acceptance *const *round, size_t count, struct err *err)
{
	struct state_batch batch;
	int result = 0;

	state_batch_init(&batch);
	for (size_t i = 0; i < count && result == 0; i++)
		if (round[i]->takes)
			result = (is_difference(round[i]) ? difference_take : whole_take)(g, round[i], &batch, err);
	if (result == 0)
		result = states_insert(&batch, g->store, err);
	state_batch_release(&batch);
	return result;
}

/* ---- accepting ---- */

static bool round_has(struct acceptance *const *round, size_t count, const char *workspace)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(round[i]->workspace.text, workspace))
			return true;
	return false;
}

/* Decides the first write of each workspace, and all writes without a workspace. Returns the number of writes in
 * `round`. */
static size_t round_decide(
	struct accepting *g, const struct rows *places, const struct rows *rows, struct acceptance **round)
{
	size_t taken = 0;
	int next = 0;

	for (size_t i = 0; i < g->count; i++) {
		struct acceptance *a = &g->all[i];
		const struct state_writes_read_row *row =
			next < rows->count ? row_of(state_writes_read, rows, next) : NULL;
		bool there = row && row->n == (long long)i;
		const char *workspace = there ? row->workspace_id : NULL;

		if (!a->decided && !there) {
			a->decided = true;
			err_set(&a->write->err, ERR_NOT_FOUND,
				a->write->job_id ? "this attempt is over, or the token is not its own"
						 : "workspace not found");
		} else if (there && !has_place(places, workspace)) {
			a->decided = a->write->left = true;
		} else if (there && !round_has(round, taken, workspace)) {
			text_copy(a->workspace.text, ID_SIZE, workspace);
			write_decide(a, row);
			round[taken++] = a;
		}
		next += there;
	}
	return taken;
}

/* Discards the results of an earlier try of the transaction. */
static void acceptance_reset(struct acceptance *a)
{
	struct state_write *write = a->write;

	a->decided = a->takes = a->late = false;
	a->workspace = a->fills = a->base = write->id = write->run = (struct id){""};
	write->err = (struct err)ERR_INIT;
	write->left = false;
	write->detached_why = NULL;
}

/* model: state */
static int accept_in(void *data, struct err *err)
{
	struct accepting *g = data;
	_cleanup_(freep) struct acceptance **round = mem_new(g->count, sizeof(struct acceptance *));
	size_t open = 1;

	for (size_t i = 0; i < g->count; i++)
		acceptance_reset(&g->all[i]);
	while (open) {
		_cleanup_(rows_release) struct rows places = ROWS_INIT, rows = ROWS_INIT;

		if (rows_read(g, &places, &rows, err) < 0 ||
			round_write(g, round, round_decide(g, &places, &rows, round), err) < 0)
			return -1;
		open = 0;
		for (size_t i = 0; i < g->count; i++)
			open += !g->all[i].decided;
	}
	return 0;
}

static int label_apply(struct acceptance *a, struct err *err)
{
	const struct state_label *label = a->write->label;

	a->serial = label ? label->serial : a->facts.serial;
	a->lineage = label && label->lineage ? label->lineage : a->facts.lineage;
	crypto_md5_hex(a->write->bytes, a->write->len, a->md5);
	if (label && label->md5 && strcasecmp(label->md5, a->md5) != 0)
		return err_at(err, "/data/attributes/md5", "Md5 is not that of the state's content");
	return 0;
}

/* The difference is not applied here. Until the next whole state arrives, the worker's values are trusted. */
static void difference_begin(struct acceptance *a)
{
	const struct state_write *write = a->write;

	a->serial = write->difference.serial;
	if (write->difference.size < 1 ||
		difference_size((struct bytes){write->bytes, write->len}) != write->difference.size)
		err_set(&a->unfit, ERR_INVALID,
			"this is no difference of states, or its 'serial' and 'size' are not those of one");
}

static void acceptance_begin(struct acceptance *a, struct state_write *write)
{
	a->write = write;
	if (is_difference(a))
		difference_begin(a);
	else if (state_parse(write->bytes, write->len, &a->facts, &a->unfit) == 0)
		label_apply(a, &a->unfit);
	write->serial = a->serial;
}

static void note_write(const struct state_write *write, bool failed)
{
	if (write->left && !failed)
		return;
	metric_add(M_STATE_WRITES,
		failed                                ? "result=\"failed\""
			: write->err.kind != ERR_NONE ? "result=\"refused\""
			: write->detached_why         ? "result=\"detached\""
						      : "result=\"current\"",
		1);
}

static int accept(struct store *store, struct state_write *const *writes, size_t count, bool waiters, struct err *err)
{
	_cleanup_(freep) struct acceptance *all = mem_new(count, sizeof(*all));
	struct accepting accepting = {store, all, count, waiters};
	int result;

	for (size_t i = 0; i < count; i++)
		acceptance_begin(&all[i], writes[i]);
	result = count ? db_transaction(store->db, accept_in, &accepting, err) : 0;
	for (size_t i = 0; i < count; i++) {
		state_facts_release(&all[i].facts);
		note_write(writes[i], result < 0);
	}
	return result;
}

int states_accept(struct store *store, struct state_write *const *writes, size_t count, struct err *err)
{
	return accept(store, writes, count, true, err);
}

int states_accept_ready(struct store *store, struct state_write *const *writes, size_t count, struct err *err)
{
	return accept(store, writes, count, false, err);
}

int state_accept(struct store *store, struct state_write *write, struct err *err)
{
	if (states_accept(store, &write, 1, err) < 0)
		return -1;
	*err = write->err;
	return err->kind == ERR_NONE ? 0 : -1;
}

/* ---- announcing ---- */

struct announcement {
	struct store *store;
	struct state_write *write;
	struct id id;
};

/* Rejects a state before its upload if it can't be accepted, so that the client receives an error message. */
static int announce_check(const struct announcement *a, struct err *err)
{
	const struct state_label *label = a->write->label;
	struct acceptance check = {
		.write = a->write, .serial = label->serial, .lineage = text_or_empty(label->lineage)};
	struct accepting accepting = {a->store, &check, 1, true};
	_cleanup_(rows_release) struct rows places = ROWS_INIT, rows = ROWS_INIT;
	struct acceptance *round[1];

	acceptance_reset(&check);
	text_copy(check.md5, sizeof(check.md5), label->md5);
	if (rows_read(&accepting, &places, &rows, err) < 0)
		return -1;
	round_decide(&accepting, &places, &rows, round);
	*err = a->write->err;
	return err->kind == ERR_NONE ? 0 : -1;
}

static int announce_in(void *data, struct err *err)
{
	struct announcement *a = data;
	const struct state_write *write = a->write;

	a->id = id_new("sv");
	if (announce_check(a, err) < 0 ||
		db_query(a->store->db, NULL, err, state_pending_discard, .workspace_id = write->workspace_id) < 0)
		return -1;
	return db_query(a->store->db, NULL, err, state_pending_insert, .id = a->id.text,
		.workspace_id = write->workspace_id, .run_id = write->run_id, .serial = write->label->serial,
		.lineage = text_or_empty(write->label->lineage), .md5 = write->label->md5,
		.created_by = write->created_by);
}

int state_announce(struct store *store, struct state_write *write, struct id *ret_id, struct err *err)
{
	struct announcement a = {.store = store, .write = write};

	if (db_transaction(store->db, announce_in, &a, err) < 0)
		return -1;
	*ret_id = a.id;
	return 0;
}
