/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/providers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/crypto.h"
#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/packages/lockfile.h"
#include "worker/packages/packages.h"

enum { LOCKFILE_LIMIT = 1024 * 1024 };

#if defined(__aarch64__)
static const char platform[] = "linux_arm64";
#else
static const char platform[] = "linux_amd64";
#endif

static const char packages_folder[] = ".terraform/providers";
static const char verified_mark[] = "verified";

const char *providers_platform(void)
{
	return platform;
}

/* Empties the store unless it has this mark. Older workers, which took packages from jobs, did not write it. */
static int forget_unverified(int folder)
{
	if (faccessat(folder, verified_mark, F_OK, 0) == 0)
		return 0;
	return beneath_remove(folder, "mirror") < 0 || beneath_remove(folder, "store") < 0 ? -1 : 0;
}

int providers_open(const char *data_dir, struct providers *ret_providers, struct err *err)
{
	struct providers providers = {.path = mem_printf("%s/providers", data_dir), .folder = -1};

	mkdir(providers.path, 0755);
	providers.folder = open(providers.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (providers.folder < 0 || forget_unverified(providers.folder) < 0 ||
		beneath_mkdirs(providers.folder, "store") < 0 || beneath_mkdirs(providers.folder, "mirror") < 0 ||
		beneath_mkdirs(providers.folder, verified_mark) < 0) {
		err_errno(err, providers.path);
		providers_release(&providers);
		return -1;
	}
	*ret_providers = providers;
	return 0;
}

void providers_release(struct providers *providers)
{
	closep(&providers->folder);
	free(providers->path);
	*providers = (struct providers){.folder = -1};
}

/* ---- names in the store ---- */

/* Finds the store's package that the mirror has under that name: its 64 digits. -1: none. */
static int mirror_find(const struct providers *providers, const char *package, char ret_hex[PACKAGE_HEX_SIZE])
{
	_cleanup_(freep) char *path = mem_printf("mirror/%s", package);
	char target[PATH_MAX];
	ssize_t len = readlinkat(providers->folder, path, target, sizeof(target) - 1);
	const char *name;

	if (len < PACKAGE_HEX_SIZE)
		return -1;
	target[len] = '\0';
	name = target + len - (PACKAGE_HEX_SIZE - 1);
	if (name[-1] != '/' || strspn(name, "0123456789abcdef") != PACKAGE_HEX_SIZE - 1)
		return -1;
	text_copy(ret_hex, PACKAGE_HEX_SIZE, name);
	return 0;
}

/* Reads the lines of <hex>.hashes; nothing if the file was never written. */
static void hashes_read(const struct providers *providers, const char *hex, struct buf *out)
{
	_cleanup_(freep) char *path = mem_printf("store/%s.hashes", hex);
	struct err err = ERR_INIT;

	beneath_read(providers->folder, path, out, &err);
}

static bool hashes_meet(const char *lines, const struct locked_provider *locked)
{
	_cleanup_(freep) char *copy = mem_text(lines);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line && locked_has(locked, line))
			return true;
	return false;
}

/* ---- before init ---- */

/* The providers of `direct` come from their own registry, also if the site has a mirror. */
static int add_source(struct buf *out, const char *mirror, const char *direct)
{
	bool remote = text_starts(mirror, "https://") || text_starts(mirror, "http://");

	if (!*mirror)
		return buf_text(out, "  direct {}\n");
	if (buf_printf(out, "  %s = \"%s\"\n", remote ? "network_mirror {\n    url" : "filesystem_mirror {\n    path",
		    mirror) < 0 ||
		(remote && direct && buf_printf(out, "    exclude = [\"%s/*/*\"]\n", direct) < 0) ||
		buf_text(out, "  }\n") < 0)
		return -1;
	return direct ? buf_printf(out, "  direct {\n    include = [\"%s/*/*\"]\n  }\n", direct) : 0;
}

static int add_skipped(struct buf *out, const struct texts *skip)
{
	int status = buf_text(out, "    exclude = [");

	for (size_t i = 0; status == 0 && i < skip->count; i++)
		status = buf_printf(out, "%s\"%s\"", i ? ", " : "", skip->items[i]);
	return status < 0 ? -1 : buf_text(out, "]\n");
}

/* Adds the store, unless the sources are those of an installation. */
static int add_store(struct buf *out, const struct install_sources *sources)
{
	if (!sources->store)
		return 0;
	if (buf_printf(out, "  filesystem_mirror {\n    path = \"%s/mirror\"\n", sources->store) < 0)
		return -1;
	if (sources->skip && sources->skip->count && add_skipped(out, sources->skip) < 0)
		return -1;
	return buf_text(out, "  }\n");
}

