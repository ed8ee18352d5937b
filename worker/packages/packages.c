/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/packages.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "common/crypto.h"
#include "common/err.h"
#include "worker/engine/variables.h"
#include "worker/exec/beneath.h"

enum { HASH_LIST_LIMIT = 16 * 1024 * 1024, MAX_FILES = 20000, MAX_DEPTH = 32 };

/* ---- names ---- */

int package_parse(const char *path, struct package *ret_package)
{
	const char *ends[PACKAGE_PARTS];
	const char *at = path;

	for (int i = 0; i < PACKAGE_PARTS; i++) {
		size_t len = strcspn(at, "/");

		if (len == 0 || at[0] == '.')
			return -1;
		ends[i] = at + len;
		if ((i < PACKAGE_PARTS - 1) != (*ends[i] == '/'))
			return -1;
		at = ends[i] + 1;
	}
	ret_package->path = mem_text(path);
	ret_package->address = mem_printf("%.*s", (int)(ends[2] - path), path);
	ret_package->version = mem_printf("%.*s", (int)(ends[3] - ends[2] - 1), ends[2] + 1);
	return 0;
}

void package_release(struct package *package)
{
	free(package->path);
	free(package->address);
	free(package->version);
	*package = (struct package){.path = NULL};
}

/* ---- walking ---- */

struct walk {
	bool (*each)(void *data, const struct package *package, const char *link);
	void *data;
};

static bool walk_folder(const struct walk *walk, DIR *opened, const char *path, int depth);

static bool walk_package(const struct walk *walk, int folder, const char *name, const char *path)
{
	_cleanup_(package_release) struct package package = {.path = NULL};
	char link[PATH_MAX];
	ssize_t len = readlinkat(folder, name, link, sizeof(link) - 1);

	if (package_parse(path, &package) < 0)
		return false;
	link[len > 0 ? len : 0] = '\0';
	return walk->each(walk->data, &package, len > 0 ? link : NULL);
}

static bool walk_entry(const struct walk *walk, int folder, const char *name, const char *path, int depth)
{
	_cleanup_(freep) char *below = mem_printf("%s%s%s", path, *path ? "/" : "", name);

	if (depth == PACKAGE_PARTS)
		return walk_package(walk, folder, name, below);
	return walk_folder(walk, beneath_list(folder, name), below, depth);
}

/* Takes the list; NULL: it is no folder. */
static bool walk_folder(const struct walk *walk, DIR *opened, const char *path, int depth)
{
	_cleanup_(list_closep) DIR *list = opened;
	bool going = list != NULL;
	const char *name;

	while (going && (name = list_next(list)))
		going = walk_entry(walk, dirfd(list), name, path, depth + 1);
	return going;
}

bool packages_each(int folder, bool (*each)(void *data, const struct package *package, const char *link), void *data)
{
	const struct walk walk = {.each = each, .data = data};
	DIR *list = beneath_list(folder, ".");

	return !list || walk_folder(&walk, list, "", 0);
}

/* ---- the hash ---- */

/* Collects the file names. The depth is limited because each level holds a descriptor. */
static int names_collect(int folder, const char *path, int depth, struct texts *names)
{
	_cleanup_(list_closep) DIR *list = beneath_list(folder, *path ? path : ".");
	int status = list && depth < MAX_DEPTH ? 0 : -1;
	const char *name;

	while (status == 0 && (name = list_next(list))) {
		_cleanup_(freep) char *below = mem_printf("%s%s%s", path, *path ? "/" : "", name);
		struct stat info;

		if (names->count >= MAX_FILES || fstatat(dirfd(list), name, &info, AT_SYMLINK_NOFOLLOW) < 0) {
			status = -1;
		} else if (S_ISDIR(info.st_mode)) {
			status = names_collect(folder, below, depth + 1, names);
		} else {
			TEXTS_ADD(names, below);
		}
	}
	return status;
}

