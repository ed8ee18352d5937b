/* SPDX-License-Identifier: MPL-2.0 */
/* The cache of provider schemas: keyed by organization, engine and lock file, and bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/engine/schema_cache.h"
#include "worker/exec/beneath.h"
#include "worker/packages/lockfile.h"

struct fixture {
	char path[64];
	int top;
	struct schema_cache *cache;
};

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));
	struct err err = ERR_INIT;

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-schemas-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	fixture->top = open(fixture->path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(schema_cache_open(fixture->path, &fixture->cache, &err), 0);
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	schema_cache_free(fixture->cache);
	close(fixture->top);
	beneath_remove(AT_FDCWD, fixture->path);
	free(fixture);
	return 0;
}

static void put(struct fixture *fixture, const char *path, const char *text)
{
	struct err err = ERR_INIT;

	assert_int_equal(beneath_write(fixture->top, path, 0600, text_bytes(text), &err), 0);
}

/* A file of that size that takes no space. */
static void put_large(struct fixture *fixture, const char *path, off_t size)
{
	int fd;

	put(fixture, path, "");
	fd = beneath_open(fixture->top, path, O_WRONLY, 0);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

static int keep(struct fixture *fixture, const char *key, struct err *err)
{
	struct kept_schemas kept;

	return schema_cache_keep(fixture->cache, key, fixture->top, "made", &kept, err);
}

static void keep_text(struct fixture *fixture, const char *key, const char *text)
{
	struct err err = ERR_INIT;

	put(fixture, "made", text);
	assert_int_equal(keep(fixture, key, &err), 0);
}

static bool found(struct fixture *fixture, const char *key)
{
	struct kept_schemas kept;
	int fd = schema_cache_file(fixture->cache, key);

	if (fd >= 0)
		close(fd);
	return schema_cache_find(fixture->cache, key, &kept) && fd >= 0;
}

static void kept_schemas_are_found_with_their_digest(void **state)
{
	struct fixture *fixture = *state;
	struct kept_schemas kept;
	char digest[SHA256_HEX_SIZE];

	assert_false(found(fixture, "one"));
	keep_text(fixture, "one", "{}");
	keep_text(fixture, "two", "{\"terraform.io/builtin/terraform\":{}}");
	assert_true(found(fixture, "one"));
	crypto_sha256_hex("{}", 2, digest);
	assert_true(schema_cache_find(fixture->cache, "one", &kept));
	assert_string_equal(kept.digest, digest);
	assert_false(kept.builtin);
	assert_true(schema_cache_find(fixture->cache, "two", &kept));
	assert_true(kept.builtin);
}

static void assert_own_key(const char *organization, const char *engine, int folder, const char *other)
{
	char key[SHA256_HEX_SIZE];

	schema_cache_key(organization, engine, folder, key);
	assert_string_not_equal(key, other);
}

static void each_organization_engine_and_lock_file_has_its_own_key(void **state)
{
	struct fixture *fixture = *state;
	char key[SHA256_HEX_SIZE], same[SHA256_HEX_SIZE];

	put(fixture, LOCKFILE_NAME, "provider \"one\" {}\n");
	schema_cache_key("org-1", "terraform 1.12.0", fixture->top, key);
	schema_cache_key("org-1", "terraform 1.12.0", fixture->top, same);
	assert_string_equal(key, same);
	assert_own_key("org-2", "terraform 1.12.0", fixture->top, key);
	assert_own_key("org-1", "tofu 1.12.0", fixture->top, key);
	assert_own_key("org-1", "terraform 1.12.0", -1, key);
	put(fixture, LOCKFILE_NAME, "provider \"two\" {}\n");
	assert_own_key("org-1", "terraform 1.12.0", fixture->top, key);
}

static void a_lock_file_that_can_not_be_read_has_no_key(void **state)
{
	struct fixture *fixture = *state;
	char key[SHA256_HEX_SIZE];
	struct err err = ERR_INIT;

	put(fixture, "made", "{}");
	put_large(fixture, LOCKFILE_NAME, (1 << 20) + 1);
	schema_cache_key("org-1", "terraform 1.12.0", fixture->top, key);
	assert_string_equal(key, "");
	assert_int_equal(beneath_remove(fixture->top, LOCKFILE_NAME), 0);
	put(fixture, LOCKFILE_NAME "/file", "");
	schema_cache_key("org-1", "terraform 1.12.0", fixture->top, key);
	assert_string_equal(key, "");
	assert_int_equal(keep(fixture, key, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_false(found(fixture, key));
}

/* A worker that is killed after it has moved the schemas has not written their digest yet. Here they can't be moved. */
static void new_schemas_are_not_found_with_an_earlier_digest(void **state)
{
	struct fixture *fixture = *state;
	struct kept_schemas kept;
	struct err err = ERR_INIT;

	keep_text(fixture, "one", "{}");
	assert_int_equal(beneath_remove(fixture->top, "schemas/one.json"), 0);
	put(fixture, "schemas/one.json/file", "");
	put(fixture, "made", "{\"a\":1}");
	assert_int_equal(keep(fixture, "one", &err), -1);
	assert_false(schema_cache_find(fixture->cache, "one", &kept));
}

static void schemas_that_are_too_large_are_not_kept(void **state)
{
	struct fixture *fixture = *state;
	struct err err = ERR_INIT;

	keep_text(fixture, "one", "{}");
	put_large(fixture, "made", (256 << 20) + 1);
	assert_int_equal(keep(fixture, "two", &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
	assert_false(found(fixture, "two"));
	assert_true(found(fixture, "one"));
}

static void the_bytes_of_all_schemas_are_bounded(void **state)
{
	struct fixture *fixture = *state;

	keep_text(fixture, "one", "{}");
	put_large(fixture, "schemas/large.json", 1000 << 20);
	keep_text(fixture, "two", "{}");
	assert_true(found(fixture, "one"));
	put_large(fixture, "schemas/larger.json", 24 << 20);
	keep_text(fixture, "three", "{}");
	assert_false(found(fixture, "one") || found(fixture, "two"));
	assert_int_equal(faccessat(fixture->top, "schemas/large.json", F_OK, 0), -1);
	assert_true(found(fixture, "three"));
}

static void the_number_of_schemas_is_bounded(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 64; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		keep_text(fixture, key, "{}");
	}
	assert_true(found(fixture, "0"));
	keep_text(fixture, "last", "{}");
	assert_false(found(fixture, "0"));
	assert_true(found(fixture, "last"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kept_schemas_are_found_with_their_digest, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			each_organization_engine_and_lock_file_has_its_own_key, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(a_lock_file_that_can_not_be_read_has_no_key, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			new_schemas_are_not_found_with_an_earlier_digest, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(schemas_that_are_too_large_are_not_kept, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(the_bytes_of_all_schemas_are_bounded, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(the_number_of_schemas_is_bounded, fixture_make, fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
