/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_NO_CODE_NO_CODE_H
#define SCHEDULER_STORE_REGISTRY_NO_CODE_NO_CODE_H

/*
 * No-code modules: private modules from which people make workspaces by a form, and these workspaces. The configuration
 * of such a workspace calls one version of the module, and is replaced by upgrades only.
 */

#include "common/json/json.h"
#include "scheduler/store/store.h"

/* The settings. Borrowed. */
struct no_code_settings {
	const char *module_id;   /* in the registry */
	const char *version_pin; /* NULL: the newest version */
	bool enabled;
	const json_t *options; /* [{id, variable-name, variable-type, options}] */
};

/* ERR_INVALID if the module is no-code already. */
int no_code_create(struct store *store, const char *organization_id, const struct no_code_settings *settings,
	struct id *ret_id, struct err *err);
/* The attribute no-code of a module: makes it a no-code module without options, or switches it on or off. */
int no_code_switch(
	struct store *store, const char *organization_id, const char *module_id, bool enabled, struct err *err);
/* The shape `no_code_read`. ERR_NOT_FOUND. */
int no_code_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Replaces the settings. ERR_INVALID if the module is no-code already. */
int no_code_update(struct store *store, const char *id, const struct no_code_settings *settings, struct err *err);
/* Its workspaces stay as they are. */
int no_code_delete(struct store *store, const char *id, struct err *err);

struct no_code_read_row;
/* Notes that the workspace's configuration calls the version that the module provisions now. */
int no_code_workspace_set(
	struct store *store, const char *workspace_id, const struct no_code_read_row *module, struct err *err);
/* Row no_code_workspace_find. No row: the workspace was not made from a no-code module. */
int no_code_workspace_find(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);
/* The names of the workspace's variables for terraform: rows no_code_keys. */
int no_code_keys(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);
struct variable;
/* Creates the workspace's variable, or replaces it. */
int no_code_variable_set(
	struct store *store, const char *workspace_id, const struct variable *variable, struct err *err);

#endif
