/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/registry/version_tests.h"

#include "common/log.h"
#include "scheduler/runs/registry/version_tests.sql.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/registry/test_beds.h"
#include "scheduler/store/workspaces/configurations.h"

#define SOURCE "tfe-configuration-version"

struct testing {
	struct store *store;
	const char *version_id, *actor; /* NULL, NULL: a version that waits */
	struct id picked;               /* "": none */
	struct err refused;             /* why it can't have a test run */
};

/* Makes a configuration of the version's own content: the blob is the same one. */
static int run_start(struct testing *t, const struct version_to_test_row *version, struct err *err)
{
	_cleanup_(freep) char *message = mem_printf("Version %s", version->version);
	json_auto_t *options = test_bed_options();
	struct id bed, configuration;
	struct run_create_params params = {.workspace_id = bed.text,
		.configuration_version_id = configuration.text,
		.actor = t->actor,
		.message = message,
		.source = SOURCE,
		.plan_only = CHOICE_YES,
		.auto_apply = CHOICE_NO,
		.test = options};
	struct run_creation creation = {.order = &params};

	if (test_bed_open(t->store, version->module_id, &bed, err) < 0 ||
		configuration_create(t->store,
			&(struct configuration_order){bed.text, SOURCE, t->actor, .speculative = true}, &configuration,
			err) < 0 ||
		configuration_set_files(t->store, configuration.text, version->blob_id, err) < 0 ||
		run_creations_apply(t->store, &creation, 1, err) < 0)
		return -1;
	t->refused = creation.err;
	if (creation.err.kind != ERR_NONE)
		return 0;
	return db_query(t->store->db, NULL, err, version_test_begun, .id = version->id, .run_id = creation.run.text);
}

/* ---- versions that wait ---- */

static int refuse(struct testing *t, const char *why, struct err *err)
{
	log_warn("the tests of a module's version can't be started", "version", t->picked.text, "why", why, NULL);
	return db_query(t->store->db, NULL, err, version_test_refused, .id = t->picked.text, .why = why);
}

static int step_in(void *data, struct err *err)
{
	struct testing *t = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	t->picked.text[0] = '\0';
	if (db_query(t->store->db, &rows, err, version_test_pick) < 0)
		return -1;
	if (!rows.count)
		return 0;
	text_copy(t->picked.text, ID_SIZE, row_of(version_to_test, &rows, 0)->id);
	if (run_start(t, row_of(version_to_test, &rows, 0), err) < 0)
		return -1;
	return t->refused.kind == ERR_NONE ? 0 : refuse(t, t->refused.message, err);
}

int version_tests_step(struct store *store, bool *ret_more, struct err *err)
{
	struct testing t = {.store = store};
	struct err why = ERR_INIT;
	int result = db_transaction(store->db, step_in, &t, &why);

	*ret_more = t.picked.text[0] != '\0';
	if (result == 0)
		return 0;
	if (why.kind == ERR_UNAVAILABLE || !*ret_more) {
		*err = why;
		return -1;
	}
	return refuse(&t, why.message, err); /* It must not stop the others. */
}

/* ---- again ---- */

static int again_in(void *data, struct err *err)
{
	struct testing *t = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(t->store->db, &rows, err, version_test_failed, .id = t->version_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_CONFLICT, "the version has no tests that have failed");
	if (run_start(t, row_of(version_to_test, &rows, 0), err) < 0)
		return -1;
	if (t->refused.kind == ERR_NONE)
		return 0;
	*err = t->refused;
	text_copy(err->pointer, sizeof(err->pointer), "/data");
	return -1;
}

int version_test_again(struct store *store, const char *version_id, const char *actor, struct err *err)
{
	struct testing t = {.store = store, .version_id = version_id, .actor = text_or_null(actor)};

	return db_transaction(store->db, again_in, &t, err);
}