static int add_own(struct buf *out, const char *own)
{
	return own ? buf_printf(out, "  filesystem_mirror {\n    path = \"%s\"\n  }\n", own) : 0;
}

int providers_cli_config(const struct install_sources *sources, struct buf *out)
{
	if (buf_text(out, "disable_checkpoint = true\nprovider_installation {\n") < 0 || add_store(out, sources) < 0 ||
		add_own(out, sources->own) < 0 || add_source(out, sources->mirror, sources->direct) < 0)
		return -1;
	return buf_text(out, "}\n");
}

/* The line to add to the lock file for this provider, or NULL. Adds an address that must be skipped to `skip`. */
static char *line_missing(const struct providers *providers, const struct locked_provider *locked, struct texts *skip)
{
	_cleanup_(freep) char *package =
		mem_printf("%s/%s/%s", locked->address, text_or_empty(locked->version), platform);
	_cleanup_(buf_release) struct buf known = BUF_INIT(LOCKFILE_LIMIT);
	_cleanup_(freep) char *hash = NULL;
	char hex[PACKAGE_HEX_SIZE];

	if (!locked->insert_at || locked->hash_count == 0 || mirror_find(providers, package, hex) < 0)
		return NULL;
	hash = hash_of_hex(hex);
	if (locked_has(locked, hash))
		return NULL;
	hashes_read(providers, hex, &known);
	if (hashes_meet(buf_str(&known), locked))
		return mem_printf("    \"%s\",\n", hash);
	if (!strpbrk(locked->address, "\"\\${%"))
		TEXTS_ADD(skip, locked->address);
	return NULL;
}

/* Makes the lock file's text with the missing lines added. True if there were any. */
static bool lockfile_completed(const struct providers *providers, const char *text, struct buf *out, struct texts *skip)
{
	struct lockfile lockfile;
	size_t done = 0;
	bool added = false;

	lockfile_read(text, &lockfile);
	for (size_t i = 0; i < lockfile.count; i++) {
		_cleanup_(freep) char *line = line_missing(providers, &lockfile.providers[i], skip);

		if (!line)
			continue;
		buf_append(out, text + done, lockfile.providers[i].insert_at - done);
		buf_text(out, line);
		done = lockfile.providers[i].insert_at;
		added = true;
	}
	lockfile_release(&lockfile);
	buf_text(out, text + done);
	return added;
}

int providers_fit_lockfile(const struct providers *providers, int folder, struct texts *skip, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(LOCKFILE_LIMIT);
	_cleanup_(buf_release) struct buf completed = BUF_INIT(4 * LOCKFILE_LIMIT);
	struct err absent = ERR_INIT;

	if (beneath_read(folder, LOCKFILE_NAME, &text, &absent) < 0)
		return 0;
	if (!lockfile_completed(providers, buf_str(&text), &completed, skip))
		return 0;
	return beneath_write(folder, LOCKFILE_NAME, 0644, buf_bytes(&completed), err);
}

/* ---- links of a job ---- */

static int package_link(int packages, const char *package, const char *target)
{
	if (beneath_parents(packages, package) < 0 || beneath_remove(packages, package) < 0)
		return -1;
	return symlinkat(target, packages, package);
}

/* False if the package's folder is missing or empty. */
static bool store_has(const struct providers *providers, const char *hex)
{
	_cleanup_(freep) char *path = mem_printf("store/%s", hex);
	_cleanup_(list_closep) DIR *list = beneath_list(providers->folder, path);

	return list && list_next(list);
}

/* Finds the verified package of that address and version. */
static bool verified_find(const struct providers *providers, const char *package, char ret_hex[PACKAGE_HEX_SIZE])
{
	return mirror_find(providers, package, ret_hex) == 0 && store_has(providers, ret_hex);
}

/* Finds a package of the organization whose hash the lock file names. Returns its path as the job sees it, or NULL. */
static char *own_place(const struct package_view *view, const struct locked_provider *locked)
{
	char hex[PACKAGE_HEX_SIZE];

	for (size_t i = 0; i < locked->hash_count; i++)
		if (hash_to_hex(locked->hashes[i], hex) == 0 && org_packages_use(view->own, view->user, hex))
			return mem_printf("%s/%s", view->own_seen, hex);
	return NULL;
}

