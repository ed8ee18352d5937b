/* SPDX-License-Identifier: MPL-2.0 */
/* Providers, dialects, refs, shas, identifiers and addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/vcs/address.h"
#include "common/vcs/ref.h"

#define SHA "0123456789abcdef0123456789abcdef01234567"

static void each_provider_has_a_name_and_a_dialect(void **state)
{
	(void)state;
	for (enum vcs_provider provider = 0; provider < VCS_PROVIDERS; provider++) {
		assert_int_equal(vcs_provider_of(vcs_provider_name(provider)), provider);
		assert_non_null(vcs_dialect_name(vcs_dialect_of(provider, NULL)));
	}
	assert_int_equal(vcs_provider_of("svn"), VCS_PROVIDERS);
	assert_int_equal(vcs_provider_of(NULL), VCS_PROVIDERS);
	assert_string_equal(vcs_provider_display(VCS_PROVIDER_ADO_SERVER), "Azure DevOps Server");
	assert_string_equal(vcs_provider_source(VCS_PROVIDER_ADO_SERVER), "ado");
	assert_int_equal(vcs_dialect_of(VCS_PROVIDER_FORGEJO, "https://git.example.com/api/v1"), VCS_GITEA);
}

static void an_enterprise_connection_with_giteas_api_is_gitea(void **state)
{
	static const struct {
		const char *api_url;
		enum vcs_dialect dialect;
	} rows[] = {
		{"https://git.example.com/api/v1", VCS_GITEA},
		{"https://git.example.com/api/v1/", VCS_GITEA},
		{"https://git.example.com/api/v3", VCS_GITHUB},
		{"https://git.example.com/api/v1/x", VCS_GITHUB},
		{"/v1", VCS_GITHUB},
		{"", VCS_GITHUB},
		{NULL, VCS_GITHUB},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(vcs_dialect_of(VCS_PROVIDER_GITHUB_ENTERPRISE, rows[i].api_url), rows[i].dialect);
	assert_int_equal(vcs_dialect_of(VCS_PROVIDER_GITHUB, "https://git.example.com/api/v1"), VCS_GITHUB);
}

static void refs_follow_the_rules_of_git(void **state)
{
	static const char *const good[] = {"refs/heads/main", "refs/heads/a/b", "refs/heads/a@b", "refs/tags/v1.0",
		"refs/heads/-x", "refs/heads/$(reboot)", "refs/heads/a'\"<b>", "refs/heads/\xc3\xa4", "refs/heads/@"};
	static const char *const bad[] = {"", "main", "heads/main", "refs/heads/", "refs//heads", "refs/heads/a//b",
		"refs/heads/.a", "refs/heads/a.", "refs/heads/a..b", "refs/heads/a.lock", "refs/heads/a.lock/b",
		"refs/heads/a b", "refs/heads/a\tb", "refs/heads/a\nb", "refs/heads/a~1", "refs/heads/a^",
		"refs/heads/a:b", "refs/heads/a?", "refs/heads/a*", "refs/heads/[a", "refs/heads/a\\b",
		"refs/heads/a@{b", "refs/heads/a\x7f", "refs/heads/\xff", "refs/heads/a/", "/refs/heads/a"};
	char wide[VCS_REF_MAX + 2];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_true(vcs_ref_valid(good[i]));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(vcs_ref_valid(bad[i]));
	assert_false(vcs_ref_valid(NULL));
	memset(wide, 'a', sizeof(wide));
	memcpy(wide, "refs/", 5);
	wide[VCS_REF_MAX + 1] = '\0';
	assert_false(vcs_ref_valid(wide));
	wide[VCS_REF_MAX] = '\0';
	assert_true(vcs_ref_valid(wide));
	assert_false(vcs_ref_name_valid(wide));
}

static void short_names_never_look_like_options(void **state)
{
	(void)state;
	assert_true(vcs_ref_name_valid("main"));
	assert_true(vcs_ref_name_valid("feature/a-b"));
	assert_false(vcs_ref_name_valid("--upload-pack=touch"));
	assert_false(vcs_ref_name_valid("-"));
	assert_false(vcs_ref_name_valid(""));
	assert_false(vcs_ref_name_valid(NULL));
	assert_string_equal(vcs_ref_branch("refs/heads/a/b"), "a/b");
	assert_null(vcs_ref_branch("refs/tags/v1"));
	assert_string_equal(vcs_ref_tag("refs/tags/v1"), "v1");
	assert_string_equal(vcs_ref_short("refs/pull/1/head"), "refs/pull/1/head");
	assert_string_equal(vcs_ref_short("refs/tags/v1"), "v1");
	assert_string_equal(vcs_ref_short(NULL), "");
}

static void folders_are_clean_paths(void **state)
{
	static const char *const good[] = {"a", "modules/network", "a b/..c/.d", ".github", "a/.gitx"};
	static const char *const bad[] = {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", ".git",
		"a/.GIT/b", "a\\b", "a\nb", "a\x7f", "\xff"};
	char wide[VCS_FOLDER_MAX + 2];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_true(vcs_folder_valid(good[i]));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(vcs_folder_valid(bad[i]));
	assert_false(vcs_folder_valid(NULL));
	memset(wide, 'a', sizeof(wide));
	wide[VCS_FOLDER_MAX + 1] = '\0';
	assert_false(vcs_folder_valid(wide));
	wide[VCS_FOLDER_MAX] = '\0';
	assert_true(vcs_folder_valid(wide));
}

static void shas_are_full_and_in_lower_case(void **state)
{
	(void)state;
	assert_true(vcs_sha_valid(SHA));
	assert_true(vcs_sha_valid(SHA "0123456789abcdef01234567"));
	assert_false(vcs_sha_valid("0123456"));
	assert_false(vcs_sha_valid("0123456789ABCDEF0123456789abcdef01234567"));
	assert_false(vcs_sha_valid("0123456789abcdef0123456789abcdef0123456g"));
	assert_false(vcs_sha_valid(""));
	assert_false(vcs_sha_valid(NULL));
	assert_true(vcs_sha_is_zero("0000000000000000000000000000000000000000"));
	assert_false(vcs_sha_is_zero("0000"));
	assert_false(vcs_sha_is_zero(SHA));
}

static void connections_have_web_addresses_without_credentials(void **state)
{
	static const struct {
		const char *url;
		bool hosted, plain;
	} rows[] = {
		{"https://github.com", true, true},
		{"https://git.example.com:8443/gitlab/", true, true},
		{"http://127.0.0.1:3000", true, true},
		{"https://[::1]:3000/a", true, true},
		{"ssh://git.example.com:2222/srv/git", false, true},
		{"ssh://deploy@git.example.com/srv", false, true},
		{"git://git.example.com", false, true},
		{"https://user@git.example.com", false, false},
		{"https://user:password@git.example.com", false, false},
		{"ssh://git:password@git.example.com", false, false},
		{"ssh://-oProxyCommand=x/a", false, false},
		{"ssh://-x@host/a", false, false},
		{"https://", false, false},
		{"https:///path", false, false},
		{"https://host:0", false, false},
		{"https://host:65536", false, false},
		{"https://host:12x", false, false},
		{"https://host:\v80", false, false},
		{"https://host:+80", false, false},
		{"https://host/a?b", false, false},
		{"https://host/a#b", false, false},
		{"https://host/../b", false, false},
		{"https://ho st", false, false},
		{"https://host\n/a", false, false},
		{"https://[::1", false, false},
		{"file:///etc", false, false},
		{"ext::sh -c id", false, false},
		{"github.com", false, false},
		{"", false, false},
		{NULL, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(vcs_http_url_check(VCS_GITHUB, rows[i].url, &err), rows[i].hosted ? 0 : -1);
		assert_int_equal(vcs_http_url_check(VCS_GIT, rows[i].url, &err), rows[i].plain ? 0 : -1);
	}
}

static void identifiers_have_the_form_of_their_provider(void **state)
{
	static const struct {
		enum vcs_dialect dialect;
		const char *identifier;
		bool valid;
	} rows[] = {
		{VCS_GITHUB, "acme/infra", true},
		{VCS_GITHUB, "acme/.github", true},
		{VCS_GITHUB, "acme", false},
		{VCS_GITHUB, "acme/infra/more", false},
		{VCS_GITHUB, "acme/infra.git", false},
		{VCS_GITHUB, "acme/..", false},
		{VCS_GITHUB, "../infra", false},
		{VCS_GITHUB, "acme/.", false},
		{VCS_GITHUB, "acme//infra", false},
		{VCS_GITHUB, "/acme/infra", false},
		{VCS_GITHUB, "acme/infra/", false},
		{VCS_GITHUB, "acme/in fra", false},
		{VCS_GITHUB, "https://github.com/acme/infra", false},
		{VCS_GITHUB, "--upload-pack=touch/x", false},
		{VCS_GITHUB, "acme/-x", false},
		{VCS_GITHUB, "acme/a\nb", false},
		{VCS_GITHUB, "acme/\xff", false},
		{VCS_GITHUB, "", false},
		{VCS_GITHUB, NULL, false},
		{VCS_GITLAB, "a/b", true},
		{VCS_GITLAB, "a/b/c/d/e/f", true},
		{VCS_GITLAB, "a", false},
		{VCS_BITBUCKET_CLOUD, "acme/infra", true},
		{VCS_BITBUCKET_SERVER, "PROJ/infra", true},
		{VCS_BITBUCKET_SERVER, "~jane/infra", true},
		{VCS_AZURE, "acme/My Project/_git/in fra", true},
		{VCS_AZURE, "acme/project/repo", false},
		{VCS_AZURE, "acme/project/git/repo", false},
		{VCS_AZURE, "acme/_git/_git/repo", false},
		{VCS_AZURE, "acme/a%20b/_git/repo", false},
		{VCS_GITEA, "acme/infra", true},
		{VCS_GIT, "infra.git", true},
		{VCS_GIT, "srv/git/in fra.git", true},
		{VCS_GIT, "srv/../etc", false},
		{VCS_GIT, "file:///etc", false},
		{VCS_GIT, "ext::sh -c id", false},
		{VCS_GIT, "a?b", false},
		{VCS_GIT, "-x", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		if (vcs_identifier_check(rows[i].dialect, rows[i].identifier, &err) != (rows[i].valid ? 0 : -1))
			fail_msg("row %zu: %s", i, rows[i].identifier);
	}
}

struct row {
	struct vcs_place place;
	const char *clone, *ssh, *page, *commit;
};

static const struct row rows_of_addresses[] = {
	{{VCS_GITHUB, "https://github.com", "acme/infra"}, "https://github.com/acme/infra.git",
		"ssh://git@github.com/acme/infra.git", "https://github.com/acme/infra",
		"https://github.com/acme/infra/commit/" SHA},
	{{VCS_GITLAB, "https://lab.example.com:8443/gitlab/", "a/b/c/d/e/f"},
		"https://lab.example.com:8443/gitlab/a/b/c/d/e/f.git", "ssh://git@lab.example.com/a/b/c/d/e/f.git",
		"https://lab.example.com:8443/gitlab/a/b/c/d/e/f",
		"https://lab.example.com:8443/gitlab/a/b/c/d/e/f/-/commit/" SHA},
	{{VCS_BITBUCKET_CLOUD, "https://bitbucket.org", "acme/infra"}, "https://bitbucket.org/acme/infra.git",
		"ssh://git@bitbucket.org/acme/infra.git", "https://bitbucket.org/acme/infra",
		"https://bitbucket.org/acme/infra/commits/" SHA},
	{{VCS_BITBUCKET_SERVER, "https://git.example.com/bitbucket", "~jane/infra"},
		"https://git.example.com/bitbucket/scm/~jane/infra.git",
		"ssh://git@git.example.com:7999/~jane/infra.git",
		"https://git.example.com/bitbucket/users/jane/repos/infra",
		"https://git.example.com/bitbucket/users/jane/repos/infra/commits/" SHA},
	{{VCS_AZURE, "https://dev.azure.com/", "acme/My Project/_git/infra"},
		"https://dev.azure.com/acme/My%20Project/_git/infra",
		"ssh://git@ssh.dev.azure.com/v3/acme/My%20Project/infra",
		"https://dev.azure.com/acme/My%20Project/_git/infra",
		"https://dev.azure.com/acme/My%20Project/_git/infra/commit/" SHA},
	{{VCS_GITEA, "http://[::1]:3000", "acme/infra"}, "http://[::1]:3000/acme/infra.git",
		"ssh://git@[::1]/acme/infra.git", "http://[::1]:3000/acme/infra",
		"http://[::1]:3000/acme/infra/commit/" SHA},
	{{VCS_GIT, "git://git.example.com", "srv/in fra.git"}, "git://git.example.com/srv/in%20fra.git", NULL, NULL,
		NULL},
	{{VCS_GIT, "ssh://git.example.com:2222/srv", "infra"}, "ssh://git@git.example.com:2222/srv/infra",
		"ssh://git@git.example.com:2222/srv/infra", NULL, NULL},
	{{VCS_GIT, "ssh://deploy@git.example.com", "infra"}, "ssh://deploy@git.example.com/infra",
		"ssh://deploy@git.example.com/infra", NULL, NULL},
};

/* Frees `text`. */
static void is_text(char *text, const char *expected)
{
	if (expected && text)
		assert_string_equal(text, expected);
	else
		assert_ptr_equal(text, expected);
	free(text);
}

