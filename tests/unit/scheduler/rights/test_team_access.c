/* SPDX-License-Identifier: MPL-2.0 */
/* The effective access of teams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/rights/rights.h"

static bool has_permission(rights held, enum permission permission)
{
	return held & right_of(permission);
}

static rights of_level(const struct access_table *table, const char *name)
{
	const struct access_level *level = access_level_find(table, name);
	json_auto_t *detail = json_loads(level->detail, 0, NULL);

	assert_non_null(detail);
	return access_rights(table, level, detail);
}

static void bits_of_permissions_do_not_overlap(void **state)
{
	rights all = 0;

	(void)state;
	for (size_t i = 0; i < PERMISSION_COUNT; i++) {
		const enum where where = permission_rows[i].where;
		rights one = right_of((enum permission)i);

		assert_true(one == 0 || where == WORKSPACE || where == PROJECT || where == ORGANIZATION);
		assert_true((one == 0) == (permission_rows[i].bit < 0));
		assert_true((all & one) == 0);
		all |= one;
	}
}

/* Every level has a value for each attribute of its table, and no other attributes. */
static void levels_have_a_value_for_every_attribute(void **state)
{
	const struct access_table *tables[] = {
		&organization_accesses, &workspace_accesses, &project_accesses, &project_workspace_accesses};

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t l = 0; l < tables[t]->levels_count; l++) {
			json_auto_t *detail = json_loads(tables[t]->levels[l].detail, 0, NULL), *names = json_object();

			for (size_t r = 0; r < tables[t]->rows_count; r++)
				json_object_set_new(names, tables[t]->rows[r].name, json_true());
			assert_int_equal(json_object_size(detail), json_object_size(names));
			json_object_update(names, detail);
			assert_int_equal(json_object_size(detail), json_object_size(names));
		}
}

static void each_workspace_level_contains_the_lower_ones(void **state)
{
	static const char *const levels[] = {"read", "plan", "write", "admin"};
	rights before = of_level(&workspace_accesses, "custom");

	(void)state;
	assert_true(has_permission(before, CAN_READ_RUNS) && !has_permission(before, CAN_READ_VARIABLES) &&
		!has_permission(before, CAN_READ_STATE));
	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		rights now = of_level(&workspace_accesses, levels[i]);

		assert_true((now & before) == before && now != before);
		assert_int_equal(has_permission(now, CAN_QUEUE_RUN), i >= 1);
		assert_int_equal(has_permission(now, CAN_APPLY), i >= 2);
		assert_int_equal(has_permission(now, CAN_LOCK), i >= 2);
		assert_int_equal(has_permission(now, CAN_MANAGE_WORKSPACE), i >= 3);
		assert_int_equal(has_permission(now, CAN_READ_PLAN_JSON), i >= 3);
		assert_false(has_permission(now, CAN_OVERRIDE));
		before = now;
	}
}

static rights of_project(const char *level)
{
	return of_level(&project_accesses, level) | of_level(&project_workspace_accesses, level);
}

static void each_project_level_contains_the_lower_ones(void **state)
{
	static const char *const levels[] = {"read", "write", "maintain", "admin"};

	(void)state;
	for (size_t i = 1; i < ARRAY_LEN(levels); i++)
		assert_true((of_project(levels[i]) & of_project(levels[i - 1])) == of_project(levels[i - 1]));
	assert_true(has_permission(of_project("maintain"), CAN_CREATE_WORKSPACE));
	assert_true(has_permission(of_project("maintain"), CAN_MANAGE_WORKSPACE));
	assert_false(has_permission(of_project("maintain"), CAN_MANAGE_PROJECT_TEAMS));
	assert_true(has_permission(of_project("admin"), CAN_DELETE_PROJECT));
	assert_true(has_permission(of_project("custom"), CAN_READ_PROJECT));
}

static rights with_flag(const char *flag)
{
	json_auto_t *access = json_pack("{sb}", flag, 1);

	return rights_of_team(TEAM_PLAIN, access);
}

