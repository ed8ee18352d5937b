/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/no_code/no_code.h"

#include "scheduler/store/registry/no_code/no_code.sql.h"
#include "scheduler/store/variables/variables.h"

/* *err is that of a statement which adds or changes a no-code module. */
static int taken(struct store *store, struct err *err)
{
	if (!text_equal(db_constraint(store->db), "no_code_modules_module"))
		return -1;
	*err = (struct err)ERR_INIT;
	return err_at(err, "/data/relationships/registry-module", "Registry module is a no-code module already");
}

int no_code_create(struct store *store, const char *organization_id, const struct no_code_settings *settings,
	struct id *ret_id, struct err *err)
{
	_cleanup_(freep) char *options = json_text(settings->options);
	struct id id = id_new("nocode");

	if (db_query(store->db, NULL, err, no_code_create, .id = id.text, .organization_id = organization_id,
		    .module_id = settings->module_id, .version_pin = settings->version_pin,
		    .enabled = settings->enabled, .options = options) < 0)
		return taken(store, err);
	*ret_id = id;
	return 0;
}

int no_code_switch(
	struct store *store, const char *organization_id, const char *module_id, bool enabled, struct err *err)
{
	return db_query(store->db, NULL, err, no_code_switch, .id = id_new("nocode").text,
		.organization_id = organization_id, .module_id = module_id, .enabled = enabled);
}

int no_code_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, no_code_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "no-code module not found");
}

int no_code_update(struct store *store, const char *id, const struct no_code_settings *settings, struct err *err)
{
	_cleanup_(freep) char *options = json_text(settings->options);

	if (db_query(store->db, NULL, err, no_code_update, .id = id, .module_id = settings->module_id,
		    .version_pin = settings->version_pin, .enabled = settings->enabled, .options = options) < 0)
		return taken(store, err);
	return 0;
}

int no_code_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, no_code_delete, .id = id);
}

int no_code_workspace_set(
	struct store *store, const char *workspace_id, const struct no_code_read_row *module, struct err *err)
{
	_cleanup_(freep) char *address =
		mem_printf("private/%s/%s/%s", module->organization_name, module->module_name, module->module_provider);

	return db_query(store->db, NULL, err, no_code_workspace_set, .workspace_id = workspace_id,
		.no_code_module_id = module->id, .module = address, .version = module->version);
}

int no_code_workspace_find(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, no_code_workspace_find, .workspace_id = workspace_id);
}

int no_code_keys(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, no_code_keys, .workspace_id = workspace_id);
}

int no_code_variable_set(
	struct store *store, const char *workspace_id, const struct variable *variable, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct variable_owner owner = {.id = workspace_id};
	struct id ignored;

	if (db_query(store->db, &rows, err, no_code_variable_find, .workspace_id = workspace_id, .key = variable->key,
		    .category = variable->category) < 0)
		return -1;
	if (!rows.count)
		return variable_create(store, &owner, variable, &ignored, err);
	return variable_update(store, &owner, row_of(no_code_variable_find, &rows, 0)->id, variable, err);
}