static void addresses_are_those_of_the_provider(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows_of_addresses); i++) {
		const struct row *row = &rows_of_addresses[i];
		struct err err = ERR_INIT;

		assert_int_equal(vcs_http_url_check(row->place.dialect, row->place.http_url, &err), 0);
		assert_int_equal(vcs_identifier_check(row->place.dialect, row->place.identifier, &err), 0);
		is_text(vcs_clone_url(&row->place), row->clone);
		is_text(vcs_clone_ssh_url(&row->place), row->ssh);
		is_text(vcs_repository_url(&row->place), row->page);
		is_text(vcs_commit_url(&row->place, SHA), row->commit);
	}
	is_text(vcs_commit_url(&rows_of_addresses[0].place, "a/b&c"), "https://github.com/acme/infra/commit/a/b%26c");
}

static void an_azure_server_has_its_own_ssh_host(void **state)
{
	const struct vcs_place place = {VCS_AZURE, "https://tfs.example.com/tfs", "acme/project/_git/infra"};

	(void)state;
	is_text(vcs_clone_ssh_url(&place), "ssh://git@tfs.example.com/tfs/acme/project/_git/infra");
}

static void logins_use_the_users_that_tokens_need(void **state)
{
	(void)state;
	assert_string_equal(vcs_login_user(VCS_GITHUB, "jane"), "x-access-token");
	assert_string_equal(vcs_login_user(VCS_GITLAB, NULL), "oauth2");
	assert_string_equal(vcs_login_user(VCS_BITBUCKET_SERVER, "jane"), "jane");
	assert_string_equal(vcs_login_user(VCS_BITBUCKET_SERVER, ""), "x-token-auth");
	assert_string_equal(vcs_login_user(VCS_GIT, "jane"), "jane");
	assert_string_equal(vcs_login_user(VCS_GIT, NULL), "git");
}

