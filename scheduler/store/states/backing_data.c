/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/backing_data.h"

static const struct {
	const char *what, *there; /* the status of a version that has its content */
	const char *find;         /* reads its status, and why its content is needed */
	const char *set;
	const char *let_go; /* deletes the references; unreferenced blobs are swept */
} kinds[] = {
	[BACKING_CONFIGURATION] = {"configuration version", "uploaded",
		"select c.status, case when exists (select 1 from workspaces w where "
		"w.current_configuration_id = c.id) then 'it is current' when exists (select 1 from "
		"configuration_commits k where k.configuration_version_id = c.id) then 'it came from a repository' "
		"when exists (select 1 from run_inputs i "
		"join runs r on r.id = i.run_id where i.configuration_version_id = c.id and not r.ended) "
		"then 'a run needs it' end as needed from configuration_versions c where c.id = $1 for update",
		"update configuration_versions set status = $2, hidden_at = now() where id = $1",
		"update configuration_versions set blob_id = null where id = $1"},
	[BACKING_STATE] = {"state version", "finalized",
		"select s.status, case when exists (select 1 from workspaces w where w.current_state_id = s.id) "
		"then 'it is current' end as needed from state_versions s where s.id = $1 for update",
		"update state_versions set status = case when was_detached and $2 = 'finalized' then 'detached' else "
		"$2 "
		"end, hidden_at = now() where id = $1",
		"with gone as (delete from state_version_outputs where state_version_id = $1) "
		"update state_versions set blob_id = null, json_blob_id = null where id = $1"},
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

	if (db_query_sql(l->store->db, &rows, err, kinds[l->backing].find, P_TEXT(l->id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "%s not found", what);
	if (!text_equal(row_text(&rows, 0, "status"), from ? from : kinds[l->backing].there))
		return not_allowed(err, what, "of its status");
	return row_null(&rows, 0, "needed") ? 0 : not_allowed(err, what, row_text(&rows, 0, "needed"));
}

static int change_in(void *data, struct err *err)
{
	const struct letting_go *l = data;
	const char *to = changes[l->change].to;

	if (change_check(l, err) < 0 ||
		db_query_sql(l->store->db, NULL, err, kinds[l->backing].set, P_TEXT(l->id),
			P_TEXT(to ? to : kinds[l->backing].there)) < 0)
		return -1;
	return l->change == BACKING_DELETE
		? db_query_sql(l->store->db, NULL, err, kinds[l->backing].let_go, P_TEXT(l->id))
		: 0;
}

int backing_data_change(
	struct store *store, enum backing backing, enum backing_change change, const char *id, struct err *err)
{
	struct letting_go l = {store, backing, change, id};

	return db_transaction(store->db, change_in, &l, err);
}
