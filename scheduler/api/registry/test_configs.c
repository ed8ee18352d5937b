/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <strings.h>

#include "scheduler/api/registry/registry.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/modules.sql.h"
#include "scheduler/store/registry/test_beds.h"

/* Which modules may be tested, and how: the attribute test-config of modules. */

#define CONFIG "/data/attributes/test-config"

int registry_tested_module(struct request *req, struct id *ret_module, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct registry_module_row *module;

	if (registry_module_in_path(req, &rows, err) < 0)
		return -1;
	module = row_of(registry_module, &rows, 0);
	/* Not one that another organization shares. */
	if (!text_equal(module->registry_name, REGISTRY_PRIVATE) ||
		strcasecmp(module->organization_name, param(req, "organization")) != 0)
		return err_set(err, ERR_NOT_FOUND, "registry module not found");
	text_copy(ret_module->text, sizeof(ret_module->text), module->id);
	return 0;
}

json_t *registry_test_config_shown(const struct registry_module_row *module)
{
	if (!text_equal(module->registry_name, REGISTRY_PRIVATE))
		return json_null();
	return json_pack("{sb sb ss so}", "tests-enabled", module->tests_enabled, "tests-required",
		module->tests_required, "agent-execution-mode", module->test_mode ? module->test_mode : "remote",
		"agent-pool-id", json_string_or_null(module->test_pool_id));
}

/* ---- changes ---- */

static int text_read(const json_t *sent, const char *name, const char **ret_text, struct err *err)
{
	const json_t *value = json_object_get(sent, name);

	*ret_text = json_string_value(value);
	return !value || json_is_null(value) || *ret_text ? 0 : err_at(err, CONFIG, "%s must be a string", name);
}

static int flag_read(const json_t *sent, const char *name, bool *ret_has, bool *ret_flag, struct err *err)
{
	const json_t *value = json_object_get(sent, name);
	char pointer[64];

	snprintf(pointer, sizeof(pointer), CONFIG "/%s", name);
	*ret_has = json_is_boolean(value);
	*ret_flag = json_is_true(value);
	return !value || json_is_null(value) || *ret_has ? 0 : err_at(err, pointer, "%s must be true or false", name);
}

static int config_read(const json_t *sent, struct module_test_config *config, struct err *err)
{
	if (!json_is_object(sent))
		return err_at(err, CONFIG, "Test config must be an object");
	if (flag_read(sent, "tests-enabled", &config->has_enabled, &config->enabled, err) < 0 ||
		flag_read(sent, "tests-required", &config->has_required, &config->required, err) < 0 ||
		text_read(sent, "agent-execution-mode", &config->mode, err) < 0 ||
		text_read(sent, "agent-pool-id", &config->pool_id, err) < 0)
		return -1;
	if (config->pool_id && !config->mode)
		config->mode = "agent";
	if (config->mode && !text_equal(config->mode, "agent") && !text_equal(config->mode, "remote"))
		return err_at(err, CONFIG "/agent-execution-mode", "Agent execution mode must be remote or agent");
	if (!config->mode || text_equal(config->mode, "agent") == (config->pool_id != NULL))
		return 0;
	return err_at(err, CONFIG "/agent-pool-id",
		config->pool_id ? "Agent pool must not be given for tests that run remotely"
				: "Agent pool must be given for tests that run on agents");
}

int registry_test_config_take(const struct request *req, const char *module_id, struct err *err)
{
	const json_t *sent = json_at(req->body, "data.attributes.test-config");
	struct module_test_config config = {.mode = NULL};

	if (!sent || json_is_null(sent))
		return 0;
	if (config_read(sent, &config, err) < 0)
		return -1;
	return module_test_config_set(req->store, module_id, &config, err);
}
