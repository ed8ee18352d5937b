/* SPDX-License-Identifier: MPL-2.0 */
/* Dynamic credentials: checks of configurations, the files and the environment of each kind, the order for
 * runyard-vault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "worker/identity/credentials.h"
#include "worker/identity/vault_order.h"

#define TOKEN "\"token\":\"a.b.c\""
#define VAULT                                                                                                          \
	"\"kind\":\"vault\"," TOKEN                                                                                    \
	",\"address\":\"https://v/\",\"namespace\":\"n\",\"auth-path\":\"jwt\",\"role\":\"r\","                        \
	"\"encoded-ca-certificate\":\"\""

static const struct credential_paths paths = {.own = "/job/credentials", .stable = "../credentials"};

/* Reads an array of the members of configurations. */
static int read_all(const char *text, json_t **ret_credentials, struct err *err)
{
	json_auto_t *claimed = json_of(text);

	*err = (struct err)ERR_INIT;
	assert_true(json_is_array(claimed));
	return credentials_read(claimed, "run-AAAAAAAAAAAAAAAA", ret_credentials, err);
}

static json_t *read_good(const char *text)
{
	json_t *credentials = NULL;
	struct err err;

	if (read_all(text, &credentials, &err) < 0)
		fail_msg("%s", err.message);
	return credentials;
}

