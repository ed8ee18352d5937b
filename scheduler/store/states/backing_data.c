/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/backing_data.h"

#include "scheduler/store/states/backing_data.sql.h"

static const struct {
	const char *what, *there; /* the status of a version that has its content */
	const struct db_statement *lock, *set, *clear;
} kinds[] = {
	[BACKING_CONFIGURATION] = {"configuration version", "uploaded", &configuration_backing_lock_statement,
		&configuration_backing_set_statement, &configuration_backing_clear_statement},
	[BACKING_STATE] = {"state version", "finalized", &state_backing_lock_statement, &state_backing_set_statement,
		&state_backing_clear_statement},
};

static const char hidden[] = "backing_data_soft_deleted";

/* NULL stands for the status of a version that has its content. */
static const struct {
	const char *from, *to;
} changes[] = {
	[BACKING_SOFT_DELETE] = {NULL, hidden},
	[BACKING_RESTORE] = {hidden, NULL},
	[BACKING_DELETE] = {hidden, "backing_data_permanently_deleted"},
};

struct letting_go {
	struct store *store;
	enum backing backing;
	enum backing_change change;
	const char *id;
};

static int not_allowed(struct err *err, const char *what, const char *why)
{
	err_set(err, ERR_CONFLICT, "the backing data of the %s can't be changed because %s", what, why);
	text_copy(err->title, sizeof(err->title), "transition not allowed");
	return -1;
}

static int change_check(const struct letting_go *l, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *what = kinds[l->backing].what, *from = changes[l->change].from;
	const struct backing_row *row;

	if (db_query_one_of(l->store->db, &rows, err, kinds[l->backing].lock, configuration_backing_lock, .id = l->id) <
		0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "%s not found", what);
	row = row_of(backing, &rows, 0);
	if (!text_equal(row->status, from ? from : kinds[l->backing].there))
		return not_allowed(err, what, "of its status");
	return row->needed ? not_allowed(err, what, row->needed) : 0;
}

static int change_in(void *data, struct err *err)
{
	const struct letting_go *l = data;
	const char *to = changes[l->change].to;

	if (change_check(l, err) < 0 ||
		db_query_one_of(l->store->db, NULL, err, kinds[l->backing].set, configuration_backing_set, .id = l->id,
			.status = to ? to : kinds[l->backing].there) < 0)
		return -1;
	if (l->change != BACKING_DELETE)
		return 0;
	return db_query_one_of(
		l->store->db, NULL, err, kinds[l->backing].clear, configuration_backing_clear, .id = l->id);
}

int backing_data_change(
	struct store *store, enum backing backing, enum backing_change change, const char *id, struct err *err)
{
	struct letting_go l = {store, backing, change, id};

	return db_transaction(store->db, change_in, &l, err);
}
