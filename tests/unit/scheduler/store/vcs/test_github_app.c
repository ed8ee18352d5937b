/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"
#include "common/json/json.h"
#include "scheduler/store/vcs/github_app.h"

enum { NOW = 1767225600 };

static char folder[] = "/tmp/runyard-github-app-XXXXXX";

static char *path_of(const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

/* Runs openssl's own tool with paths in the test's folder. */
static int openssl(const char *arguments)
{
	_cleanup_(freep) char *command = mem_printf("cd %s && openssl %s >out 2>&1", folder, arguments);

	return system(command);
}

static char *file_read(const char *name)
{
	_cleanup_(freep) char *path = path_of(name);
	struct buf text = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;

	assert_int_equal(buf_read_file(&text, path, &err), 0);
	return buf_take(&text);
}

static void file_write(const char *name, const void *bytes, size_t len)
{
	_cleanup_(freep) char *path = path_of(name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static int folder_make(void **state)
{
	(void)state;
	return mkdtemp(folder) && openssl("genrsa -out key.pem 2048") == 0 &&
			openssl("rsa -in key.pem -pubout -out public.pem") == 0 &&
			openssl("genrsa -out small.pem 1024") == 0 &&
			openssl("rsa -in key.pem -aes128 -passout pass:secret -out locked.pem") == 0 &&
			openssl("ecparam -name prime256v1 -genkey -noout -out curve.pem") == 0
		? 0
		: -1;
}

static int folder_remove(void **state)
{
	_cleanup_(freep) char *command = mem_printf("rm -r %s", folder);

	(void)state;
	return system(command);
}

static struct github_app *app_open(const char *key_file, const char *url, const char *api_url, struct err *err)
{
	_cleanup_(freep) char *key = file_read(key_file);
	const struct github_app_settings settings = {.id = "4711",
		.key = key,
		.client_id = "",
		.client_secret = "",
		.webhook_secret = "",
		.url = url,
		.api_url = api_url};
	struct github_app *app = NULL;

	github_app_open(&settings, &app, err);
	return app;
}

static void part_decode(const char *text, size_t len, struct buf *ret_bytes)
{
	struct buf padded = BUF_INIT(1 << 16);

	buf_append(&padded, text, len);
	for (size_t i = 0; i < padded.len; i++)
		padded.data[i] = padded.data[i] == '-' ? '+' : padded.data[i] == '_' ? '/' : padded.data[i];
	while (padded.len % 4)
		buf_text(&padded, "=");
	assert_int_equal(crypto_base64_decode(buf_str(&padded), ret_bytes), 0);
	buf_release(&padded);
}

/* openssl's tool verifies the signature, and refuses that of a changed text. */
static void test_the_token_is_signed_with_the_key(void **state)
{
	struct err err = ERR_INIT;
	struct github_app *app = app_open("key.pem", "https://github.com", "", &err);
	_cleanup_(freep) char *jwt = github_app_jwt(app, NOW);
	const char *end = strrchr(jwt, '.');
	struct buf signature = BUF_INIT(1024);

	(void)state;
	part_decode(end + 1, strlen(end + 1), &signature);
	file_write("signature", signature.data, signature.len);
	file_write("text", jwt, (size_t)(end - jwt));
	assert_int_equal(openssl("dgst -sha256 -verify public.pem -signature signature text"), 0);
	file_write("text", jwt, (size_t)(end - jwt) - 1);
	assert_int_not_equal(openssl("dgst -sha256 -verify public.pem -signature signature text"), 0);
	buf_release(&signature);
	github_app_close(app);
}

static void test_the_claims_keep_to_githubs_limits(void **state)
{
	struct err err = ERR_INIT;
	struct github_app *app = app_open("key.pem", "https://github.com", "", &err);
	_cleanup_(freep) char *jwt = github_app_jwt(app, NOW);
	const char *dot = strchr(jwt, '.'), *end = strrchr(jwt, '.');
	struct buf head = BUF_INIT(1024), claims = BUF_INIT(1024);
	json_t *value;

	(void)state;
	part_decode(jwt, (size_t)(dot - jwt), &head);
	part_decode(dot + 1, (size_t)(end - dot - 1), &claims);
	assert_string_equal(buf_str(&head), "{\"alg\":\"RS256\",\"typ\":\"JWT\"}");
	value = json_of(buf_str(&claims));
	assert_string_equal(json_string_at(value, "iss"), "4711");
	assert_int_equal(json_int_at(value, "iat", 0), NOW - 60);
	assert_true(json_int_at(value, "exp", 0) > NOW);
	assert_true(json_int_at(value, "exp", 0) - json_int_at(value, "iat", 0) <= 600);
	json_decref(value);
	buf_release(&head);
	buf_release(&claims);
	github_app_close(app);
}

static void test_only_an_rsa_key_is_taken(void **state)
{
	static const char *const wrong[] = {"small.pem", "locked.pem", "curve.pem", "public.pem"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err err = ERR_INIT;

		assert_null(app_open(wrong[i], "https://github.com", "", &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.message, "--github-app-key-file"));
	}
}

static void test_the_api_address_follows_from_the_site(void **state)
{
	static const struct {
		const char *url, *api_url, *wanted;
	} rows[] = {
		{"https://github.com", "", "https://api.github.com"},
		{"https://git.example.com", "", "https://git.example.com/api/v3"},
		{"https://git.example.com", "https://api.example.com", "https://api.example.com"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct github_app *app = app_open("key.pem", rows[i].url, rows[i].api_url, &err);

		assert_string_equal(app->api_url, rows[i].wanted);
		github_app_close(app);
	}
}

static void test_no_id_is_no_app(void **state)
{
	const struct github_app_settings none = {"", "", "", "", "", "https://github.com", ""};
	const struct github_app_settings keyless = {"1", "", "", "", "", "https://github.com", ""};
	struct github_app *app = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(github_app_open(&none, &app, &err), 0);
	assert_null(app);
	assert_int_equal(github_app_open(&keyless, &app, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_token_is_signed_with_the_key),
		cmocka_unit_test(test_the_claims_keep_to_githubs_limits),
		cmocka_unit_test(test_only_an_rsa_key_is_taken),
		cmocka_unit_test(test_the_api_address_follows_from_the_site),
		cmocka_unit_test(test_no_id_is_no_app),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