static void assert_refused(const char *text, const char *word)
{
	json_t *credentials = NULL;
	struct err err;

	assert_int_equal(read_all(text, &credentials, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	if (!strstr(err.message, word))
		fail_msg("%s: %s", text, err.message);
}

/* ---- checks ---- */

static void no_credentials_are_fine(void **state)
{
	json_t *credentials = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(credentials_read(NULL, "run-A", &credentials, &err), 0);
	assert_int_equal(json_array_size(credentials), 0);
	assert_false(vault_needed(credentials));
	json_decref(credentials);
}

static void values_are_checked(void **state)
{
	static const struct {
		const char *text, *word;
	} cases[] = {
		{"[{\"kind\":\"aws\"," TOKEN "}]", "aws can't be used: role-arn is missing"},
		{"[{\"kind\":\"aws\"," TOKEN ",\"role-arn\":5}]", "role-arn is missing"},
		{"[{\"kind\":\"aws\"," TOKEN ",\"role-arn\":\"a\\nb = c\"}]", "role-arn has"},
		{"[{\"kind\":\"aws\"," TOKEN ",\"role-arn\":\"a # b\"}]", "role-arn has"},
		{"[{\"kind\":\"aws\",\"role-arn\":\"a\"}]", "token is missing"},
		{"[{\"kind\":\"aws\",\"token\":\"a b\",\"role-arn\":\"a\"}]", "token is not"},
		{"[{\"kind\":\"aws\",\"tag\":\"../x\"," TOKEN ",\"role-arn\":\"a\"}]", "tag"},
		{"[{\"kind\":\"aws\",\"tag\":\"a/b\"," TOKEN ",\"role-arn\":\"a\"}]", "tag"},
		{"[{\"kind\":\"../aws\"," TOKEN "}]", "does not know"},
		{"[{}]", "does not know"},
		{"[5]", "does not know"},
		{"[{\"kind\":\"kubernetes\"," TOKEN "},{\"kind\":\"kubernetes\"," TOKEN "}]", "twice"},
		{"[{\"kind\":\"azure\"," TOKEN ",\"client-id\":\"a\\u007f\"}]", "client-id"},
		{"[{\"kind\":\"gcp\"," TOKEN ",\"audience\":\"//x\",\"service-account\":\"a/b@c\"}]",
			"service-account"},
		{"[{\"kind\":\"gcp\"," TOKEN ",\"audience\":\"//x\\\"\",\"service-account\":\"\"}]", "audience"},
		{"[{" VAULT ",\"client-timeout\":\"0\"}]", "client-timeout is not a number from 1 to 3600"},
		{"[{" VAULT ",\"client-timeout\":\"3601\"}]", "client-timeout"},
		{"[{" VAULT ",\"client-timeout\":\"5s\"}]", "client-timeout"},
		{"[{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a\",\"role\":\"r\"}]", "missing"},
		{"[{" VAULT "},{\"kind\":\"vault-backed-azure\",\"vault\":\"X\",\"mount-path\":\"a\",\"role\":\"r\"}]",
			"the Vault configuration that it names is missing"},
		{"[{" VAULT "},{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a/../b\",\"role\":\"r\"}]",
			"mount-path"},
		{"[{" VAULT "},{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a//b\",\"role\":\"r\"}]",
			"mount-path"},
		{"[{" VAULT "},{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a\",\"role\":\"..\"}]", "role"},
		{"[{" VAULT "},{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a\",\"role\":\".\"}]", "role"},
		{"[{" VAULT "},{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a\",\"role\":\"a/b\"}]", "role"},
		{"[{" VAULT "},{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a\",\"role\":\"%2e%2e\"}]", "role"},
		{"[{" VAULT
		 "},{\"kind\":\"vault-backed-azure\",\"mount-path\":\"a\",\"role\":\"r\",\"sleep-seconds\":\"1501\"}]",
			"sleep-seconds"},
		{"[{" VAULT
		 "},{\"kind\":\"vault-backed-aws\",\"auth-type\":\"root\",\"mount-path\":\"a\",\"role\":\"r\"}]",
			"auth-type"},
		{"[{" VAULT
		 "},{\"kind\":\"vault-backed-gcp\",\"auth-type\":\"roleset/x\",\"mount-path\":\"a\",\"role\":\"r\"}]",
			"auth-type"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_refused(cases[i].text, cases[i].word);
}

static void addresses_of_vaults_are_checked(void **state)
{
	static const char *const bad[] = {"file:///etc/passwd", "https://", "http://a b", "https://user:pw@v",
		"https://v?x", "https://v#x", "https://v/\\u000ax", "ftp://v", "https://v/%2e%2e", "-https://v"};
	static const char *const good[] = {"https://v", "http://127.0.0.1:8200", "https://[::1]:8200/prefix/"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(freep) char *text = mem_printf("[{\"kind\":\"vault\"," TOKEN
							 ",\"address\":\"%s\",\"auth-path\":\"jwt\",\"role\":\"r\"}]",
			bad[i]);

		assert_refused(text, "address");
	}
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		_cleanup_(freep) char *text = mem_printf("[{\"kind\":\"vault\"," TOKEN
							 ",\"address\":\"%s\",\"auth-path\":\"jwt\",\"role\":\"r\"}]",
			good[i]);

		json_decref(read_good(text));
	}
}

static void their_number_and_size_are_limited(void **state)
{
	json_auto_t *claimed = json_array();
	json_t *credentials = NULL;
	struct err err = ERR_INIT;
	char long_name[MAX_CREDENTIAL_VALUE + 2];

	(void)state;
	for (int i = 0; i <= MAX_CREDENTIALS; i++) {
		char tag[16];

		snprintf(tag, sizeof(tag), "T%d", i);
		json_array_append_new(claimed, json_pack("{ss ss ss}", "kind", "kubernetes", "tag", tag, "token", "a"));
	}
	assert_int_equal(credentials_read(claimed, "run-A", &credentials, &err), -1);
	json_array_remove(claimed, MAX_CREDENTIALS);
	assert_int_equal(credentials_read(claimed, "run-A", &credentials, &err), 0);
	json_decref(credentials);
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	json_array_clear(claimed);
	json_array_append_new(claimed, json_pack("{ss ss ss}", "kind", "azure", "token", "a", "client-id", long_name));
	assert_int_equal(credentials_read(claimed, "run-A", &credentials, &err), -1);
}

/* ---- files and environment ---- */

struct found {
	char text[64 * 1024]; /* "path|content|" of each file */
};

static int file_note(void *data, const char *path, struct bytes content, struct err *err)
{
	struct found *found = data;
	size_t len = strlen(found->text);

	(void)err;
	snprintf(found->text + len, sizeof(found->text) - len, "%s|%.*s|", path, (int)content.len,
		(const char *)content.data);
	return 0;
}

static void assert_files(const json_t *credentials, const char *expected)
{
	struct found found = {.text = ""};
	struct err err = ERR_INIT;

	assert_int_equal(credentials_files(credentials, &paths, file_note, &found, &err), 0);
	assert_string_equal(found.text, expected);
}

static const char *env_of(const struct texts *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->count; i++)
		if (strncmp(env->items[i], name, len) == 0 && env->items[i][len] == '=')
			return env->items[i] + len + 1;
	return NULL;
}

static void tags_have_files_of_their_own(void **state)
{
	json_auto_t *credentials = read_good(
		"[{\"kind\":\"kubernetes\"," TOKEN "},{\"kind\":\"kubernetes\",\"tag\":\"default\",\"token\":\"d\"}]");
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	struct err err = ERR_INIT;

	(void)state;
	texts_add(&env, "KUBE_TOKEN=of the workspace");
	assert_files(credentials, "kubernetes/default/token|a.b.c|kubernetes/aliases/default/token|d|");
	assert_int_equal(credentials_environment(credentials, &paths, NULL, &env, &err), 0);
	assert_int_equal(env.count, 2);
	assert_string_equal(env_of(&env, "KUBE_TOKEN"), "a.b.c");
	assert_string_equal(env_of(&env, "TF_VAR_tfc_kubernetes_dynamic_credentials"),
		"{default={token_path=\"../credentials/kubernetes/default/token\"},"
		"aliases={\"default\"={token_path=\"../credentials/kubernetes/aliases/default/token\"}}}");
}

static void an_apply_has_ephemeral_variables_alone(void **state)
{
	json_auto_t *credentials =
		read_good("[{\"kind\":\"kubernetes\"," TOKEN "},{\"kind\":\"hcp\"," TOKEN ",\"resource-name\":\"x\"}]");
	json_auto_t *only = json_pack("{sb}", "tfc_hcp_dynamic_credentials", 1);
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(credentials_environment(credentials, &paths, only, &env, &err), 0);
	assert_int_equal(env.count, 3);
	assert_non_null(env_of(&env, "TF_VAR_tfc_hcp_dynamic_credentials"));
	assert_non_null(env_of(&env, "KUBE_TOKEN"));
	assert_non_null(env_of(&env, "HCP_CRED_FILE"));
}

static void a_missing_default_is_empty(void **state)
{
	json_auto_t *credentials = read_good(
		"[{\"kind\":\"tencentcloud\",\"tag\":\"A\"," TOKEN ",\"role-arn\":\"qcs::cam::uin/1:roleName/r\"}]");
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(credentials_environment(credentials, &paths, NULL, &env, &err), 0);
	assert_int_equal(env.count, 1);
	assert_string_equal(env_of(&env, "TF_VAR_tfc_tencentcloud_dynamic_credentials"),
		"{default={token_file=\"\",role_arn=\"\"},aliases={\"A\"={token_file=\"../credentials/tencentcloud/"
		"aliases/A/token\",role_arn=\"qcs::cam::uin/1:roleName/r\"}}}");
}

static void aws_has_a_shared_configuration(void **state)
{
	json_auto_t *credentials = read_good("[{\"kind\":\"aws\"," TOKEN ",\"role-arn\":\"arn:aws:iam::1:role/x\"}]");

	(void)state;
	assert_files(credentials,
		"aws/default/token|a.b.c|aws/default/config|[default]\n"
		"web_identity_token_file = /job/credentials/aws/default/token\nrole_arn = arn:aws:iam::1:role/x\n"
		"role_session_name = terraform-run-AAAAAAAAAAAAAAAA\n|");
}

static void texts_are_escaped(void **state)
{
	json_auto_t *credentials =
		read_good("[{\"kind\":\"hcp\"," TOKEN ",\"resource-name\":\"a\\\"b\\\\c${d}\"},{" VAULT "}]");
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	struct err err = ERR_INIT;

	(void)state;
	json_object_set_new(json_array_get(credentials, 1), "namespace", json_string("${x}\"%{y}"));
	assert_files(credentials,
		"hcp/default/token|a.b.c|hcp/default/credentials.json|{\"scheme\":\"workload\",\"workload\":{"
		"\"provider_resource_name\":\"a\\\"b\\\\c${d}\",\"file\":{\"path\":\"/job/credentials/hcp/default/"
		"token\"}}}|");
	assert_int_equal(credentials_environment(credentials, &paths, NULL, &env, &err), 0);
	assert_string_equal(env_of(&env, "TF_VAR_tfc_vault_dynamic_credentials"),
		"{default={token_filename=\"\",address=\"https://v/"
		"\",namespace=\"$${x}\\\"%%{y}\",ca_cert_file=\"\"},aliases={}}");
}

static void a_variable_has_a_limit(void **state)
{
	json_auto_t *claimed = json_array();
	json_auto_t *credentials = NULL;
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	char name[8000];
	struct err err = ERR_INIT;

	(void)state;
	memset(name, '"', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 10; i++) {
		char tag[16];

		snprintf(tag, sizeof(tag), "T%d", i);
		json_array_append_new(claimed,
			json_pack("{ss ss ss ss ss ss ss}", "kind", "vault", "tag", tag, "token", "a", "address",
				"http://v", "namespace", name, "auth-path", "jwt", "role", "r"));
	}
	assert_int_equal(credentials_read(claimed, "run-A", &credentials, &err), 0);
	assert_int_equal(credentials_environment(credentials, &paths, NULL, &env, &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
}

/* ---- Vault ---- */

static void assert_order(const char *configurations, const char *expected)
{
	json_auto_t *credentials = read_good(configurations);
	json_auto_t *order = vault_order(credentials);
	_cleanup_(freep) char *text = json_text(json_object_get(order, "secrets"));

	assert_true(vault_needed(credentials));
	assert_string_equal(text, expected);
}

#define BACKED(kind, more) "[{" VAULT "},{\"kind\":\"vault-backed-" kind "\",\"role\":\"r?s\"," more "}]"
#define READ(kind, path)   "[{\"id\":1,\"title\":\"vault-backed-" kind "\",\"vault\":0,\"path\":\"" path "\"}]"

static void secrets_are_read_by_kind(void **state)
{
	(void)state;
	assert_order(BACKED("aws", "\"mount-path\":\"/a b/c/\",\"auth-type\":\"iam_user\",\"role-arn\":\"arn:x\""),
		READ("aws", "a%20b/c/creds/r%3Fs"));
	assert_order(BACKED("aws", "\"mount-path\":\"aws\",\"auth-type\":\"assumed_role\",\"role-arn\":\"arn:x/y\""),
		READ("aws", "aws/sts/r%3Fs?role_arn=arn%3Ax%2Fy"));
	assert_order(BACKED("aws", "\"mount-path\":\"aws\",\"auth-type\":\"federation_token\",\"role-arn\":\"arn:x\""),
		READ("aws", "aws/sts/r%3Fs"));
	assert_order(BACKED("azure", "\"mount-path\":\"azure\""), READ("azure", "azure/creds/r%3Fs"));
	assert_order(BACKED("gcp", "\"mount-path\":\"gcp\",\"auth-type\":\"roleset/access_token\""),
		READ("gcp", "gcp/roleset/r%3Fs/token"));
	assert_order(BACKED("gcp", "\"mount-path\":\"gcp\",\"auth-type\":\"static_account/service_account_key\""),
		READ("gcp", "gcp/static-account/r%3Fs/key"));
}

static void the_order_has_the_logins(void **state)
{
	json_auto_t *credentials = read_good("[{\"kind\":\"kubernetes\"," TOKEN "},{" VAULT "}]");
	json_auto_t *order = vault_order(credentials);
	_cleanup_(freep) char *text = json_text(order);

	(void)state;
	assert_string_equal(text,
		"{\"vaults\":[{\"id\":1,\"title\":\"vault\",\"address\":\"https://"
		"v\",\"namespace\":\"n\",\"login\":\"auth/jwt/"
		"login\",\"role\":\"r\",\"jwt\":\"a.b.c\",\"ca\":\"\",\"timeout\":60}],\"secrets\":[],\"sleep\":0}");
}

static void a_vault_has_the_time_that_its_variable_gives(void **state)
{
	json_auto_t *credentials = read_good("[{" VAULT ",\"client-timeout\":\"300\"}]");
	json_auto_t *order = vault_order(credentials);

	(void)state;
	assert_int_equal(json_int_at(json_array_get(json_object_get(order, "vaults"), 0), "timeout", 0), 300);
}

static int take(const json_t *credentials, const char *event)
{
	json_auto_t *parsed = json_of(event);
	struct err err = ERR_INIT;

	return vault_take(credentials, parsed, &err);
}

static void events_are_taken(void **state)
{
	json_auto_t *credentials = read_good(BACKED("aws", "\"mount-path\":\"aws\",\"auth-type\":\"iam_user\""));

	(void)state;
	assert_false(vault_complete(credentials));
	assert_int_equal(take(credentials, "{\"vault\":0,\"token\":\"hvs.x\"}"), 0);
	assert_false(vault_complete(credentials));
	assert_int_equal(
		take(credentials, "{\"secret\":1,\"data\":{\"access_key\":\"A\",\"secret_key\":\"s/+=\"}}"), 0);
	assert_true(vault_complete(credentials));
	assert_files(credentials,
		"vault/default/token|hvs.x|vault-backed-aws/default/credentials|[default]\naws_access_key_id = A\n"
		"aws_secret_access_key = s/+=\n|");
}

/* Also of a program that a hostile server has taken over. */
static void hostile_events_are_refused(void **state)
{
	static const char *const bad[] = {"{\"vault\":0}", "{\"vault\":0,\"token\":\"a\\nb\"}",
		"{\"vault\":1,\"token\":\"x\"}", "{\"secret\":0,\"data\":{}}", "{\"secret\":1,\"data\":{}}",
		"{\"secret\":1}", "{\"secret\":1,\"data\":[]}",
		"{\"secret\":1,\"data\":{\"access_key\":\"A\\nregion = x\",\"secret_key\":\"s\"}}",
		"{\"secret\":1,\"data\":{\"access_key\":{},\"secret_key\":\"s\"}}"};
	static const char *const ignored[] = {"{\"vault\":7,\"token\":\"x\"}", "{\"vault\":-1,\"token\":\"x\"}",
		"{\"vault\":\"0\",\"token\":\"x\"}", "{}", "[]", "{\"secret\":99999999999999,\"data\":{}}"};
	json_auto_t *credentials = read_good(BACKED("aws", "\"mount-path\":\"aws\",\"auth-type\":\"iam_user\""));

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(take(credentials, bad[i]), -1);
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		assert_int_equal(take(credentials, ignored[i]), 0);
	assert_false(vault_complete(credentials));
}

static void count_secret(void *data, const char *secret)
{
	size_t *total = data;

	*total += strlen(secret);
}

static void keys_of_gcp_are_secret_in_all_forms(void **state)
{
	static const char key[] = "{\"private_key\":\"-----BEGIN\\nabc\\n\"}";
	json_auto_t *credentials =
		read_good(BACKED("gcp", "\"mount-path\":\"gcp\",\"auth-type\":\"roleset/service_account_key\""));
	_cleanup_(freep) char *encoded = crypto_base64(key, strlen(key));
	_cleanup_(freep) char *event = mem_printf("{\"secret\":1,\"data\":{\"private_key_data\":\"%s\"}}", encoded);
	size_t total = 0;

	(void)state;
	assert_int_equal(take(credentials, "{\"secret\":1,\"data\":{\"private_key_data\":\"bm8=\"}}"), -1);
	assert_int_equal(take(credentials, "{\"secret\":1,\"data\":{\"token\":\"x\"}}"), -1);
	assert_int_equal(take(credentials, event), 0);
	credentials_secrets(credentials, count_secret, &total);
	assert_int_equal(total, strlen("a.b.c") + strlen(encoded) + strlen("-----BEGIN\nabc\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_credentials_are_fine),
		cmocka_unit_test(values_are_checked),
		cmocka_unit_test(addresses_of_vaults_are_checked),
		cmocka_unit_test(their_number_and_size_are_limited),
		cmocka_unit_test(tags_have_files_of_their_own),
		cmocka_unit_test(an_apply_has_ephemeral_variables_alone),
		cmocka_unit_test(a_missing_default_is_empty),
		cmocka_unit_test(aws_has_a_shared_configuration),
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(a_variable_has_a_limit),
		cmocka_unit_test(secrets_are_read_by_kind),
		cmocka_unit_test(the_order_has_the_logins),
		cmocka_unit_test(a_vault_has_the_time_that_its_variable_gives),
		cmocka_unit_test(events_are_taken),
		cmocka_unit_test(hostile_events_are_refused),
		cmocka_unit_test(keys_of_gcp_are_secret_in_all_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
