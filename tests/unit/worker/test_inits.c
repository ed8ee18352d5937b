/* SPDX-License-Identifier: MPL-2.0 */
/* The cache of init results: keyed, bounded, and valid as long as the same init would give the same result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/engine/inits.h"
#include "worker/exec/beneath.h"
#include "worker/packages/pinned.h"

enum { AGES_MS = 1000 };

struct fixture {
	char path[64];
	int top;
	struct inits *inits;
};

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));
	struct err err = ERR_INIT;

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-inits-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	fixture->top = open(fixture->path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(beneath_write(fixture->top, "bundle", 0600, text_bytes("made"), &err), 0);
	assert_int_equal(inits_open(fixture->path, AGES_MS, &fixture->inits, &err), 0);
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	inits_free(fixture->inits);
	close(fixture->top);
	beneath_remove(AT_FDCWD, fixture->path);
	free(fixture);
	return 0;
}

static void keep(struct fixture *fixture, const char *key, long long size, enum init_life life)
{
	const struct init_made made = {.key = key, .digest = "digest", .size = size, .life = life};

	inits_keep(fixture->inits, &made, fixture->top, "bundle", 0);
}

static bool found(struct fixture *fixture, const char *key, int64_t now_ms)
{
	char digest[SHA256_HEX_SIZE] = "";
	int fd = inits_find(fixture->inits, key, now_ms, digest);

	if (fd < 0)
		return false;
	assert_string_equal(digest, "digest");
	close(fd);
	return true;
}

static void pinned_inits_are_kept_and_others_expire(void **state)
{
	struct fixture *fixture = *state;

	keep(fixture, "stays", 4, INIT_STAYS);
	keep(fixture, "ages", 4, INIT_AGES);
	keep(fixture, "moves", 4, INIT_MOVES);
	assert_true(found(fixture, "stays", AGES_MS * 1000LL));
	assert_true(found(fixture, "ages", AGES_MS));
	assert_false(found(fixture, "ages", AGES_MS + 1));
	assert_false(found(fixture, "ages", 0)); /* deleted, not hidden */
	assert_false(found(fixture, "moves", 0));
	inits_forget(fixture->inits, "stays");
	assert_false(found(fixture, "stays", 0));
}

static void a_key_that_is_no_longer_pinned_is_deleted(void **state)
{
	struct fixture *fixture = *state;

	keep(fixture, "one", 4, INIT_STAYS);
	keep(fixture, "one", 4, INIT_MOVES);
	assert_false(found(fixture, "one", 0));
}

static void the_least_recently_used_inits_are_evicted(void **state)
{
	struct fixture *fixture = *state;
	const long long much = 200 << 20;

	keep(fixture, "huge", 300 << 20, INIT_STAYS);
	assert_false(found(fixture, "huge", 0));
	keep(fixture, "first", much, INIT_STAYS);
	keep(fixture, "second", much, INIT_STAYS);
	assert_true(found(fixture, "first", 0));
	for (int i = 0; i < 4; i++) {
		_cleanup_(freep) char *key = mem_printf("more-%d", i);

		keep(fixture, key, much, INIT_STAYS);
	}
	assert_true(found(fixture, "first", 0));
	assert_false(found(fixture, "second", 0));
	for (int i = 0; i < 300; i++) {
		_cleanup_(freep) char *key = mem_printf("small-%d", i);

		keep(fixture, key, 1, INIT_STAYS);
	}
	assert_false(found(fixture, "first", 0));
	assert_false(found(fixture, "small-10", 0));
	assert_true(found(fixture, "small-299", 0));
}

static void a_deleted_file_is_not_found(void **state)
{
	struct fixture *fixture = *state;

	keep(fixture, "one", 4, INIT_STAYS);
	assert_int_equal(unlinkat(fixture->top, "inits/one.tar.gz", 0), 0);
	assert_false(found(fixture, "one", 0));
}

#define LOCK(version) "provider \"registry.example.com/acme/thing\" {\n  version = \"" version "\"\n}\n"
#define MODULES(source)                                                                                                \
	"{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},{\"Key\":\"m\",\"Source\":\"" source               \
	"\",\"Dir\":\".terraform/modules/m\"},{\"Key\":\"l\",\"Source\":\"../l\",\"Dir\":\"../l\"}]}"
#define CALL(source) "module \"m\" {\n  source = \"" source "\"\n}\n"
#define REGISTRY     "registry.terraform.io/acme/m/aws"
#define COMMIT       "git::https://example.com/m.git?ref=0123456789abcdef0123456789abcdef01234567"

