/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/test_beds.h"

#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/modules.sql.h"
#include "scheduler/store/registry/test_beds.sql.h"
#include "scheduler/store/workers/pools.h"

#define CONFIG "/data/attributes/test-config"

int test_bed_find(struct store *store, const char *module_id, struct id *ret_workspace, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, test_bed_find, .module_id = module_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the module has no tests");
	text_copy(ret_workspace->text, ID_SIZE, row_of(test_bed_find, &rows, 0)->workspace_id);
	return 0;
}

int test_bed_open(struct store *store, const char *module_id, struct id *ret_workspace, struct err *err)
{
	struct err missing = ERR_INIT;

	if (test_bed_find(store, module_id, ret_workspace, &missing) == 0)
		return 0;
	if (missing.kind != ERR_NOT_FOUND) {
		*err = missing;
		return -1;
	}
	if (db_query(store->db, NULL, err, test_bed_create, .id = id_new("ws").text, .module_id = module_id) < 0)
		return -1;
	return test_bed_find(store, module_id, ret_workspace, err);
}

/* ---- commits ---- */

json_t *test_bed_options(void)
{
	return json_pack("{ss s[] sb sn}", "test-directory", "tests", "filters", "verbose", false, "parallelism");
}

int test_bed_follow(struct store *store, const char *module_id, struct err *err)
{
	if (db_query(store->db, NULL, err, test_bed_disconnect, .module_id = module_id) < 0)
		return -1;
	return db_query(store->db, NULL, err, test_bed_connect, .module_id = module_id);
}

/* ---- test-config ---- */

static int commits_set(struct store *store, const struct registry_module_row *module, bool enabled, struct err *err)
{
	struct id bed;

	if (enabled && !module->has_branch)
		return err_at(err, CONFIG "/tests-enabled",
			"Tests enabled needs a module whose versions are published from a branch");
	if (test_bed_open(store, module->id, &bed, err) < 0 ||
		db_query(store->db, NULL, err, module_tests_enable, .module_id = module->id, .enabled = enabled) < 0)
		return -1;
	return test_bed_follow(store, module->id, err);
}

static int required_set(struct store *store, const char *module_id, bool required, struct err *err)
{
	struct id bed;

	if (test_bed_open(store, module_id, &bed, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, module_tests_require, .module_id = module_id, .required = required);
}

static int pool_set(struct store *store, const struct registry_module_row *module,
	const struct module_test_config *config, struct err *err)
{
	bool agent = text_equal(config->mode, "agent");
	struct id bed;

	if (test_bed_open(store, module->id, &bed, err) < 0)
		return -1;
	if (agent &&
		pool_use_check(store, config->pool_id,
			&(struct pool_use){.organization_id = module->organization_id, .workspace_id = bed.text},
			CONFIG "/agent-pool-id", err) < 0)
		return -1;
	return db_query(store->db, NULL, err, test_bed_set_pool, .module_id = module->id, .mode = config->mode,
		.pool_id = agent ? config->pool_id : NULL);
}

int module_test_config_set(
	struct store *store, const char *module_id, const struct module_test_config *config, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct registry_module_row *module;

	if (registry_module_read(store, module_id, &rows, err) < 0)
		return -1;
	module = row_of(registry_module, &rows, 0);
	if (config->has_enabled && commits_set(store, module, config->enabled, err) < 0)
		return -1;
	if (config->has_required && required_set(store, module->id, config->required, err) < 0)
		return -1;
	return config->mode ? pool_set(store, module, config, err) : 0;
}
