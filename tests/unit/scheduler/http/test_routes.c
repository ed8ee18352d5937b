/* SPDX-License-Identifier: MPL-2.0 */
/* The search in the route table, and the table itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/api/handlers.h"
#include "scheduler/http/routes.h"

static int handle_one(struct request *req, struct response *res, struct err *err)
{
	(void)req;
	(void)res;
	(void)err;
	return 0;
}

static const struct route table[] = {
	{"GET", "/", handle_one, CAN_READ_WORKSPACE, NO_BODY, BODY_NONE, INLINE},
	{"GET", "/workspaces/:workspace", handle_one, CAN_READ_WORKSPACE, NO_BODY, BODY_NONE, INLINE},
	{"POST", "/workspaces/:workspace/actions/lock", handle_one, CAN_LOCK, JSON, BODY_SMALL, INLINE},
	{"GET", "/organizations/:organization/runs/queue", handle_one, CAN_READ_WORKSPACE, NO_BODY, BODY_NONE, INLINE},
	{"GET", "/workspaces/:workspace/vars/:variable", handle_one, CAN_READ_WORKSPACE, NO_BODY, BODY_NONE, INLINE},
};

static int route_row_of(const char *method, const char *path, struct route_match *match)
{
	const struct route *route = route_find(table, ARRAY_LEN(table), method, path, match);

	return route ? (int)(route - table) : -1;
}

static void paths_match_their_routes(void **state)
{
	struct route_match match;

	(void)state;
	assert_int_equal(route_row_of("GET", "/", &match), 0);
	assert_int_equal(route_row_of("GET", "/workspaces/ws-1", &match), 1);
	assert_int_equal(match.count, 1);
	assert_string_equal(match.params[0].value, "ws-1");
	assert_int_equal(route_row_of("POST", "/workspaces/ws-1/actions/lock", &match), 2);
	assert_int_equal(route_row_of("GET", "/organizations/acme/runs/queue", &match), 3);
	assert_int_equal(route_row_of("GET", "/workspaces/ws-1/vars/var-2", &match), 4);
	assert_int_equal(match.count, 2);
	assert_string_equal(match.params[1].value, "var-2");
	assert_memory_equal(match.params[1].name, "variable", match.params[1].name_len);
	assert_int_equal(route_row_of("HEAD", "/workspaces/ws-1", NULL), 1);
	assert_int_equal(route_row_of("GET", "/workspaces/ws-1/", &match), 1);
	assert_string_equal(match.params[0].value, "ws-1");
	assert_int_equal(route_row_of("GET", "/workspaces/ws-1/vars/var-2/", NULL), 4);
}

static void other_paths_match_no_route(void **state)
{
	static const char *const paths[] = {"", "//", "/workspaces", "/workspaces/", "/workspaces//",
		"/workspaces/ws-1//", "/workspaces/ws-1/actions", "/workspaces/ws-1/actions/locks",
		"/workspaces/ws-1/vars/", "/workspaces/ws-1/vars/var-2/more", "/organizations//runs/queue",
		"workspaces/ws-1", "/Workspaces/ws-1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_int_equal(route_row_of("GET", paths[i], NULL), -1);
	assert_int_equal(route_row_of("DELETE", "/workspaces/ws-1", NULL), -1);
	assert_int_equal(route_row_of("GET", "/workspaces/ws-1/actions/lock", NULL), -1);
}

static void parameters_are_limited_and_printable(void **state)
{
	char path[256] = "/workspaces/";
	size_t start = strlen(path);

	(void)state;
	memset(path + start, 'a', 127);
	assert_int_equal(route_row_of("GET", path, NULL), 1);
	memset(path + start, 'a', 128);
	assert_int_equal(route_row_of("GET", path, NULL), -1);
	assert_int_equal(route_row_of("GET", "/workspaces/a b", NULL), -1);
	assert_int_equal(route_row_of("GET", "/workspaces/\xff\xfe", NULL), -1);
	assert_int_equal(route_row_of("GET", "/workspaces/a\n", NULL), -1);
}

/* Every row is found by its own pattern: no earlier row hides it. */
static void every_route_is_reachable(void **state)
{
	(void)state;
	for (size_t i = 0; i < routes_count; i++) {
		const struct route *found = route_find(routes, routes_count, routes[i].method, routes[i].pattern, NULL);

		if (found != &routes[i])
			fail_msg("%s %s is answered by %s", routes[i].method, routes[i].pattern,
				found ? found->pattern : "nothing");
		assert_true(routes[i].format != NO_BODY || routes[i].limit == BODY_NONE);
	}
}

