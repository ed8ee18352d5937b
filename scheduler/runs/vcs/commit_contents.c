/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/commit_contents.h"

#include "common/log.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/registry/module_tags.h"
#include "scheduler/store/runs/run_events.h"
#include "scheduler/store/vcs/contents.sql.h"
#include "scheduler/store/vcs/events/commits.h"
#include "scheduler/store/vcs/contents.h"

static const char differs_text[] =
	"The files of this commit are not those of its first fetch: a submodule or a stored large file has changed.";

struct arrival {
	struct store *store;
	const struct stored_content *content; /* NULL: it failed */
	const char *content_id;
	const char *sentence;
};

/* Applies the event to the runs that wait. A run that waits in its workspace's queue goes on at its turn; it refuses
 * EV_PASSED. */
static int runs_step(const struct arrival *a, const struct rows *rows, enum run_event_kind event, struct err *err)
{
	_cleanup_(freep) struct run_transition *items = mem_new((size_t)rows->count, sizeof(*items));
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;

	for (int i = 0; i < rows->count; i++) {
		items[i] = (struct run_transition){.event = {.kind = event}, .of_content = true, .reason = a->sentence};
		text_copy(items[i].run.text, ID_SIZE, row_of(vcs_content_runs, rows, i)->id);
	}
	return rows->count ? transitions_apply_within(a->store, items, (size_t)rows->count, &kicked, err) : 0;
}

static int differences_note(const struct arrival *a, const struct rows *rows, struct err *err)
{
	log_warn("a commit's files differ from those of its first fetch", "content", a->content_id, NULL);
	for (int i = 0; i < rows->count; i++)
		if (run_event_describe(
			    a->store, row_of(vcs_content_runs, rows, i)->id, "content-changed", differs_text, err) < 0)
			return -1;
	return 0;
}

static int stored_in(void *data, struct err *err)
{
	const struct arrival *a = data;
	const struct stored_content *c = a->content;
	const struct vcs_content content = {
		.id = c->content_id, .blob_id = c->blob_id, .hash = c->hash, .size = c->size};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool known, differs;

	if (vcs_content_store(a->store, &content, &known, &differs, err) < 0)
		return -1;
	if (!known)
		return 0;
	if (vcs_policy_versions_end(a->store, a->content_id, NULL, err) < 0 ||
		module_content_end(a->store, a->content_id, NULL, err) < 0 ||
		vcs_content_runs(a->store, a->content_id, &rows, err) < 0)
		return -1;
	if (differs && differences_note(a, &rows, err) < 0)
		return -1;
	return runs_step(a, &rows, EV_PASSED, err);
}

static int failed_in(void *data, struct err *err)
{
	const struct arrival *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool known;

	if (vcs_content_fail(a->store, a->content_id, a->sentence, &known, err) < 0)
		return -1;
	if (!known)
		return 0;
	if (vcs_policy_versions_end(a->store, a->content_id, a->sentence, err) < 0 ||
		module_content_end(a->store, a->content_id, a->sentence, err) < 0 ||
		vcs_content_runs(a->store, a->content_id, &rows, err) < 0)
		return -1;
	return runs_step(a, &rows, EV_ERRORED, err);
}

int content_stored(struct store *store, const struct stored_content *content, struct err *err)
{
	struct arrival a = {.store = store, .content = content, .content_id = content->content_id};

	return db_transaction(store->db, stored_in, &a, err);
}

int content_failed(struct store *store, const char *content_id, const char *sentence, struct err *err)
{
	struct arrival a = {.store = store, .content_id = content_id, .sentence = sentence};

	return db_transaction(store->db, failed_in, &a, err);
}

struct abandoning {
	struct store *store;
	const char *connection_id, *sentence;
};

static int abandon_in(void *data, struct err *err)
{
	const struct abandoning *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (vcs_contents_of_connection(a->store, a->connection_id, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (content_failed(a->store, row_of(vcs_content_id, &rows, i)->id, a->sentence, err) < 0)
			return -1;
	return 0;
}

int connection_contents_failed(struct store *store, const char *connection_id, const char *sentence, struct err *err)
{
	struct abandoning a = {store, connection_id, sentence};

	return db_transaction(store->db, abandon_in, &a, err);
}
