/* SPDX-License-Identifier: MPL-2.0 */
/* Provider packages: packages that jobs install stay within their organization, and verified ones are shared. */
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
#include "worker/packages/installer.h"
#include "worker/packages/lockfile.h"
#include "worker/packages/packages.h"
#include "worker/packages/providers.h"

#define ADDRESS "registry.example.com/acme/thing"

struct fixture {
	char path[64];
	int top;
	struct providers providers;
	char package[128]; /* with this machine's platform */
	char *hash;        /* of a package whose only file "p" holds "x" */
	struct org_packages *own;
	struct org_user *users[4]; /* of view_of */
	size_t user_count;
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
	assert_int_equal(org_packages_open(fixture->path, 1000 * 1000, &fixture->own, &err), 0);
	snprintf(fixture->package, sizeof(fixture->package), ADDRESS "/1.2.3/%s", providers_platform());
	assert_int_equal(beneath_write(fixture->top, "sample/p", 0644, text_bytes("x"), &err), 0);
	folder = beneath_open(fixture->top, "sample", O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(package_hash(folder, &fixture->hash, &err), 0);
	close(folder);
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < fixture->user_count; i++)
		org_packages_leave(fixture->own, fixture->users[i]);
	org_packages_free(fixture->own);
	providers_release(&fixture->providers);
	close(fixture->top);
	beneath_remove(AT_FDCWD, fixture->path);
	free(fixture->hash);
	free(fixture);
	return 0;
}

/* Creates a job's folder with a lock file of those hashes, and with the package as init leaves it. Returns its
 * descriptor. */
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
	assert_int_equal(beneath_write(folder, LOCKFILE_NAME, 0644, text_bytes(lock), &err), 0);
	return folder;
}

static int package_make(struct fixture *fixture, int folder, const char *content)
{
	_cleanup_(freep) char *file = mem_printf(".terraform/providers/%s/p", fixture->package);
	struct err err = ERR_INIT;

	return beneath_write(folder, file, 0644, text_bytes(content), &err);
}

static void the_hash_of_a_package_is_terraforms_h1(void **state)
{
	struct fixture *fixture = *state;

	/* printf '%s  p\n' "$(printf x | sha256sum | cut -d' ' -f1)" | openssl sha256 -binary | base64 */
	assert_string_equal(fixture->hash, "h1:6jz4n3j6gmeKw9xtDJdu3VLzO+aIh5r9LcJhHV3iF0A=");
}

static struct package_view view_of(struct fixture *fixture, const char *organization)
{
	struct org_user **user = &fixture->users[fixture->user_count++];
	struct err err = ERR_INIT;

	assert_int_equal(org_packages_enter(fixture->own, organization, user, &err), 0);
	return (struct package_view){.verified = &fixture->providers,
		.verified_seen = "/seen",
		.own = fixture->own,
		.user = *user,
		.own_seen = "/own",
		.mirror = ""};
}

/* The target of the job's link to the package; "" if it is not a link. */
static const char *link_of(struct fixture *fixture, int folder)
{
	static char target[256];
	_cleanup_(freep) char *link = mem_printf(".terraform/providers/%s", fixture->package);
	ssize_t len = readlinkat(folder, link, target, sizeof(target) - 1);

	target[len > 0 ? len : 0] = '\0';
	return target;
}

/* Keeps the packages that the job installed. Returns how many must be verified. */
static size_t keep(const struct package_view *view, int folder)
{
	_cleanup_(package_list_release) struct package_list list = {.items = NULL};

	providers_keep(view, folder, &list);
	return list.count;
}

static void packages_of_jobs_are_shared_only_in_their_organization(void **state)
{
	struct fixture *fixture = *state;
	struct package_view ours = view_of(fixture, "org-1"), theirs = view_of(fixture, "org-2");
	int first = job_make(fixture, "first", fixture->hash, "zh:1"),
	    second = job_make(fixture, "second", fixture->hash, "zh:1"),
	    third = job_make(fixture, "third", fixture->hash, "zh:1");
	char hex[PACKAGE_HEX_SIZE];
	_cleanup_(freep) char *target = NULL;

	assert_int_equal(hash_to_hex(fixture->hash, hex), 0);
	target = mem_printf("/own/%s", hex);
	assert_int_equal(package_make(fixture, first, "x"), 0);
	assert_int_equal(keep(&ours, first), 1);
	assert_string_equal(link_of(fixture, first), target);
	assert_int_equal(faccessat(fixture->top, "providers/mirror/registry.example.com", F_OK, 0), -1);
	assert_false(providers_link(&theirs, third, fixture->package));
	assert_true(providers_link(&ours, second, fixture->package));
	assert_string_equal(link_of(fixture, second), target);
	close(first);
	close(second);
	close(third);
}

