/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/force.h"

#include "scheduler/runs/force.sql.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/runs/run_events.h"

struct forcing {
	struct store *store;
	const char *run_id, *actor;
};

static int not_allowed(struct err *err, enum err_kind kind, const char *why)
{
	err_set(err, kind, "%s", why);
	text_copy(err->title, sizeof(err->title), "transition not allowed");
	return -1;
}

static int place_lock(const struct forcing *f, struct rows *ret_place, struct err *err)
{
	if (db_query(f->store->db, ret_place, err, force_lock, .run_id = f->run_id) < 0)
		return -1;
	return ret_place->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

static int place_check(const struct forcing *f, const struct force_lock_row *place, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;

	if (db_query(f->store->db, &run, err, force_pending, .run_id = f->run_id) < 0)
		return -1;
	if (!run.count)
		return not_allowed(err, ERR_FORBIDDEN, "the run is not pending");
	if (place->held)
		return not_allowed(err, ERR_CONFLICT,
			"the workspace is held until the last state of a lost apply has arrived: force-unlock it "
			"first");
	if (!place->current_run_id)
		return not_allowed(err, ERR_FORBIDDEN, "the workspace is not locked by a run");
	if (place->locked)
		return not_allowed(err, ERR_CONFLICT, "the workspace is locked by a person, too: unlock it first");
	return 0;
}

static int discard_all(const struct forcing *f, struct run_transition *items, size_t count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;

	if (transitions_apply_within(f->store, items, count, &kicked, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (items[i].outcome != TRANSITION_APPLIED)
			return not_allowed(
				err, ERR_CONFLICT, "a run before it in the queue can't be discarded in its state");
	return run_event_add(f->store,
		&(struct run_event_row){.run_id = f->run_id, .action = "force-executed", .actor = f->actor}, err);
}

static int force_in(void *data, struct err *err)
{
	struct forcing *f = data;
	_cleanup_(rows_release) struct rows place = ROWS_INIT, before = ROWS_INIT;
	_cleanup_(freep) struct run_transition *items = NULL;

	if (place_lock(f, &place, err) < 0 || place_check(f, row_of(force_lock, &place, 0), err) < 0)
		return -1;
	if (db_query(f->store->db, &before, err, force_before, .run_id = f->run_id,
		    .current_run_id = row_of(force_lock, &place, 0)->current_run_id) < 0)
		return -1;
	items = mem_new((size_t)before.count, sizeof(*items));
	for (int i = 0; i < before.count; i++) {
		items[i] = (struct run_transition){.event = {.kind = EV_DISCARDED}, .actor = f->actor};
		text_copy(items[i].run.text, ID_SIZE, row_of(force_before, &before, i)->id);
	}
	return discard_all(f, items, (size_t)before.count, err);
}

int run_force(struct store *store, const char *run_id, const char *actor, struct err *err)
{
	struct forcing f = {.store = store, .run_id = run_id, .actor = actor};

	return db_transaction(store->db, force_in, &f, err);
}
