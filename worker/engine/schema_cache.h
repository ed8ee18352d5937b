/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_SCHEMA_CACHE_H
#define WORKER_ENGINE_SCHEMA_CACHE_H

/*
 * The cache of provider schemas, in <data-dir>/schemas. They are large and depend only on the engine and the provider
 * packages, so the key is made of the engine's version and the lock file. It has the organization too, because the
 * schemas are the output of programs that a job's code may have replaced.
 */

#include "common/crypto.h"

struct err;
struct schema_cache;

struct kept_schemas {
	char digest[SHA256_HEX_SIZE];
	bool builtin; /* they include the engine's built-in provider */
};

/* Makes the folder, and keeps what it has. ERR_INTERNAL. */
int schema_cache_open(const char *data_dir, struct schema_cache **ret_cache, struct err *err);
void schema_cache_free(struct schema_cache *cache);

/* The key of the schemas that an engine ("terraform 1.12.0") makes in a working directory. `folder` is its descriptor;
 * if that is negative, there is no lock file. "" if the lock file can't be read, or has more than 1 MiB: the cache has
 * no schemas of that key, and keeps none. */
void schema_cache_key(const char *organization, const char *engine, int folder, char ret_key[SHA256_HEX_SIZE]);
/* False if the cache has no such entry. */
bool schema_cache_find(const struct schema_cache *cache, const char *key, struct kept_schemas *ret_kept);
/* Moves a file of the folder into the cache. An entry has at most 256 MiB, and all entries have 1 GiB. ERR_INVALID if
 * the key is empty, ERR_TOO_LARGE, ERR_NOT_FOUND or ERR_INTERNAL. */
int schema_cache_keep(const struct schema_cache *cache, const char *key, int folder, const char *name,
	struct kept_schemas *ret_kept, struct err *err);
/* Opens the schemas. The caller closes the descriptor. -1 if the cache has no such entry any more. */
int schema_cache_file(const struct schema_cache *cache, const char *key);
/* Whether a text names the engine's built-in provider, which is in no lock file. Schemas with it suit every plan.
 * Schemas without it suit only plans that don't use it. */
bool schemas_have_builtin(const char *text, size_t len);

#endif