static void verified_packages_are_shared_by_all_organizations(void **state)
{
	struct fixture *fixture = *state;
	struct package_view ours = view_of(fixture, "org-1"), theirs = view_of(fixture, "org-2");
	int installed = job_make(fixture, "installed", fixture->hash, "zh:1"),
	    first = job_make(fixture, "first", fixture->hash, "zh:1"),
	    second = job_make(fixture, "second", fixture->hash, "zh:1");

	assert_int_equal(package_make(fixture, installed, "x"), 0);
	assert_int_equal(package_make(fixture, first, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, installed), 1);
	assert_int_equal(keep(&ours, first), 0);
	assert_true(text_starts(link_of(fixture, first), "/seen/store/"));
	assert_true(providers_link(&theirs, second, fixture->package));
	assert_true(text_starts(link_of(fixture, second), "/seen/store/"));
	close(installed);
	close(first);
	close(second);
}

/* This holds even for a lock file that names it, before and after the genuine package is verified. */
static void an_unverified_package_of_the_same_version_is_not_shared(void **state)
{
	struct fixture *fixture = *state;
	struct package_view ours = view_of(fixture, "org-1"), theirs = view_of(fixture, "org-2");
	int planted = job_make(fixture, "planted", "h1:none", "zh:1"), package;
	_cleanup_(freep) char *folder = mem_printf(".terraform/providers/%s", fixture->package);
	_cleanup_(freep) char *hash = NULL;
	struct err err = ERR_INIT;
	int other, installed = job_make(fixture, "installed", fixture->hash, "zh:1");

	assert_int_equal(package_make(fixture, planted, "planted"), 0);
	package = beneath_open(planted, folder, O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(package_hash(package, &hash, &err), 0);
	close(package);
	close(planted);
	planted = job_make(fixture, "planted", hash, "zh:1");
	other = job_make(fixture, "other", hash, fixture->hash);
	assert_int_equal(keep(&ours, planted), 1);
	assert_true(text_starts(link_of(fixture, planted), "/own/"));
	assert_false(providers_link(&theirs, other, fixture->package));
	assert_int_equal(package_make(fixture, installed, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, installed), 1);
	assert_true(providers_link(&theirs, other, fixture->package));
	assert_true(text_starts(link_of(fixture, other), "/seen/store/"));
	close(planted);
	beneath_remove(fixture->top, "planted");
	planted = job_make(fixture, "planted", hash, "zh:1");
	assert_int_equal(package_make(fixture, planted, "planted"), 0);
	assert_int_equal(keep(&ours, planted), 0);
	close(planted);
	close(other);
	close(installed);
}

static void a_package_that_the_lock_file_does_not_name_is_not_kept(void **state)
{
	struct fixture *fixture = *state;
	struct package_view view = view_of(fixture, "org-1");
	int job = job_make(fixture, "job", fixture->hash, "zh:1");

	assert_int_equal(package_make(fixture, job, "something else"), 0);
	assert_int_equal(keep(&view, job), 0);
	assert_string_equal(link_of(fixture, job), "");
	assert_int_equal(providers_adopt(&fixture->providers, job), 0);
	close(job);
}

/* A job that kept a link to a file of its package changes only its own file. */
static void a_kept_package_is_a_copy(void **state)
{
	struct fixture *fixture = *state;
	struct package_view view = view_of(fixture, "org-1");
	int job = job_make(fixture, "job", fixture->hash, "zh:1");
	_cleanup_(freep) char *file = mem_printf(".terraform/providers/%s/p", fixture->package);
	_cleanup_(buf_release) struct buf text = BUF_INIT(100);
	char hex[PACKAGE_HEX_SIZE];
	struct err err = ERR_INIT;
	int own, fd;

	assert_int_equal(package_make(fixture, job, "x"), 0);
	assert_int_equal(linkat(job, file, job, "link", 0), 0);
	assert_int_equal(keep(&view, job), 1);
	fd = openat(job, "link", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "more", 4), 4);
	close(fd);
	assert_int_equal(hash_to_hex(fixture->hash, hex), 0);
	own = open(org_user_path(view.user), O_RDONLY | O_DIRECTORY);
	fd = beneath_open(own, hex, O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(beneath_read(fd, "p", &text, &err), 0);
	assert_string_equal(buf_str(&text), "x");
	close(fd);
	close(own);
	close(job);
}

static void a_job_is_offered_the_packages_of_its_lock_file(void **state)
{
	struct fixture *fixture = *state;
	struct package_view ours = view_of(fixture, "org-1"), theirs = view_of(fixture, "org-2");
	int job = job_make(fixture, "job", fixture->hash, "zh:1"),
	    other = job_make(fixture, "other", "h1:elsewhere", "zh:1");
	_cleanup_(freep) char *link = mem_printf("offers/%s", fixture->package);
	char target[256];

	assert_int_equal(package_make(fixture, job, "x"), 0);
	assert_int_equal(keep(&ours, job), 1);
	assert_int_equal(providers_offer_own(&ours, other, fixture->top, "offers"), 0);
	assert_int_equal(providers_offer_own(&theirs, job, fixture->top, "offers"), 0);
	assert_int_equal(faccessat(fixture->top, "offers", F_OK, 0), -1); /* no folder without a link */
	assert_int_equal(providers_offer_own(&ours, job, fixture->top, "offers"), 1);
	assert_true(readlinkat(fixture->top, link, target, sizeof(target)) > 0);
	close(job);
	close(other);
}

static void a_lock_file_of_another_platform_is_completed(void **state)
{
	struct fixture *fixture = *state;
	int job = job_make(fixture, "job", fixture->hash, "zh:1"),
	    other = job_make(fixture, "other", "h1:elsewhere", "zh:1"),
	    foreign = job_make(fixture, "foreign", "h1:elsewhere", "zh:2");
	_cleanup_(buf_release) struct buf text = BUF_INIT(4096);
	struct err err = ERR_INIT;
	_cleanup_(texts_release) struct texts skip = {.items = NULL};

	assert_int_equal(package_make(fixture, job, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, job), 1);
	assert_int_equal(providers_fit_lockfile(&fixture->providers, other, &skip, &err), 0);
	assert_int_equal(skip.count, 0);
	assert_int_equal(beneath_read(other, LOCKFILE_NAME, &text, &err), 0);
	assert_non_null(strstr(buf_str(&text), fixture->hash));
	assert_int_equal(providers_fit_lockfile(&fixture->providers, foreign, &skip, &err), 0);
	assert_string_equal(skip.items[0], ADDRESS);
	close(job);
	close(other);
	close(foreign);
}

static void only_packages_of_the_lock_file_are_linked(void **state)
{
	struct fixture *fixture = *state;
	struct package_view view = view_of(fixture, "org-1");
	int job = job_make(fixture, "job", fixture->hash, "zh:1"),
	    other = job_make(fixture, "other", "h1:elsewhere", "zh:1");

	assert_false(providers_link(&view, job, fixture->package));
	assert_int_equal(package_make(fixture, job, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, job), 1);
	assert_true(providers_link(&view, job, fixture->package));
	assert_false(providers_link(&view, other, fixture->package));
	assert_false(providers_link(&view, job, "../../x/1/linux_amd64"));
	close(job);
	close(other);
}

static void the_store_of_an_older_worker_is_emptied(void **state)
{
	struct fixture *fixture = *state;
	struct err err = ERR_INIT;
	int job = job_make(fixture, "job", fixture->hash, "zh:1");
	struct package_view view = view_of(fixture, "org-1");

	assert_int_equal(package_make(fixture, job, "x"), 0);
	assert_int_equal(providers_adopt(&fixture->providers, job), 1);
	providers_release(&fixture->providers);
	assert_int_equal(providers_open(fixture->path, &fixture->providers, &err), 0);
	assert_true(providers_link(&view, job, fixture->package));
	providers_release(&fixture->providers);
	assert_int_equal(unlinkat(fixture->top, "providers/verified", AT_REMOVEDIR), 0);
	assert_int_equal(providers_open(fixture->path, &fixture->providers, &err), 0);
	assert_false(providers_link(&view, job, fixture->package));
	close(job);
}

/* ---- the limit of kept packages ---- */

/* Creates a package of one file of that size, whose content depends on the name. Sets its digest. */
static void sized_package(struct fixture *fixture, const char *name, size_t size, char ret_hex[PACKAGE_HEX_SIZE])
{
	_cleanup_(freep) char *bytes = mem_new(size, 1);
	_cleanup_(freep) char *path = mem_printf("%s/p", name);
	_cleanup_(freep) char *hash = NULL;
	struct err err = ERR_INIT;
	int folder;

	memcpy(bytes, name, strlen(name));
	assert_int_equal(beneath_write(fixture->top, path, 0644, (struct bytes){bytes, size}, &err), 0);
	folder = beneath_open(fixture->top, name, O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(package_hash(folder, &hash, &err), 0);
	assert_int_equal(hash_to_hex(hash, ret_hex), 0);
	close(folder);
}

static int add(struct fixture *fixture, const struct org_user *user, const char *name, const char *hex)
{
	int folder = beneath_open(fixture->top, name, O_RDONLY | O_DIRECTORY, 0);
	int status = org_packages_add(fixture->own, user, folder, hex);

	close(folder);
	return status;
}

static void the_least_recently_used_package_is_evicted(void **state)
{
	enum { SIZE = 200 * 1000 };
	struct fixture *fixture = *state;
	const struct org_user *early = view_of(fixture, "org-1").user, *late;
	char a[PACKAGE_HEX_SIZE], b[PACKAGE_HEX_SIZE], c[PACKAGE_HEX_SIZE], large[PACKAGE_HEX_SIZE];
	struct err err = ERR_INIT;
	struct org_user *next;

	sized_package(fixture, "a", SIZE, a);
	sized_package(fixture, "b", SIZE, b);
	sized_package(fixture, "c", SIZE, c);
	sized_package(fixture, "large", 3 * SIZE, large);
	assert_int_equal(add(fixture, early, "a", a), 0);
	assert_int_equal(add(fixture, early, "b", b), 0);
	assert_int_equal(add(fixture, early, "c", c), -1); /* the other two are in use */
	assert_int_equal(add(fixture, early, "large", large), -1);
	assert_int_equal(add(fixture, early, "a", b), 0); /* it exists, so the copy is not read */
	org_packages_leave(fixture->own, fixture->users[0]);
	fixture->users[0] = NULL;
	assert_int_equal(org_packages_enter(fixture->own, "org-1", &next, &err), 0);
	fixture->users[fixture->user_count++] = next;
	late = next;
	assert_true(org_packages_use(fixture->own, late, a));
	assert_int_equal(add(fixture, late, "c", c), 0);
	assert_true(org_packages_use(fixture->own, late, a) && org_packages_use(fixture->own, late, c));
	assert_false(org_packages_use(fixture->own, late, b));
}

static void packages_do_not_evict_those_of_other_organizations(void **state)
{
	enum { SIZE = 200 * 1000 };
	struct fixture *fixture = *state;
	const struct org_user *ours = view_of(fixture, "org-1").user, *theirs = view_of(fixture, "org-2").user;
	char a[PACKAGE_HEX_SIZE], b[PACKAGE_HEX_SIZE], wrong[PACKAGE_HEX_SIZE] = "";

	sized_package(fixture, "a", SIZE, a);
	sized_package(fixture, "b", SIZE, b);
	assert_int_equal(add(fixture, ours, "a", a), 0);
	assert_int_equal(add(fixture, ours, "b", b), 0);
	assert_int_equal(add(fixture, theirs, "a", a), 0);
	assert_int_equal(add(fixture, theirs, "b", b), 0);
	assert_true(org_packages_use(fixture->own, ours, a) && org_packages_use(fixture->own, theirs, b));
	memset(wrong, '0', sizeof(wrong) - 1);
	assert_int_equal(add(fixture, theirs, "a", wrong), -1);
	assert_false(org_packages_use(fixture->own, theirs, wrong));
}

static void an_installation_accepts_only_an_exact_package(void **state)
{
	static const char *const wrong[][2] = {
		{"registry.example.com/acme/thing", "1.0.0\"\n}"},
		{"registry.example.com/acme/thing", "~> 1.0"},
		{"registry.example.com/acme/thing", ""},
		{"registry.example.com/acme/thing", "latest"},
		{"registry.example.com/acme", "1.0.0"},
		{"registry.example.com/acme/thing/more", "1.0.0"},
		{"registry.example.com/acme/${x}", "1.0.0"},
		{"registry.example.com/../thing", "1.0.0"},
		{"-x/acme/thing", "1.0.0"},
		{"registry.example.com//thing", "1.0.0"},
		{"", "1.0.0"},
	};
	_cleanup_(buf_release) struct buf text = BUF_INIT(4096);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(install_configuration(wrong[i][0], wrong[i][1], &text), -1);
	assert_int_equal(install_configuration("localhost:8443/acme_1/a-thing", "1.0.0-rc1+x", &text), 0);
	assert_non_null(strstr(buf_str(&text), "source  = \"localhost:8443/acme_1/a-thing\""));
	assert_non_null(strstr(buf_str(&text), "version = \"= 1.0.0-rc1+x\""));
}

static void the_cli_configuration_names_the_sources_in_order(void **state)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(4096), alone = BUF_INIT(4096);
	const struct texts skip = {.items = (char *[]){ADDRESS, NULL}, .count = 1};
	const struct install_sources sources = {
		.store = "/providers", .skip = &skip, .own = "/job/packages", .mirror = "https://mirror.example.com/"};
	const char *own;

	(void)state;
	assert_int_equal(providers_cli_config(&sources, &text), 0);
	assert_non_null(strstr(buf_str(&text), "path = \"/providers/mirror\"\n    exclude = [\"" ADDRESS "\"]"));
	own = strstr(buf_str(&text), "path = \"/job/packages\"");
	assert_non_null(own);
	assert_non_null(strstr(own, "network_mirror {\n    url = \"https://mirror.example.com/\""));
	assert_int_equal(providers_cli_config(&(struct install_sources){.mirror = ""}, &alone), 0);
	assert_null(strstr(buf_str(&alone), "filesystem_mirror"));
	assert_non_null(strstr(buf_str(&alone), "direct {}"));
}

static void a_private_host_is_asked_directly(void **state)
{
	_cleanup_(buf_release) struct buf remote = BUF_INIT(4096), folder = BUF_INIT(4096), none = BUF_INIT(4096);
	static const char direct[] = "  direct {\n    include = [\"example.com:80/*/*\"]\n  }\n";

	(void)state;
	providers_cli_config(
		&(struct install_sources){.mirror = "https://m.example.com/", .direct = "example.com:80"}, &remote);
	assert_non_null(strstr(buf_str(&remote),
		"network_mirror {\n    url = \"https://m.example.com/\"\n    exclude = [\"example.com:80/*/*\"]\n  "
		"}\n"));
	assert_non_null(strstr(buf_str(&remote), direct));
	providers_cli_config(&(struct install_sources){.mirror = "/mirror", .direct = "example.com:80"}, &folder);
	assert_non_null(strstr(buf_str(&folder), "filesystem_mirror {\n    path = \"/mirror\"\n  }\n"));
	assert_non_null(strstr(buf_str(&folder), direct));
	providers_cli_config(&(struct install_sources){.mirror = "", .direct = "example.com:80"}, &none);
	assert_non_null(strstr(buf_str(&none), "direct {}"));
	assert_null(strstr(buf_str(&none), "include"));
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
		cmocka_unit_test_setup_teardown(the_hash_of_a_package_is_terraforms_h1, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			packages_of_jobs_are_shared_only_in_their_organization, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			verified_packages_are_shared_by_all_organizations, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			an_unverified_package_of_the_same_version_is_not_shared, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			a_package_that_the_lock_file_does_not_name_is_not_kept, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(a_kept_package_is_a_copy, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			a_job_is_offered_the_packages_of_its_lock_file, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			a_lock_file_of_another_platform_is_completed, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(only_packages_of_the_lock_file_are_linked, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(the_store_of_an_older_worker_is_emptied, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(the_least_recently_used_package_is_evicted, fixture_make, fixture_end),
		cmocka_unit_test_setup_teardown(
			packages_do_not_evict_those_of_other_organizations, fixture_make, fixture_end),
		cmocka_unit_test(an_installation_accepts_only_an_exact_package),
		cmocka_unit_test(the_cli_configuration_names_the_sources_in_order),
		cmocka_unit_test(a_private_host_is_asked_directly),
		cmocka_unit_test(package_paths_have_five_plain_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
