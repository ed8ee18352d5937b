/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/schema_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/packages/lockfile.h"

enum { MAX_KEPT = 64, ENTRY_FILES = 2, LOCKFILE_LIMIT = 1024 * 1024, LARGEST = 256 << 20 };

static const long long max_bytes = 1024LL << 20;

/* "<key>.json" has the schemas. "<key>.digest", which is written after it, has their SHA-256, followed by a "+" if they
 * include the built-in provider. */
struct schema_cache {
	int folder;
};

int schema_cache_open(const char *data_dir, struct schema_cache **ret_cache, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/schemas", data_dir);
	int folder = folder_make(path, false, err);

	if (folder < 0)
		return -1;
	*ret_cache = mem_new(1, sizeof(**ret_cache));
	(*ret_cache)->folder = folder;
	return 0;
}

void schema_cache_free(struct schema_cache *cache)
{
	if (cache)
		close(cache->folder);
	free(cache);
}

void schema_cache_key(const char *organization, const char *engine, int folder, char ret_key[SHA256_HEX_SIZE])
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(LOCKFILE_LIMIT + 1024);
	_cleanup_(buf_release) struct buf lock = BUF_INIT(LOCKFILE_LIMIT);
	struct err err = ERR_INIT;

	*ret_key = '\0';
	if (folder >= 0 && beneath_read(folder, LOCKFILE_NAME, &lock, &err) < 0 && err.kind != ERR_NOT_FOUND)
		return;
	buf_printf(&text, "%s %s\n%s", organization, engine, buf_str(&lock));
	crypto_sha256_hex(text.data, text.len, ret_key);
}

bool schemas_have_builtin(const char *text, size_t len)
{
	static const char name[] = "terraform.io/builtin/terraform";

	return memmem(text, len, name, sizeof(name) - 1) != NULL;
}

int schema_cache_file(const struct schema_cache *cache, const char *key)
{
	_cleanup_(freep) char *name = mem_printf("%s.json", key);

	return beneath_open(cache->folder, name, O_RDONLY, 0);
}

bool schema_cache_find(const struct schema_cache *cache, const char *key, struct kept_schemas *ret_kept)
{
	_cleanup_(freep) char *name = mem_printf("%s.digest", key);
	_cleanup_(buf_release) struct buf text = BUF_INIT(SHA256_HEX_SIZE + 1);
	struct err err = ERR_INIT;

	if (beneath_read(cache->folder, name, &text, &err) < 0 || text.len < SHA256_HEX_SIZE - 1)
		return false;
	text_copy(ret_kept->digest, SHA256_HEX_SIZE, buf_str(&text));
	ret_kept->builtin = buf_str(&text)[SHA256_HEX_SIZE - 1] == '+';
	return true;
}

/* Limits the cache: when it is full, removes all entries, which is rare and simple. */
static void make_room(const struct schema_cache *cache, size_t wanted)
{
	_cleanup_(list_closep) DIR *list = beneath_list(cache->folder, ".");
	long long bytes = (long long)wanted;
	const char *name;
	size_t files = 0;
	struct stat info;

	if (!list)
		return;
	for (; (name = list_next(list)); files++)
		if (fstatat(cache->folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += info.st_size;
	if (files + ENTRY_FILES <= (size_t)ENTRY_FILES * MAX_KEPT && bytes <= max_bytes)
		return;
	rewinddir(list);
	while ((name = list_next(list)))
		unlinkat(cache->folder, name, 0);
}

int schema_cache_keep(const struct schema_cache *cache, const char *key, int folder, const char *name,
	struct kept_schemas *ret_kept, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(LARGEST);
	_cleanup_(freep) char *kept_name = mem_printf("%s.json", key);
	_cleanup_(freep) char *digest_name = mem_printf("%s.digest", key);
	_cleanup_(freep) char *digest = NULL;

	if (!*key)
		return err_set(
			err, ERR_INVALID, "the lock file can't be read, or has more than %d bytes", LOCKFILE_LIMIT);
	if (beneath_read(folder, name, &text, err) < 0)
		return -1;
	make_room(cache, text.len);
	crypto_sha256_hex(buf_str(&text), text.len, ret_kept->digest);
	ret_kept->builtin = schemas_have_builtin(buf_str(&text), text.len);
	/* If the worker is killed after the rename, the next one must not find the earlier schemas' digest. */
	unlinkat(cache->folder, digest_name, 0);
	if (renameat(folder, name, cache->folder, kept_name) < 0)
		return err_errno(err, kept_name);
	digest = mem_printf("%s%s", ret_kept->digest, ret_kept->builtin ? "+" : "");
	return beneath_write(cache->folder, digest_name, 0600, text_bytes(digest), err);
}