static void pull_requests_have_refs(void **state)
{
	static const struct {
		enum vcs_dialect dialect;
		const char *ref;
		long long number;
	} rows[] = {
		{VCS_GITHUB, "refs/pull/12/head", 12},
		{VCS_GITHUB, "refs/pull/12/merge", 0},
		{VCS_GITHUB, "refs/pull/012/head", 0},
		{VCS_GITHUB, "refs/pull/0/head", 0},
		{VCS_GITHUB, "refs/pull/-1/head", 0},
		{VCS_GITHUB, "refs/pull/99999999999999999999/head", 0},
		{VCS_GITHUB, "refs/heads/main", 0},
		{VCS_GITHUB, NULL, 0},
		{VCS_GITLAB, "refs/merge-requests/3/head", 3},
		{VCS_BITBUCKET_SERVER, "refs/pull-requests/3/from", 3},
		{VCS_AZURE, "refs/pull/3/merge", 3},
		{VCS_GITEA, "refs/pull/3/head", 3},
		{VCS_BITBUCKET_CLOUD, "refs/pull/3/head", 0},
		{VCS_GIT, "refs/pull/3/head", 0},
	};
	char ref[VCS_PR_REF_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(vcs_pr_ref_number(rows[i].dialect, rows[i].ref), rows[i].number);
		if (rows[i].number) {
			assert_true(vcs_pr_ref(rows[i].dialect, rows[i].number, ref));
			assert_string_equal(ref, rows[i].ref);
		}
	}
	assert_false(vcs_pr_ref(VCS_GIT, 3, ref));
	assert_false(vcs_pr_ref(VCS_GITHUB, 0, ref));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_provider_has_a_name_and_a_dialect),
		cmocka_unit_test(an_enterprise_connection_with_giteas_api_is_gitea),
		cmocka_unit_test(refs_follow_the_rules_of_git),
		cmocka_unit_test(short_names_never_look_like_options),
		cmocka_unit_test(folders_are_clean_paths),
		cmocka_unit_test(shas_are_full_and_in_lower_case),
		cmocka_unit_test(connections_have_web_addresses_without_credentials),
		cmocka_unit_test(identifiers_have_the_form_of_their_provider),
		cmocka_unit_test(addresses_are_those_of_the_provider),
		cmocka_unit_test(an_azure_server_has_its_own_ssh_host),
		cmocka_unit_test(logins_use_the_users_that_tokens_need),
		cmocka_unit_test(pull_requests_have_refs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
