/* SPDX-License-Identifier: MPL-2.0 */
/* The provider cache: packages are taken over once, lock files fitted to it, and links made only for what may be used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/exec/lockfile.h"
#include "worker/exec/packages.h"
#include "worker/exec/providers.h"

#define ADDRESS "registry.example.com/acme/thing"

struct fixture {
	char path[64];
	int top;
	struct providers providers;
	char package[128]; /* with this machine's platform */
	char *hash;        /* of a package whose only file "p" holds "x" */
};

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));
	struct err err = ERR_INIT;
	int folder;

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-providers-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	fixture->top = open(fixture->path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(providers_open(fixture->path, &fixture->providers, &err), 0);
	snprintf(fixture->package, sizeof(fixture->package), ADDRESS "/1.2.3/%s", providers_platform());
	assert_int_equal(beneath_write(fixture->top, "sample/p", 0644, "x", 1, &err), 0);
	folder = beneath_open(fixture->top, "sample", O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(package_hash(folder, &fixture->hash, &err), 0);
	close(folder);
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	providers_release(&fixture->providers);
	close(fixture->top);
	beneath_remove(AT_FDCWD, fixture->path);
	free(fixture->hash);
	free(fixture);
	return 0;
}

/* A job's folder with a lock file of those hashes, and the package as init would have left it. Its descriptor. */
static int job_make(struct fixture *fixture, const char *name, const char *first, const char *second)
{
	_cleanup_(freep) char *lock =
		mem_printf("provider \"" ADDRESS "\" {\n  version     = \"1.2.3\"\n  constraints = \"1.2.3\"\n"
			   "  hashes = [\n    \"%s\",\n    \"%s\",\n  ]\n}\n",
			first, second);
	struct err err = ERR_INIT;
	int folder;

	mkdirat(fixture->top, name, 0700);
	folder = beneath_open(fixture->top, name, O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(beneath_write(folder, LOCKFILE_NAME, 0644, lock, strlen(lock), &err), 0);
	return folder;
}

static int package_make(struct fixture *fixture, int folder, const char *content)
{
	_cleanup_(freep) char *file = mem_printf(".terraform/providers/%s/p", fixture->package);
	struct err err = ERR_INIT;

	return beneath_write(folder, file, 0644, content, strlen(content), &err);
}

static void a_hash_is_terraforms(void **state)
{
	struct fixture *fixture = *state;

	/* printf '%s  p\n' "$(printf x | sha256sum | cut -d' ' -f1)" | openssl sha256 -binary | base64 */
	assert_string_equal(fixture->hash, "h1:6jz4n3j6gmeKw9xtDJdu3VLzO+aIh5r9LcJhHV3iF0A=");
}

static void a_package_is_taken_over_once(void **state)
{
	struct fixture *fixture = *state;
	int first = job_make(fixture, "first", fixture->hash, "zh:1"),
	    second = job_make(fixture, "second", fixture->hash, "zh:1");
	_cleanup_(freep) char *link = mem_printf(".terraform/providers/%s", fixture->package);
	char target[256] = "", again[256] = "";

	assert_int_equal(package_make(fixture, first, "x"), 0);
	assert_int_equal(package_make(fixture, second, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, first, "/seen"), 1);
	assert_int_equal(providers_adopt(&fixture->providers, second, "/seen"), 1);
	assert_true(readlinkat(first, link, target, sizeof(target) - 1) > 0);
	assert_true(readlinkat(second, link, again, sizeof(again) - 1) > 0);
	assert_string_equal(target, again);
	assert_true(text_starts(target, "/seen/store/"));
	close(first);
	close(second);
}

static void a_package_that_the_lock_file_does_not_know_is_left(void **state)
{
	struct fixture *fixture = *state;
	int job = job_make(fixture, "job", fixture->hash, "zh:1");

	assert_int_equal(package_make(fixture, job, "something else"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, job, "/seen"), 0);
	close(job);
}

static void a_lock_file_of_another_platform_is_completed(void **state)
{
	struct fixture *fixture = *state;
	int job = job_make(fixture, "job", fixture->hash, "zh:1"),
	    other = job_make(fixture, "other", "h1:elsewhere", "zh:1"),
	    foreign = job_make(fixture, "foreign", "h1:elsewhere", "zh:2");
	_cleanup_(buf_release) struct buf text = BUF_INIT(4096);
	struct err err = ERR_INIT;
	char **skip = NULL;

	assert_int_equal(package_make(fixture, job, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, job, "/seen"), 1);
	assert_int_equal(providers_fit_lockfile(&fixture->providers, other, &skip, &err), 0);
	assert_null(skip);
	assert_int_equal(beneath_read(other, LOCKFILE_NAME, &text, &err), 0);
	assert_non_null(strstr(buf_str(&text), fixture->hash));
	assert_int_equal(providers_fit_lockfile(&fixture->providers, foreign, &skip, &err), 0);
	assert_string_equal(skip[0], ADDRESS);
	providers_skip_free(skip);
	close(job);
	close(other);
	close(foreign);
}

static void a_link_is_made_only_to_what_the_lock_file_allows(void **state)
{
	struct fixture *fixture = *state;
	int job = job_make(fixture, "job", fixture->hash, "zh:1"),
	    other = job_make(fixture, "other", "h1:elsewhere", "zh:1");

	assert_false(providers_link(&fixture->providers, job, "/seen", "", fixture->package));
	assert_int_equal(package_make(fixture, job, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, job, "/seen"), 1);
	assert_true(providers_link(&fixture->providers, job, "/seen", "", fixture->package));
	assert_false(providers_link(&fixture->providers, other, "/seen", "", fixture->package));
	assert_false(providers_link(&fixture->providers, job, "/seen", "", "../../x/1/linux_amd64"));
	close(job);
	close(other);
}

static void the_cli_configuration_names_the_sources_in_order(void **state)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(4096);
	char *skip[] = {ADDRESS, NULL};

	(void)state;
	assert_int_equal(providers_cli_config("/providers", "https://mirror.example.com/", skip, &text), 0);
	assert_non_null(strstr(buf_str(&text), "path = \"/providers/mirror\"\n    exclude = [\"" ADDRESS "\"]"));
	assert_non_null(strstr(buf_str(&text), "network_mirror {\n    url = \"https://mirror.example.com/\""));
}

static void package_paths_have_five_plain_parts(void **state)
{
	static const char *const wrong[] = {"", "a/b/c/d", "a/b/c/d/e/f", "a//c/d/e", "a/../c/d/e", "/b/c/d/e"};
	struct package package;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(package_parse(wrong[i], &package), -1);
	assert_int_equal(package_parse("h/n/t/1.0.0/linux_amd64", &package), 0);
	assert_string_equal(package.address, "h/n/t");
	assert_string_equal(package.version, "1.0.0");
	package_release(&package);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_hash_is_terraforms, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(a_package_is_taken_over_once, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			a_package_that_the_lock_file_does_not_know_is_left, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			a_lock_file_of_another_platform_is_completed, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			a_link_is_made_only_to_what_the_lock_file_allows, fixture_make, fixture_end),
		cmocka_unit_test(the_cli_configuration_names_the_sources_in_order),
		cmocka_unit_test(package_paths_have_five_plain_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
