/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/rights/rights.h"

#include <stdio.h>

const struct permission_row permission_rows[PERMISSION_COUNT] = {
#define GATE(name, text)                   {#name, ANYWHERE, -1, text},
#define PERMISSION(name, bit, where, text) {#name, where, bit, text},
#include "scheduler/rights/permissions.def"
#undef GATE
#undef PERMISSION
};

rights right_of(enum permission permission)
{
	int bit = permission_rows[permission].bit;

	return bit < 0 ? 0 : (rights)1 << bit;
}

/* The same as right_of, for tables. */
#define R(name) ((rights)1 << BIT_##name)

/* ---- the rights of each attribute: TFE's permission model ---- */

#define SEE_WORKSPACE R(CAN_READ_WORKSPACE)
#define SEE_RUNS      (SEE_WORKSPACE | R(CAN_READ_RUNS) | R(CAN_DOWNLOAD_CONFIGURATION))
#define SEE_STATE     (R(CAN_READ_OUTPUTS) | R(CAN_READ_STATE))
#define READ_ALL      (SEE_RUNS | SEE_STATE | R(CAN_READ_VARIABLES))
#define USE_ALL                                                                                                        \
	(READ_ALL | R(CAN_QUEUE_RUN) | R(CAN_APPLY) | R(CAN_WRITE_VARIABLES) | R(CAN_WRITE_STATE) | R(CAN_LOCK) |      \
		R(CAN_READ_MOCKS))
#define ADMINISTER  (R(CAN_READ_PLAN_JSON) | R(CAN_ATTACH_TASKS) | R(CAN_MANAGE_WORKSPACE) | R(CAN_DELETE_WORKSPACE))
#define VARSETS     (R(CAN_READ_VARSETS) | R(CAN_WRITE_VARSETS))
#define ALL_VARSETS (VARSETS | R(CAN_MANAGE_ALL_WORKSPACES))
#define PROJECTS                                                                                                       \
	(R(CAN_READ_PROJECT) | R(CAN_MANAGE_PROJECT) | R(CAN_DELETE_PROJECT) | R(CAN_CREATE_WORKSPACE) |               \
		R(CAN_READ_PROJECT_TEAMS) | R(CAN_MANAGE_PROJECT_TEAMS) | VARSETS)

static const struct access_row of_organization[] = {
	{"manage-policies", NULL, R(CAN_MANAGE_POLICIES) | SEE_RUNS},
	{"manage-policy-overrides", NULL, R(CAN_OVERRIDE) | SEE_RUNS},
	{"delegate-policy-overrides", NULL,
		0}, /* gives nothing by itself: policy-overrides of a workspace or project does */
	{"manage-workspaces", NULL, USE_ALL | ADMINISTER | R(CAN_READ_PROJECT) | R(CAN_CREATE_WORKSPACE) | ALL_VARSETS},
	{"manage-vcs-settings", NULL, R(CAN_MANAGE_VCS)},
	{"manage-providers", NULL, R(CAN_MANAGE_PROVIDERS)},
	{"manage-modules", NULL, R(CAN_MANAGE_MODULES) | R(CAN_MANAGE_NO_CODE)},
	{"manage-run-tasks", NULL, R(CAN_MANAGE_TASKS)},
	{"manage-projects", NULL,
		R(CAN_CREATE_PROJECT) | PROJECTS | R(CAN_MANAGE_ALL_WORKSPACES) | USE_ALL | ADMINISTER |
			R(CAN_MOVE_WORKSPACE)},
	{"read-workspaces", NULL, READ_ALL | R(CAN_READ_PROJECT) | R(CAN_READ_VARSETS)},
	{"read-projects", NULL, READ_ALL | R(CAN_READ_PROJECT) | R(CAN_READ_PROJECT_TEAMS) | R(CAN_READ_VARSETS)},
	{"manage-membership", NULL, R(CAN_MANAGE_MEMBERSHIP)},
	{"manage-teams", NULL, R(CAN_MANAGE_TEAMS) | R(CAN_MANAGE_MEMBERSHIP)},
	{"manage-organization-access", NULL,
		R(CAN_MANAGE_ORGANIZATION_ACCESS) | R(CAN_MANAGE_TEAMS) | R(CAN_MANAGE_MEMBERSHIP)},
	{"access-secret-teams", NULL, R(CAN_SEE_SECRET_TEAMS)},
	{"manage-agent-pools", NULL, R(CAN_MANAGE_POOLS)},
};

