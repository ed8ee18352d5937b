/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/lockfile.h"

#include <string.h>

/* The text between the first two quotes of the line, as a new text; NULL if there are none. */
static char *quoted(const char *line, size_t len)
{
	const char *begin = memchr(line, '"', len);
	const char *end = begin ? memchr(begin + 1, '"', len - (size_t)(begin + 1 - line)) : NULL;

	return end ? mem_printf("%.*s", (int)(end - begin - 1), begin + 1) : NULL;
}

static void provider_begin(struct lockfile *lockfile, char *address)
{
	lockfile->providers = mem_resize(lockfile->providers, lockfile->count + 1, sizeof(*lockfile->providers));
	lockfile->providers[lockfile->count++] = (struct locked_provider){.address = address};
}

static void hash_add(struct locked_provider *provider, char *hash)
{
	provider->hashes = mem_resize(provider->hashes, provider->hash_count + 1, sizeof(*provider->hashes));
	provider->hashes[provider->hash_count++] = hash;
}

/* Parses one line without its leading blanks. `after` is the offset of the next line in the text. */
static void line_read(struct lockfile *lockfile, const char *line, size_t len, size_t after)
{
	struct locked_provider *last = lockfile->count ? &lockfile->providers[lockfile->count - 1] : NULL;
	char *value = quoted(line, len);

	if (!value) {
		if (last && text_starts(line, "hashes"))
			last->insert_at = after;
		return;
	}
	if (text_starts(line, "provider "))
		provider_begin(lockfile, value);
	else if (last && !last->version && text_starts(line, "version"))
		last->version = value;
	else if (last && last->insert_at && *line == '"')
		hash_add(last, value);
	else
		free(value);
}

void lockfile_read(const char *text, struct lockfile *ret_lockfile)
{
	struct lockfile lockfile = {.providers = NULL};
	const char *at = text;

	while (*at) {
		const char *line = at + strspn(at, " \t");
		size_t len = strcspn(line, "\n");

		at = line + len + (line[len] == '\n');
		line_read(&lockfile, line, len, (size_t)(at - text));
	}
	*ret_lockfile = lockfile;
}

static void provider_release(struct locked_provider *provider)
{
	for (size_t i = 0; i < provider->hash_count; i++)
		free(provider->hashes[i]);
	free(provider->hashes);
	free(provider->address);
	free(provider->version);
}

void lockfile_release(struct lockfile *lockfile)
{
	for (size_t i = 0; i < lockfile->count; i++)
		provider_release(&lockfile->providers[i]);
	free(lockfile->providers);
	*lockfile = (struct lockfile){.providers = NULL};
}

const struct locked_provider *lockfile_find(const struct lockfile *lockfile, const char *address, const char *version)
{
	for (size_t i = 0; i < lockfile->count; i++)
		if (text_equal(lockfile->providers[i].address, address) &&
			text_equal(lockfile->providers[i].version, version))
			return &lockfile->providers[i];
	return NULL;
}

bool locked_has(const struct locked_provider *provider, const char *hash)
{
	for (size_t i = 0; i < provider->hash_count; i++)
		if (text_equal(provider->hashes[i], hash))
			return true;
	return false;
}