/* ---- before init: packages of the organization ---- */

static int offer(const struct package_view *view, const struct locked_provider *locked, int root, const char *offers)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s/%s", locked->address, text_or_empty(locked->version), platform);
	_cleanup_(freep) char *link = mem_printf("%s/%s", offers, path);
	_cleanup_(package_release) struct package package = {.path = NULL};
	_cleanup_(freep) char *place = NULL;

	if (package_parse(path, &package) < 0 || !(place = own_place(view, locked)))
		return 0;
	return package_link(root, link, place) == 0;
}

int providers_offer_own(const struct package_view *view, int folder, int root, const char *offers)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(LOCKFILE_LIMIT);
	struct lockfile lockfile;
	struct err err = ERR_INIT;
	int count = 0;

	if (beneath_read(folder, LOCKFILE_NAME, &text, &err) < 0)
		return 0;
	lockfile_read(buf_str(&text), &lockfile);
	for (size_t i = 0; i < lockfile.count; i++)
		count += offer(view, &lockfile.providers[i], root, offers);
	lockfile_release(&lockfile);
	return count;
}

/* ---- after init ---- */

struct keeping {
	const struct package_view *view;
	const struct lockfile *lockfile;
	int packages; /* .terraform/providers of the job */
	struct package_list *unverified;
};

void package_list_release(struct package_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		package_release(&list->items[i]);
	free(list->items);
	*list = (struct package_list){.items = NULL};
}

static void list_add(struct package_list *list, const char *path)
{
	list->items = mem_resize(list->items, list->count + 1, sizeof(*list->items));
	if (package_parse(path, &list->items[list->count]) == 0)
		list->count++;
}

/* The hash of a package that the job installed, in hexadecimal; -1 if the lock file does not name it. */
static int package_hex(const struct lockfile *lockfile, const struct package *package, int fd, char *ret_hex)
{
	const struct locked_provider *locked = lockfile_find(lockfile, package->address, package->version);
	_cleanup_(freep) char *hash = NULL;
	struct err err = ERR_INIT;

	if (!locked || package_hash(fd, &hash, &err) < 0 || !locked_has(locked, hash))
		return -1;
	return hash_to_hex(hash, ret_hex);
}

static bool keep_package(void *data, const struct package *package, const char *link)
{
	struct keeping *keeping = data;
	const struct package_view *view = keeping->view;
	_cleanup_(closep) int fd =
		link ? -1 : beneath_open(keeping->packages, package->path, O_RDONLY | O_DIRECTORY, 0);
	char hex[PACKAGE_HEX_SIZE], verified[PACKAGE_HEX_SIZE];
	_cleanup_(freep) char *target = NULL;
	bool known;

	if (fd < 0 || package_hex(keeping->lockfile, package, fd, hex) < 0)
		return true;
	known = verified_find(view->verified, package->path, verified);
	if (known && text_equal(verified, hex)) {
		target = mem_printf("%s/store/%s", view->verified_seen, hex);
	} else {
		if (!known)
			list_add(keeping->unverified, package->path);
		if (org_packages_add(view->own, view->user, fd, hex) < 0)
			return true;
		target = mem_printf("%s/%s", view->own_seen, hex);
	}
	package_link(keeping->packages, package->path, target);
	return true;
}

/* Calls `each` for every package that init installed below a folder, with the folder's lock file. */
static void installed_each(int folder, bool (*each)(void *data, const struct package *package, const char *link),
	void *data, int *packages, const struct lockfile **lockfile)
{
	_cleanup_(closep) int found = beneath_open(folder, packages_folder, O_RDONLY | O_DIRECTORY, 0);
	_cleanup_(buf_release) struct buf text = BUF_INIT(LOCKFILE_LIMIT);
	struct lockfile read;
	struct err err = ERR_INIT;

	if (found < 0 || beneath_read(folder, LOCKFILE_NAME, &text, &err) < 0)
		return;
	lockfile_read(buf_str(&text), &read);
	*packages = found;
	*lockfile = &read;
	packages_each(found, each, data);
	lockfile_release(&read);
}

void providers_keep(const struct package_view *view, int folder, struct package_list *ret_unverified)
{
	struct keeping keeping = {.view = view, .packages = -1, .unverified = ret_unverified};

	installed_each(folder, keep_package, &keeping, &keeping.packages, &keeping.lockfile);
}

/* ---- after an installation of the worker's own ---- */

struct adoption {
	const struct providers *providers;
	const struct lockfile *lockfile;
	int packages;
	int count;
};