/* The attributes of workspaces exist twice, under nearly the same names. */
#define OF_WORKSPACE(locking)                                                                                          \
	{"runs", "read", SEE_RUNS}, {"runs", "plan", SEE_RUNS | R(CAN_QUEUE_RUN)},                                     \
		{"runs", "apply", SEE_RUNS | R(CAN_QUEUE_RUN) | R(CAN_APPLY)}, {"variables", "none", 0},               \
		{"variables", "read", R(CAN_READ_VARIABLES)},                                                          \
		{"variables", "write", R(CAN_READ_VARIABLES) | R(CAN_WRITE_VARIABLES)}, {"state-versions", "none", 0}, \
		{"state-versions", "read-outputs", R(CAN_READ_OUTPUTS)}, {"state-versions", "read", SEE_STATE},        \
		{"state-versions", "write", SEE_STATE | R(CAN_WRITE_STATE)}, {"sentinel-mocks", "none", 0},            \
		{"sentinel-mocks", "read", R(CAN_READ_MOCKS)}, {locking, NULL, R(CAN_LOCK)},                           \
		{"run-tasks", NULL, R(CAN_ATTACH_TASKS)}, {"policy-overrides", NULL, R(CAN_OVERRIDE)},

static const struct access_row of_workspace[] = {OF_WORKSPACE("workspace-locking")};

static const struct access_row of_project[] = {
	{"settings", "read", R(CAN_READ_PROJECT)},
	{"settings", "update", R(CAN_READ_PROJECT) | R(CAN_MANAGE_PROJECT)},
	{"settings", "delete", R(CAN_READ_PROJECT) | R(CAN_MANAGE_PROJECT) | R(CAN_DELETE_PROJECT)},
	{"teams", "none", 0},
	{"teams", "read", R(CAN_READ_PROJECT_TEAMS)},
	{"teams", "manage", R(CAN_READ_PROJECT_TEAMS) | R(CAN_MANAGE_PROJECT_TEAMS)},
	{"variable-sets", "none", 0},
	{"variable-sets", "read", R(CAN_READ_VARSETS)},
	{"variable-sets", "write", VARSETS},
};

static const struct access_row of_project_workspaces[] = {
	OF_WORKSPACE("locking"){"create", NULL, R(CAN_CREATE_WORKSPACE)},
	{"move", NULL, R(CAN_MOVE_WORKSPACE)},
	{"delete", NULL, R(CAN_DELETE_WORKSPACE)},
};

/* ---- the attributes of each level ---- */

#define DETAIL(runs, variables, state, mocks, locking, flags, tasks)                                                   \
	"{\"runs\":\"" runs "\",\"variables\":\"" variables "\",\"state-versions\":\"" state                           \
	"\",\"sentinel-mocks\":\"" mocks "\",\"" locking "\":" flags ",\"run-tasks\":" tasks                           \
	",\"policy-overrides\":false"

static const struct access_level organization_levels[] = {
	{"custom",
		"{\"manage-policies\":false,\"manage-policy-overrides\":false,\"delegate-policy-overrides\":false,"
		"\"manage-workspaces\":false,\"manage-vcs-settings\":false,\"manage-providers\":false,"
		"\"manage-modules\":false,\"manage-run-tasks\":false,\"manage-projects\":false,"
		"\"read-workspaces\":false,\"read-projects\":false,\"manage-membership\":false,\"manage-teams\":false,"
		"\"manage-organization-access\":false,\"access-secret-teams\":false,\"manage-agent-pools\":false}",
		0},
};

static const struct access_level workspace_levels[] = {
	{"read", DETAIL("read", "read", "read", "none", "workspace-locking", "false", "false") "}", 0},
	{"plan", DETAIL("plan", "read", "read", "none", "workspace-locking", "false", "false") "}", 0},
	{"write", DETAIL("apply", "write", "write", "read", "workspace-locking", "true", "false") "}", 0},
	{"admin", DETAIL("apply", "write", "write", "read", "workspace-locking", "true", "true") "}", ADMINISTER},
	{"custom", DETAIL("read", "none", "none", "none", "workspace-locking", "false", "false") "}", 0},
};

#define PROJECT_DETAIL(settings, teams, varsets)                                                                       \
	"{\"settings\":\"" settings "\",\"teams\":\"" teams "\",\"variable-sets\":\"" varsets "\"}"

static const struct access_level project_levels[] = {
	{"read", PROJECT_DETAIL("read", "none", "read"), 0},
	{"write", PROJECT_DETAIL("read", "none", "read"), 0},
	{"maintain", PROJECT_DETAIL("read", "none", "write"), 0},
	{"admin", PROJECT_DETAIL("delete", "manage", "write"), 0},
	{"custom", PROJECT_DETAIL("read", "none", "none"), 0},
};

#define WITHIN(runs, variables, state, mocks, locking, tasks, create)                                                  \
	DETAIL(runs, variables, state, mocks, "locking", locking, tasks)                                               \
	",\"create\":" create ",\"move\":" create ",\"delete\":" create "}"