static void teams_have_exactly_the_granted_permissions(void **state)
{
	json_auto_t *none = json_object();

	(void)state;
	assert_true(rights_of_team(TEAM_PLAIN, none) == right_of(CAN_READ_ORGANIZATION));
	assert_true(has_permission(with_flag("manage-workspaces"), CAN_CREATE_WORKSPACE));
	assert_false(has_permission(with_flag("manage-workspaces"), CAN_CREATE_PROJECT));
	assert_true(has_permission(with_flag("manage-projects"), CAN_MANAGE_WORKSPACE));
	assert_true(has_permission(with_flag("read-workspaces"), CAN_READ_STATE));
	assert_false(has_permission(with_flag("read-workspaces"), CAN_QUEUE_RUN));
	assert_true(has_permission(with_flag("manage-policies"), CAN_READ_RUNS));
	assert_true(has_permission(with_flag("manage-policy-overrides"), CAN_OVERRIDE));
	for (size_t i = 0; i < organization_accesses.rows_count; i++)
		assert_false(has_permission(with_flag(organization_accesses.rows[i].name), CAN_MANAGE_ORGANIZATION));
}

/* Rows of teams have these numbers. */
static void rights_of_hidden_teams_are_fixed(void **state)
{
	(void)state;
	assert_int_equal((long long)rights_of_team(TEAM_OWNERS, NULL), -1);
	assert_int_equal((long long)rights_of_team(TEAM_ORGANIZATION, NULL), -140737488359693);
	assert_int_equal((long long)rights_of_team(TEAM_AUDIT, NULL), 70368744177664);
}

static int read_as(const char *level, const char *sent_text, const char *old_text, json_t **ret_detail, struct err *err)
{
	json_auto_t *sent = json_loads(sent_text, 0, NULL), *old = old_text ? json_loads(old_text, 0, NULL) : NULL;

	const struct access_change change = {
		access_level_find(&workspace_accesses, level), sent, old, "/data/attributes"};

	return access_read(&workspace_accesses, &change, ret_detail, err);
}

static void invalid_details_of_access_are_refused(void **state)
{
	struct err err = ERR_INIT;
	json_t *detail = NULL;

	(void)state;
	assert_int_equal(read_as("read", "{\"runs\":\"apply\"}", NULL, &detail, &err), -1);
	assert_string_equal(err.message,
		"Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.");
	assert_string_equal(err.pointer, "/data/attributes/runs");
	assert_int_equal(read_as("custom", "{\"runs\":\"all\"}", NULL, &detail, &err), -1);
	assert_int_equal(read_as("custom", "{\"runs\":1}", NULL, &detail, &err), -1);
	assert_int_equal(read_as("custom", "{\"workspace-locking\":\"yes\"}", NULL, &detail, &err), -1);
	assert_int_equal(
		read_as("custom", "{\"runs\":\"plan\",\"other\":1}", "{\"variables\":\"write\"}", &detail, &err), 0);
	assert_string_equal(json_string_at(detail, "runs"), "plan");
	assert_string_equal(json_string_at(detail, "variables"), "write");
	assert_null(json_object_get(detail, "other"));
	json_decref(detail);
	assert_int_equal(read_as("plan", "{}", "{\"variables\":\"write\"}", &detail, &err), 0);
	assert_string_equal(json_string_at(detail, "variables"), "read");
	json_decref(detail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_of_permissions_do_not_overlap),
		cmocka_unit_test(levels_have_a_value_for_every_attribute),
		cmocka_unit_test(each_workspace_level_contains_the_lower_ones),
		cmocka_unit_test(each_project_level_contains_the_lower_ones),
		cmocka_unit_test(teams_have_exactly_the_granted_permissions),
		cmocka_unit_test(rights_of_hidden_teams_are_fixed),
		cmocka_unit_test(invalid_details_of_access_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
