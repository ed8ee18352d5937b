/* SPDX-License-Identifier: MPL-2.0 */
/* The audit trail's names for routes: every route that changes something has an action and a resource. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/api/handlers.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/http/audit_note.h"

static void expect(const char *method, const char *path, const char *action, const char *type, const char *id)
{
	struct route_match match;
	const struct route *route = route_find(routes, routes_count, method, path, &match);
	struct audit_action entry;

	assert_non_null(route);
	audit_action_read(route, &match, &entry);
	assert_string_equal(entry.action, action);
	assert_string_equal(entry.type, type);
	if (id)
		assert_string_equal(entry.id, id);
	else
		assert_null(entry.id);
}

static void actions_are_named_after_their_routes(void **state)
{
	(void)state;
	expect("POST", "/api/v2/runs", "create", "run", NULL);
	expect("POST", "/api/v2/runs/run-1/actions/force-cancel", "force_cancel", "run", "run-1");
	expect("PATCH", "/api/v2/workspaces/ws-1", "update", "workspace", "ws-1");
	expect("DELETE", "/api/v2/organizations/acme/workspaces/net", "destroy", "workspace", "net");
	expect("POST", "/api/v2/organizations/acme/workspaces/net/actions/safe-delete", "safe_delete", "workspace",
		"net");
	expect("DELETE", "/api/v2/workspaces/ws-1/vars/var-1", "destroy", "var", "var-1");
	expect("POST", "/api/v2/policy-sets/polset-1/relationships/workspaces", "add", "policy_set", "polset-1");
	expect("DELETE", "/api/v2/policies/pol-1", "destroy", "policy", "pol-1");
	expect("PUT", "/signed/abc/state-versions/sv-1/upload", "upload", "state_version", "sv-1");
	expect("DELETE", "/api/v2/authentication-tokens/at-1", "destroy", "authentication_token", "at-1");
	expect("PATCH", "/api/v2/account/update", "update", "account", NULL);
}

static void every_route_has_an_action(void **state)
{
	(void)state;
	for (size_t i = 0; i < routes_count; i++) {
		struct route_match match = {.count = 0};
		struct audit_action entry;

		if (!text_starts(routes[i].pattern, "/api/v2/"))
			continue;
		audit_action_read(&routes[i], &match, &entry);
		assert_true(entry.action[0] && entry.action[0] != ':');
		assert_true(entry.type[0] != ':');
	}
}

static void types_are_singular(void **state)
{
	static const char *const names[][2] = {{"policies", "policy"}, {"tag-bindings", "tag_binding"},
		{"agent-pools", "agent_pool"}, {"access", "access"}, {"varsets", "varset"}, {"s", "s"}, {"", ""}};
	char name[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		audit_singular(names[i][0], name, sizeof(name));
		assert_string_equal(name, names[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(actions_are_named_after_their_routes),
		cmocka_unit_test(every_route_has_an_action),
		cmocka_unit_test(types_are_singular),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