static const struct access_level project_workspace_levels[] = {
	{"read", WITHIN("read", "read", "read", "none", "false", "false", "false"), 0},
	{"write", WITHIN("apply", "write", "write", "read", "true", "false", "false"), 0},
	{"maintain", WITHIN("apply", "write", "write", "read", "true", "true", "true"), ADMINISTER},
	{"admin", WITHIN("apply", "write", "write", "read", "true", "true", "true"), ADMINISTER},
	{"custom", WITHIN("read", "none", "none", "none", "false", "false", "false"), 0},
};

#define TABLE(rows, levels)                                                                                            \
	{                                                                                                              \
		rows, ARRAY_LEN(rows), levels, ARRAY_LEN(levels)                                                       \
	}

const struct access_table organization_accesses = TABLE(of_organization, organization_levels);
const struct access_table workspace_accesses = TABLE(of_workspace, workspace_levels);
const struct access_table project_accesses = TABLE(of_project, project_levels);
const struct access_table project_workspace_accesses = TABLE(of_project_workspaces, project_workspace_levels);

const struct access_level *access_level_find(const struct access_table *table, const char *name)
{
	for (size_t i = 0; i < table->levels_count; i++)
		if (text_equal(table->levels[i].name, name))
			return &table->levels[i];
	return NULL;
}

/* ---- teams ---- */

const char *const team_kinds[TEAM_KIND_COUNT] = {
	[TEAM_OWNERS] = "owners",
	[TEAM_PLAIN] = "team",
	[TEAM_ORGANIZATION] = "organization",
	[TEAM_AUDIT] = "audit",
};

/* An organization's token manages objects. It starts no run and decides about none, nor about no-code modules. */
#define NOT_FOR_ORGANIZATION_TOKENS                                                                                    \
	(R(CAN_QUEUE_RUN) | R(CAN_APPLY) | R(CAN_WRITE_STATE) | R(CAN_OVERRIDE) | R(CAN_MANAGE_NO_CODE))

rights rights_of_team(enum team_kind kind, const json_t *organization_access)
{
	switch (kind) {
	case TEAM_OWNERS:
		return ~(rights)0; /* including permissions that are added later */
	case TEAM_ORGANIZATION:
		return ~NOT_FOR_ORGANIZATION_TOKENS;
	case TEAM_AUDIT:
		return R(CAN_READ_AUDIT);
	default:
		return R(CAN_READ_ORGANIZATION) | access_rights(&organization_accesses, NULL, organization_access);
	}
}

/* ---- access ---- */

static bool row_holds(const struct access_row *row, const json_t *detail)
{
	const json_t *value = json_object_get(detail, row->name);

	return row->value ? text_equal(json_string_value(value), row->value) : json_is_true(value);
}

rights access_rights(const struct access_table *table, const struct access_level *level, const json_t *detail)
{
	rights all = level ? level->more : 0;

	for (size_t i = 0; i < table->rows_count; i++)
		if (row_holds(&table->rows[i], detail))
			all |= table->rows[i].rights;
	return all;
}

static bool value_known(const struct access_table *table, const struct access_row *row, const json_t *value)
{
	if (!row->value)
		return json_is_boolean(value);
	for (size_t i = 0; i < table->rows_count; i++)
		if (text_equal(table->rows[i].name, row->name) &&
			text_equal(table->rows[i].value, json_string_value(value)))
			return true;
	return false;
}

static bool level_is_custom(const struct access_table *table, const struct access_level *level)
{
	return level == &table->levels[table->levels_count - 1];
}

static int value_check(const struct access_table *table, const struct access_change *change,
	const struct access_row *row, const json_t *value, struct err *err)
{
	char at[128], label[64];

	snprintf(at, sizeof(at), "%s/%s", change->pointer, row->name);
	text_label(label, sizeof(label), row->name);
	if (!level_is_custom(table, change->level))
		return err_at(err, at,
			"%s is read-only when access level is '%s'; use the 'custom' access level to set this "
			"attribute.",
			label, change->level->name);
	if (!value_known(table, row, value))
		return err_at(err, at,
			row->value ? "%s is not one of the levels there are" : "%s must be true or false", label);
	return 0;
}

int access_read(
	const struct access_table *table, const struct access_change *change, json_t **ret_detail, struct err *err)
{
	json_auto_t *detail = json_loads(change->level->detail, 0, NULL);
	const json_t *sent = change->sent;

	if (change->old && level_is_custom(table, change->level))
		json_object_update_existing(detail, (json_t *)change->old);
	if (sent && !json_is_null(sent) && !json_is_object(sent))
		return err_at(err, change->pointer, "Access must be an object");
	for (size_t i = 0; i < table->rows_count; i++) {
		const struct access_row *row = &table->rows[i];
		json_t *value = json_object_get(sent, row->name);

		if (!value || json_is_null(value))
			continue;
		if (value_check(table, change, row, value, err) < 0)
			return -1;
		json_object_set(detail, row->name, value);
	}
	*ret_detail = json_incref(detail);
	return 0;
}
