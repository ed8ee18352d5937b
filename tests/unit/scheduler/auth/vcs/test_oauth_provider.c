/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/crypto.h"
#include "scheduler/auth/vcs/oauth_provider.h"

#define REDIRECT         "https://runyard.example.com/auth/1/callback"
#define REDIRECT_ENCODED "https%3A%2F%2Frunyard.example.com%2Fauth%2F1%2Fcallback"

static struct oauth_application application_of(enum vcs_provider provider, const char *http_url, const char *api_url)
{
	return (struct oauth_application){.provider = provider,
		.http_url = http_url,
		.api_url = api_url,
		.id = "an id&",
		.secret = "a secret=",
		.redirect = REDIRECT};
}

/* The example of RFC 7636, appendix B. */
static void test_the_challenge_is_that_of_the_rfc(void **state)
{
	_cleanup_(freep) char *challenge = crypto_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
	_cleanup_(freep) char *verifier = crypto_token("");

	(void)state;
	assert_string_equal(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
	assert_true(strlen(verifier) >= 43 && strlen(verifier) <= 128);
}

static void test_each_provider_has_its_page_of_consent(void **state)
{
	static const struct {
		enum vcs_provider provider;
		const char *http_url, *api_url, *wanted;
	} rows[] = {
		{VCS_PROVIDER_GITHUB, "https://github.com", "https://api.github.com",
			"https://github.com/login/oauth/authorize?client_id=an%20id%26&redirect_uri=" REDIRECT_ENCODED
			"&response_type=code&scope=repo&state=S&code_challenge=C&code_challenge_method=S256"},
		{VCS_PROVIDER_GITLAB_HOSTED, "https://gitlab.com", "https://gitlab.com/api/v4",
			"https://gitlab.com/oauth/authorize?client_id=an%20id%26&redirect_uri=" REDIRECT_ENCODED
			"&response_type=code&scope=api&state=S&code_challenge=C&code_challenge_method=S256"},
		{VCS_PROVIDER_BITBUCKET_HOSTED, "https://bitbucket.org", "https://api.bitbucket.org/2.0",
			"https://bitbucket.org/site/oauth2/"
			"authorize?client_id=an%20id%26&redirect_uri=" REDIRECT_ENCODED "&response_type=code&state=S"},
		{VCS_PROVIDER_ADO_SERVICES, "https://dev.azure.com", "https://dev.azure.com",
			"https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize?client_id=an%20id%26"
			"&redirect_uri=" REDIRECT_ENCODED
			"&response_type=code&scope=499b84ac-1321-427f-aa17-267ca6975798%2F.default%20offline_access"
			"&state=S&code_challenge=C&code_challenge_method=S256"},
		/* Named as an Enterprise by the tfe provider, and Gitea by its api-url. */
		{VCS_PROVIDER_GITHUB_ENTERPRISE, "https://git.example.com", "https://git.example.com/api/v1",
			"https://git.example.com/login/oauth/"
			"authorize?client_id=an%20id%26&redirect_uri=" REDIRECT_ENCODED
			"&response_type=code&scope=read%3Auser%20write%3Arepository%20write%3Aissue&state=S&code_"
			"challenge=C"
			"&code_challenge_method=S256"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct oauth_application application =
			application_of(rows[i].provider, rows[i].http_url, rows[i].api_url);
		_cleanup_(freep) char *url = oauth_consent_url(&application, "S", "C");

		assert_true(oauth_supported(rows[i].provider, rows[i].api_url));
		assert_string_equal(url, rows[i].wanted);
	}
}

static void test_other_providers_have_none(void **state)
{
	static const enum vcs_provider rows[] = {VCS_PROVIDER_GIT, VCS_PROVIDER_BITBUCKET_DATA_CENTER,
		VCS_PROVIDER_BITBUCKET_SERVER, VCS_PROVIDER_ADO_SERVER, VCS_PROVIDER_GITHUB_APP};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_false(oauth_supported(rows[i], "https://git.example.com"));
}

static void test_the_application_logs_in_with_the_form(void **state)
{
	const struct oauth_application application =
		application_of(VCS_PROVIDER_GITLAB_HOSTED, "https://gitlab.com", "https://gitlab.com/api/v4");
	struct oauth_request request;

	(void)state;
	oauth_exchange_request(&application, "a+code", "V", &request);
	assert_string_equal(request.url, "https://gitlab.com/oauth/token");
	assert_null(request.authorization);
	assert_string_equal(request.body,
		"grant_type=authorization_code&code=a%2Bcode&code_verifier=V&redirect_uri=" REDIRECT_ENCODED
		"&client_id=an%20id%26&client_secret=a%20secret%3D");
	oauth_request_release(&request);
	oauth_refresh_request(&application, "R", &request);
	assert_string_equal(request.body,
		"grant_type=refresh_token&refresh_token=R&redirect_uri=" REDIRECT_ENCODED
		"&client_id=an%20id%26&client_secret=a%20secret%3D");
	oauth_request_release(&request);
}

static void test_that_of_bitbucket_with_a_header(void **state)
{
	const struct oauth_application application =
		application_of(VCS_PROVIDER_BITBUCKET_HOSTED, "https://bitbucket.org", "https://api.bitbucket.org/2.0");
	struct oauth_request request;

	(void)state;
	oauth_exchange_request(&application, "c", "V", &request);
	assert_string_equal(request.authorization, "Authorization: Basic YW4gaWQmOmEgc2VjcmV0PQ==");
	assert_string_equal(request.body, "grant_type=authorization_code&code=c&redirect_uri=" REDIRECT_ENCODED);
	oauth_request_release(&request);
}

static void test_answers_are_read(void **state)
{
	static const struct {
		const char *answer, *access, *refresh, *error;
		long long expires_in;
	} rows[] = {
		{"{\"access_token\":\"A\",\"token_type\":\"bearer\"}", "A", NULL, "", 0},
		{"{\"access_token\":\"A\",\"refresh_token\":\"R\",\"expires_in\":7200}", "A", "R", "", 7200},
		{"{\"access_token\":\"A\",\"refresh_token\":\"R\",\"expires_in\":\"3599\"}", "A", "R", "", 3599},
		{"{\"access_token\":\"A\",\"expires_in\":-5}", "A", NULL, "", 0},
		/* GitHub answers 200 with an error. */
		{"{\"error\":\"bad_verification_code\",\"access_token\":\"A\"}", NULL, NULL, "bad_verification_code",
			0},
		{"{\"error\":\"<b>bold</b>\"}", NULL, NULL, "", 0},
		{"{\"access_token\":\"\"}", NULL, NULL, "", 0},
		{"{\"access_token\":\"A\\r\\nHost: b\"}", NULL, NULL, "", 0},
		{"{\"access_token\":7}", NULL, NULL, "", 0},
		{"[]", NULL, NULL, "", 0},
		{"null", NULL, NULL, "", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *answer = json_of(rows[i].answer);
		struct oauth_tokens tokens = {.access = NULL};
		char error[OAUTH_ERROR_SIZE] = "unset";

		assert_int_equal(oauth_answer_read(answer, &tokens, error), rows[i].access ? 0 : -1);
		assert_string_equal(error, rows[i].error);
		if (rows[i].access) {
			assert_string_equal(tokens.access, rows[i].access);
			assert_int_equal(tokens.expires_in, rows[i].expires_in);
			if (rows[i].refresh)
				assert_string_equal(tokens.refresh, rows[i].refresh);
			else
				assert_null(tokens.refresh);
		}
		oauth_tokens_release(&tokens);
		json_decref(answer);
	}
}

static void test_the_owner_of_a_token(void **state)
{
	const struct oauth_application hosted =
		application_of(VCS_PROVIDER_GITHUB, "https://github.com", "https://api.github.com");
	const struct oauth_application azure =
		application_of(VCS_PROVIDER_ADO_SERVICES, "https://dev.azure.com", "https://dev.azure.com");
	_cleanup_(freep) char *url = oauth_user_url(&hosted);
	_cleanup_(freep) char *azure_url = oauth_user_url(&azure);
	json_t *answer = json_of("{\"login\":\"ada\"}"), *hostile = json_of("{\"login\":\"a\\u0001\"}");
	_cleanup_(freep) char *name = oauth_user_name(&hosted, answer);

	(void)state;
	assert_string_equal(url, "https://api.github.com/user");
	assert_string_equal(azure_url, "https://app.vssps.visualstudio.com/_apis/profile/profiles/me?api-version=7.1");
	assert_string_equal(name, "ada");
	assert_null(oauth_user_name(&hosted, hostile));
	assert_null(oauth_user_name(&hosted, NULL));
	json_decref(answer);
	json_decref(hostile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_challenge_is_that_of_the_rfc),
		cmocka_unit_test(test_each_provider_has_its_page_of_consent),
		cmocka_unit_test(test_other_providers_have_none),
		cmocka_unit_test(test_the_application_logs_in_with_the_form),
		cmocka_unit_test(test_that_of_bitbucket_with_a_header),
		cmocka_unit_test(test_answers_are_read),
		cmocka_unit_test(test_the_owner_of_a_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