static int names_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int file_digest(int folder, const char *name, char ret_hex[SHA256_HEX_SIZE])
{
	_cleanup_(closep) int fd = beneath_open(folder, name, O_RDONLY, 0);

	return fd < 0 ? -1 : crypto_sha256_file(fd, ret_hex);
}

int package_hash(int folder, char **ret_hash, struct err *err)
{
	_cleanup_(texts_release) struct texts names = {.items = NULL};
	_cleanup_(buf_release) struct buf list = BUF_INIT(HASH_LIST_LIMIT);
	_cleanup_(freep) char *base64 = NULL;
	unsigned char digest[32];
	char hex[SHA256_HEX_SIZE];

	if (names_collect(folder, "", 0, &names) < 0 || names.count == 0)
		return err_set(err, ERR_INTERNAL, "a provider's folder can't be read");
	qsort(names.items, names.count, sizeof(*names.items), names_order);
	for (size_t i = 0; i < names.count; i++) {
		if (file_digest(folder, names.items[i], hex) < 0)
			return err_errno(err, names.items[i]);
		if (buf_printf(&list, "%s  %s\n", hex, names.items[i]) < 0)
			return err_set(err, ERR_TOO_LARGE, "a provider has too many files");
	}
	if (!EVP_Digest(list.data, list.len, digest, NULL, EVP_sha256(), NULL))
		mem_out();
	base64 = crypto_base64(digest, sizeof(digest));
	*ret_hash = mem_printf("h1:%s", base64);
	return 0;
}

int hash_to_hex(const char *hash, char ret_hex[PACKAGE_HEX_SIZE])
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(64);

	if (!text_starts(hash, "h1:") || crypto_base64_decode(hash + 3, &bytes) < 0 || bytes.len != 32)
		return -1;
	crypto_hex(bytes.data, bytes.len, ret_hex);
	return 0;
}

char *hash_of_hex(const char *hex)
{
	unsigned char bytes[32];
	_cleanup_(freep) char *base64 = NULL;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	base64 = crypto_base64(bytes, sizeof(bytes));
	return mem_printf("h1:%s", base64);
}

/* ---- copies ---- */

int package_size(int folder, long long *ret_bytes)
{
	enum { BLOCK = 4096 };
	_cleanup_(texts_release) struct texts names = {.items = NULL};
	struct stat info;

	if (names_collect(folder, "", 0, &names) < 0)
		return -1;
	*ret_bytes = 0;
	for (size_t i = 0; i < names.count; i++) {
		if (fstatat(folder, names.items[i], &info, AT_SYMLINK_NOFOLLOW) < 0)
			return -1;
		*ret_bytes += info.st_size + BLOCK;
	}
	return 0;
}

static int copy_bytes(int from, int to)
{
	char chunk[65536];
	ssize_t got;

	while ((got = read(from, chunk, sizeof(chunk))) > 0)
		if (write_fully(to, chunk, (size_t)got) < 0)
			return -1;
	return (int)got;
}

static int copy_file(int from, int to, const char *name)
{
	_cleanup_(closep) int source = beneath_open(from, name, O_RDONLY, 0);
	_cleanup_(closep) int target = -1;
	struct stat info;

	if (source < 0 || fstat(source, &info) < 0 || beneath_parents(to, name) < 0)
		return -1;
	target = beneath_open(to, name, O_WRONLY | O_CREAT | O_EXCL, info.st_mode & S_IXUSR ? 0755 : 0644);
	return target < 0 ? -1 : copy_bytes(source, target);
}

int package_copy(int from, int to, struct err *err)
{
	_cleanup_(texts_release) struct texts names = {.items = NULL};

	if (names_collect(from, "", 0, &names) < 0)
		return err_set(err, ERR_INTERNAL, "the folder of a provider package can't be read");
	for (size_t i = 0; i < names.count; i++)
		if (copy_file(from, to, names.items[i]) < 0)
			return err_errno(err, names.items[i]);
	return 0;
}