static void put(struct fixture *fixture, const char *path, const char *text)
{
	struct err err = ERR_INIT;

	if (text)
		assert_int_equal(beneath_write(fixture->top, path, 0600, text_bytes(text), &err), 0);
}

static void the_lifetime_of_an_init_depends_on_lock_file_and_modules(void **state)
{
	static const struct {
		const char *modules, *lock, *before;
		const char *main, *module, *local; /* files of the configuration and of the two modules */
		enum init_life life;
	} cases[] = {
		{.life = INIT_STAYS},
		{.lock = LOCK("1.0.0"), .before = LOCK("1.0.0"), .life = INIT_STAYS},
		{.lock = LOCK("1.0.1"), .before = LOCK("1.0.0"), .life = INIT_AGES},
		{.lock = LOCK("1.0.1"), .life = INIT_AGES},
		{MODULES("./m"), .life = INIT_STAYS},
		{MODULES("../m"), .lock = LOCK("1.0.0"), .life = INIT_AGES},
		{MODULES(REGISTRY), .main = CALL("acme/m/aws"), .life = INIT_MOVES},
		{MODULES(COMMIT), .main = CALL(COMMIT), .life = INIT_MOVES}, /* the module is not found */
		{MODULES(COMMIT), .main = CALL(COMMIT), .module = "", .local = "", .life = INIT_STAYS},
		{MODULES(COMMIT), .main = CALL(COMMIT), .module = CALL("./x"), .local = "", .life = INIT_STAYS},
		{MODULES(COMMIT), .main = CALL(COMMIT), .module = CALL("acme/n/aws"), .local = "", .life = INIT_MOVES},
		{MODULES(COMMIT), .main = CALL(COMMIT), .module = "", .local = CALL("acme/n/aws"), .life = INIT_MOVES},
		{MODULES(COMMIT), .main = "module {", .module = "", .local = "", .life = INIT_MOVES},
		{MODULES("/m"), .main = CALL("/m"), .module = "", .local = "", .life = INIT_MOVES},
		{"not JSON", .life = INIT_MOVES},
		{"{}", .life = INIT_MOVES},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		beneath_remove(fixture->top, "config");
		put(fixture, "config/work/.terraform/modules/modules.json", cases[i].modules);
		put(fixture, "config/work/.terraform.lock.hcl", cases[i].lock);
		put(fixture, "config/work/main.tf", cases[i].main);
		put(fixture, "config/work/.terraform/modules/m/main.tf", cases[i].module);
		put(fixture, "config/l/main.tf", cases[i].local);
		assert_int_equal(init_life(fixture->top, "config/work", cases[i].before), cases[i].life);
	}
}

static void local_modules_exact_versions_and_commits_are_pinned(void **state)
{
	static const struct {
		const char *source, *version;
		bool pinned;
	} cases[] = {
		{"./m", NULL, true},
		{"../../m", NULL, true},
		{"acme/m/aws", "1.2.3", true},
		{"acme/m/aws//sub", "= 1.2.3-beta.1", true},
		{"acme/m/aws", "~> 1.2", false},
		{"acme/m/aws", ">= 1.2.3, < 2", false},
		{"acme/m/aws", "!= 1.2.3", false},
		{"acme/m/aws", "", false},
		{"acme/m/aws", NULL, false},
		{COMMIT, NULL, true},
		{COMMIT "&depth=1", NULL, true},
		{COMMIT "f", NULL, false},
		{"git::https://example.com/m.git?ref=v1.0.0", NULL, false},
		{"git::https://example.com/m.git", NULL, false},
		{"git::https://example.com/m.git?href=0123456789abcdef0123456789abcdef01234567", NULL, false},
		{"https://example.com/m.zip", NULL, false},
		{"./${var.m}", NULL, false},
		{NULL, "1.2.3", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(module_is_pinned(cases[i].source, cases[i].version), cases[i].pinned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pinned_inits_are_kept_and_others_expire, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(a_key_that_is_no_longer_pinned_is_deleted, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(the_least_recently_used_inits_are_evicted, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(a_deleted_file_is_not_found, fixture_make, fixture_end),
		cmocka_unit_test(local_modules_exact_versions_and_commits_are_pinned),
		cmocka_unit_test_setup_teardown(
			the_lifetime_of_an_init_depends_on_lock_file_and_modules, fixture_make, fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