/* Handlers that check the session and show no data, or only redirect. */
static bool page_of_web_ui(handler_fn handler)
{
	return handler == ui_app || handler == ui_short_organization || handler == ui_short_workspace ||
		handler == ui_short_settings || handler == ui_short_run || handler == ui_short_query;
}

/* The routes without a token are a short, fixed list. Pages check the session themselves. */
static void only_listed_routes_need_no_token(void **state)
{
	static const char *const open[] = {"/", "/.well-known/terraform.json", "/.well-known/openid-configuration",
		"/.well-known/jwks", "/api/meta/ip-ranges", "/api/v2/ping", "/api/v2/openapi.json", "/assets/:file",
		"/app/docs", "/app/docs/:page", "/app/login", "/app/logout", "/app/settings/tokens",
		"/app/settings/tokens/:token/revoke", "/app/settings/password", "/app/settings/invitations",
		"/app/settings/invitations/:membership", "/app/invitations/:membership",
		"/app/workspaces/:workspace/hold", "/app/runs/:run", "/app/runs/:run/unrecorded-resources",
		"/oauth/authorize", "/oauth/token", "/auth/:callback", "/auth/:callback/callback",
		"/github-app/connect/:organization", "/github-app/setup", "/github-app/callback",
		"/oidc/:provider/sign-in", "/oidc/:provider/callback", "/oidc/:provider/sign-out",
		"/oidc/:provider/backchannel-logout", "/app/login/provider", "/app/settings/identities",
		"/app/settings/identities/:provider/unlink", "/users/saml/metadata", "/users/saml/metadata.xml",
		"/users/saml/auth", "/users/saml/logout", "/app/login/factor", "/app/login/passkey",
		"/app/login/passkey/options", "/app/login/forgot", "/app/login/reset", "/app/settings/confirm",
		"/app/settings/two-factor", "/app/settings/two-factor/app", "/app/settings/two-factor/app/confirm",
		"/app/settings/two-factor/passkeys", "/app/settings/two-factor/passkeys/options",
		"/app/settings/two-factor/recovery-codes", "/app/settings/two-factor/:factor/remove",
		"/app/settings/sessions", "/app/settings/sessions/end-others", "/app/settings/sessions/:session/end",
		"/app/admin/impersonation/end",
		"/api/registry/v1/mirror/:mirror_host/:mirror_namespace/:mirror_type/:mirror_file"};

	(void)state;
	for (size_t i = 0; i < routes_count; i++) {
		bool known = routes[i].permission != CAN_WITHOUT_TOKEN;

		for (size_t k = 0; k < ARRAY_LEN(open); k++)
			known |= text_equal(routes[i].pattern, open[k]);
		known |= page_of_web_ui(routes[i].handler);
		if (!known)
			fail_msg("%s %s needs no token", routes[i].method, routes[i].pattern);
		if (routes[i].permission == CAN_WITH_SIGNATURE)
			assert_true(text_starts(routes[i].pattern, "/signed/:signature/"));
		if (routes[i].permission == CAN_DELIVER)
			assert_true(text_starts(routes[i].pattern, "/webhooks/"));
		if (routes[i].permission == CAN_WORK || routes[i].permission == CAN_WORK_ON_JOB)
			assert_true(text_starts(routes[i].pattern, "/api/worker/v1/"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_match_their_routes),
		cmocka_unit_test(other_paths_match_no_route),
		cmocka_unit_test(parameters_are_limited_and_printable),
		cmocka_unit_test(every_route_is_reachable),
		cmocka_unit_test(only_listed_routes_need_no_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