static int hashes_write(const struct providers *providers, const char *hex, const struct locked_provider *locked)
{
	_cleanup_(buf_release) struct buf lines = BUF_INIT(LOCKFILE_LIMIT);
	_cleanup_(freep) char *path = mem_printf("store/%s.hashes", hex);
	struct err err = ERR_INIT;

	for (size_t i = 0; i < locked->hash_count; i++)
		if (buf_printf(&lines, "%s\n", locked->hashes[i]) < 0)
			return -1;
	return beneath_write(providers->folder, path, 0644, buf_bytes(&lines), &err);
}

static int store_take(const struct adoption *adoption, const char *package, const char *hex)
{
	_cleanup_(freep) char *path = mem_printf("store/%s", hex);

	if (renameat(adoption->packages, package, adoption->providers->folder, path) == 0)
		return 0;
	return errno == ENOTEMPTY || errno == EEXIST ? 0 : -1;
}

static int mirror_publish(const struct providers *providers, const char *package, const char *hex)
{
	_cleanup_(freep) char *path = mem_printf("mirror/%s", package);
	_cleanup_(freep) char *target = mem_printf("../../../../../store/%s", hex);
	char old[PACKAGE_HEX_SIZE];

	if (beneath_parents(providers->folder, path) < 0)
		return -1;
	if (mirror_find(providers, package, old) == 0 && !store_has(providers, old))
		beneath_remove(providers->folder, path);
	return symlinkat(target, providers->folder, path) == 0 || errno == EEXIST ? 0 : -1;
}

static bool adopt_package(void *data, const struct package *package, const char *link)
{
	struct adoption *adoption = data;
	_cleanup_(closep) int fd =
		link ? -1 : beneath_open(adoption->packages, package->path, O_RDONLY | O_DIRECTORY, 0);
	char hex[PACKAGE_HEX_SIZE];

	if (fd < 0 || package_hex(adoption->lockfile, package, fd, hex) < 0)
		return true;
	if (hashes_write(adoption->providers, hex,
		    lockfile_find(adoption->lockfile, package->address, package->version)) == 0 &&
		store_take(adoption, package->path, hex) == 0 &&
		mirror_publish(adoption->providers, package->path, hex) == 0)
		adoption->count++;
	return true;
}

int providers_adopt(const struct providers *providers, int folder)
{
	struct adoption adoption = {.providers = providers, .packages = -1};

	installed_each(folder, adopt_package, &adoption, &adoption.packages, &adoption.lockfile);
	return adoption.count;
}

/* ---- instead of init ---- */

/* The path of the package as the job sees it, or NULL if the worker does not have it. */
static char *package_place(const struct package_view *view, const struct locked_provider *locked, const char *path)
{
	_cleanup_(freep) char *mirrored = mem_printf("%s/%s", view->mirror, path);
	_cleanup_(freep) char *hash = NULL;
	char hex[PACKAGE_HEX_SIZE];
	struct stat info;
	char *own;

	if (verified_find(view->verified, path, hex)) {
		hash = hash_of_hex(hex);
		if (locked_has(locked, hash))
			return mem_printf("%s/store/%s", view->verified_seen, hex);
	}
	own = own_place(view, locked);
	if (own)
		return own;
	if (*view->mirror == '/' && stat(mirrored, &info) == 0 && S_ISDIR(info.st_mode))
		return mem_text(mirrored);
	return NULL;
}

bool providers_link(const struct package_view *view, int folder, const char *path)
{
	_cleanup_(package_release) struct package package = {.path = NULL};
	_cleanup_(buf_release) struct buf text = BUF_INIT(LOCKFILE_LIMIT);
	_cleanup_(closep) int packages = -1;
	_cleanup_(freep) char *place = NULL;
	const struct locked_provider *locked;
	struct lockfile lockfile;
	struct err err = ERR_INIT;

	if (package_parse(path, &package) < 0 || beneath_read(folder, LOCKFILE_NAME, &text, &err) < 0)
		return false;
	lockfile_read(buf_str(&text), &lockfile);
	locked = lockfile_find(&lockfile, package.address, package.version);
	place = locked ? package_place(view, locked, path) : NULL;
	lockfile_release(&lockfile);
	if (!place || beneath_mkdirs(folder, packages_folder) < 0)
		return false;
	packages = beneath_open(folder, packages_folder, O_RDONLY | O_DIRECTORY, 0);
	return packages >= 0 && package_link(packages, path, place) == 0;
}
