/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/mirror/folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/crypto.h"
#include "common/err.h"
#include "common/http/httpd.h"
#include "scheduler/api/registry/mirror/unpacked.h"
#include "scheduler/api/registry/mirror/within.h"

/* MAX_ENTRIES: of one folder that are read. MAX_HASHES: a provider has about ten packages of each version. */
enum { MAX_ENTRIES = 20000, MAX_HASHES = 4096, MAX_HASH = 80 };
#define ARCHIVE_LIMIT (2ll << 30)

static struct {
	const char *path; /* NULL: there is no mirror */
	pthread_mutex_t hashing;
	pthread_mutex_t mutex; /* protects the rest */
	struct hash {
		uint64_t of; /* name, size and time of a package; 0: none */
		char text[MAX_HASH];
	} hashes[MAX_HASHES];
	size_t next;
} mirror = {.hashing = PTHREAD_MUTEX_INITIALIZER, .mutex = PTHREAD_MUTEX_INITIALIZER};

static int mirror_open(void)
{
	return mirror.path ? open(mirror.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

int mirror_init(const char *path, struct err *err)
{
	_cleanup_(closep) int folder = -1;

	if (!*path)
		return 0;
	mirror.path = path;
	folder = mirror_open();
	if (folder < 0) {
		err_errno(err, path);
		return err_context(err, "--provider-mirror-dir");
	}
	return 0;
}

/* The provider's folder, or -1. */
static int provider_open(const struct provider_address *address, struct err *err)
{
	_cleanup_(closep) int folder = provider_address_valid(address) ? mirror_open() : -1;
	_cleanup_(freep) char *path = mem_printf("%s/%s/%s", address->host, address->namespace, address->type);
	int found = folder < 0 ? -1 : within_open(folder, path, NULL);

	return found < 0 ? err_set(err, ERR_NOT_FOUND, "provider not found") : found;
}

/* Opens the package's archive. -1: it has none. */
static int archive_open(int provider, const char *file, struct stat *ret_info)
{
	int fd = within_open(provider, file, ret_info);

	if (fd < 0 || (S_ISREG(ret_info->st_mode) && ret_info->st_size > 0 && ret_info->st_size <= ARCHIVE_LIMIT))
		return fd;
	close(fd);
	return -1;
}

/* ---- hashes ---- */

static bool hash_known(uint64_t of, char ret_hash[MAX_HASH])
{
	bool found = false;

	pthread_mutex_lock(&mirror.mutex);
	for (size_t i = 0; i < MAX_HASHES && !found; i++) {
		found = mirror.hashes[i].of == of;
		if (found)
			text_copy(ret_hash, MAX_HASH, mirror.hashes[i].text);
	}
	pthread_mutex_unlock(&mirror.mutex);
	return found;
}

static void hash_keep(uint64_t of, const char *text)
{
	struct hash *hash;

	pthread_mutex_lock(&mirror.mutex);
	hash = &mirror.hashes[mirror.next++ % MAX_HASHES];
	hash->of = of;
	text_copy(hash->text, MAX_HASH, text);
	pthread_mutex_unlock(&mirror.mutex);
}

/* Either the archive, or the package if that is not NULL. */
static char *hash_make(int archive, const struct unpacked *package)
{
	char hex[SHA256_HEX_SIZE];

	if (package)
		return unpacked_hash(package);
	return crypto_sha256_file(archive, hex) < 0 ? NULL : mem_printf("zh:%s", hex);
}

/* One package is hashed at a time, so that many requests at once read it only once. */
static int hash_find(uint64_t of, int archive, const struct unpacked *package, char ret_hash[MAX_HASH])
{
	_cleanup_(freep) char *made = NULL;

	if (hash_known(of, ret_hash))
		return 0;
	pthread_mutex_lock(&mirror.hashing);
	if (!hash_known(of, ret_hash) && (made = hash_make(archive, package))) {
		hash_keep(of, made);
		text_copy(ret_hash, MAX_HASH, made);
	}
	pthread_mutex_unlock(&mirror.hashing);
	return *ret_hash ? 0 : -1;
}

/* ---- versions ---- */

int mirror_versions(const struct provider_address *address, json_t **ret_versions, struct err *err)
{
	_cleanup_(closep) int provider = provider_open(address, err);
	_cleanup_(within_closep) DIR *list = provider < 0 ? NULL : within_list(provider, ".");
	json_auto_t *versions = json_object();
	const char *name;

	for (int i = 0; list && i < MAX_ENTRIES && (name = within_next(list)); i++) {
		struct package_name package;

		if (package_name_parse(address->type, name, &package) == 0) {
			json_object_set_new(versions, package.version, json_object());
		} else if (provider_version_valid(name)) {
			_cleanup_(within_closep) DIR *platforms = within_list(provider, name);

			if (platforms)
				json_object_set_new(versions, name, json_object());
		}
	}
	if (!json_object_size(versions))
		return err_set(err, ERR_NOT_FOUND, "provider not found");
	*ret_versions = json_incref(versions);
	return 0;
}

/* ---- the packages of a version ---- */

struct archives {
	const struct provider_address *address;
	int provider;
	json_t *found;
};

static void archive_add(const struct archives *archives, const struct package_name *name, const char *hash)
{
	_cleanup_(freep) char *file = package_name_file(archives->address->type, name);

	json_object_set_new(archives->found, name->platform, json_pack("{ss s[s]}", "url", file, "hashes", hash));
}

static void add_packed(const struct archives *archives, const struct package_name *name)
{
	_cleanup_(freep) char *file = package_name_file(archives->address->type, name);
	struct stat info;
	_cleanup_(closep) int archive = archive_open(archives->provider, file, &info);
	_cleanup_(freep) char *mark = NULL;
	char hash[MAX_HASH] = "";

	if (archive < 0)
		return;
	mark = mem_printf("%s %lld %lld %lld %lld", file, (long long)info.st_ino, (long long)info.st_size,
		(long long)info.st_mtim.tv_sec, (long long)info.st_mtim.tv_nsec);
	if (hash_find(text_hash(TEXT_HASH, mark), archive, NULL, hash) == 0)
		archive_add(archives, name, hash);
}

static void add_unpacked(const struct archives *archives, const struct package_name *name)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", name->version, name->platform);
	_cleanup_(unpacked_freep) struct unpacked *package = unpacked_open(archives->provider, path);
	char hash[MAX_HASH] = "";

	if (package && hash_find(text_hash(unpacked_mark(package), path), -1, package, hash) == 0)
		archive_add(archives, name, hash);
}

/* An archive replaces the unpacked package of the same platform. */
static void archives_find(const struct archives *archives, const char *version)
{
	_cleanup_(within_closep) DIR *files = within_list(archives->provider, ".");
	_cleanup_(within_closep) DIR *platforms = within_list(archives->provider, version);
	const char *entry;
	struct package_name name;

	text_copy(name.version, sizeof(name.version), version);
	for (int i = 0; platforms && i < MAX_ENTRIES && (entry = within_next(platforms)); i++) {
		text_copy(name.platform, sizeof(name.platform), entry);
		if (provider_platform_valid(entry))
			add_unpacked(archives, &name);
	}
	for (int i = 0; files && i < MAX_ENTRIES && (entry = within_next(files)); i++)
		if (package_name_parse(archives->address->type, entry, &name) == 0 && text_equal(name.version, version))
			add_packed(archives, &name);
}

int mirror_archives(const struct provider_address *address, const char *version, json_t **ret_archives, struct err *err)
{
	_cleanup_(closep) int provider = provider_open(address, err);
	json_auto_t *found = json_object();
	const struct archives archives = {address, provider, found};

	if (provider < 0)
		return -1;
	if (provider_version_valid(version))
		archives_find(&archives, version);
	if (!json_object_size(found))
		return err_set(err, ERR_NOT_FOUND, "provider not found");
	*ret_archives = json_incref(found);
	return 0;
}

/* ---- downloads ---- */

struct archive {
	int fd;
};

static size_t archive_read(void *data, uint64_t position, char *bytes, size_t max)
{
	const struct archive *archive = data;
	ssize_t len = pread(archive->fd, bytes, max, (off_t)position);

	return len > 0 ? (size_t)len : 0;
}

static void archive_release(void *data)
{
	struct archive *archive = data;

	close(archive->fd);
	free(archive);
}

int mirror_send(const struct provider_address *address, const struct package_name *name, struct http_source *ret_source,
	struct err *err)
{
	_cleanup_(closep) int provider = provider_open(address, err);
	_cleanup_(freep) char *file = package_name_file(address->type, name);
	_cleanup_(freep) char *path = mem_printf("%s/%s", name->version, name->platform);
	struct unpacked *package;
	struct archive *archive;
	struct stat info;
	int fd;

	if (provider < 0)
		return -1;
	fd = archive_open(provider, file, &info);
	package = fd < 0 ? unpacked_open(provider, path) : NULL;
	if (package) {
		unpacked_send(package, ret_source);
		return 0;
	}
	if (fd < 0)
		return err_set(err, ERR_NOT_FOUND, "provider not found");
	archive = mem_new(1, sizeof(*archive));
	archive->fd = fd;
	*ret_source = (struct http_source){
		.size = (uint64_t)info.st_size, .read = archive_read, .release = archive_release, .data = archive};
	return 0;
}
