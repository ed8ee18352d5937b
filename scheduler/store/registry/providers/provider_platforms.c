/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/providers/provider_platforms.h"

#include <string.h>

#include "scheduler/store/content/blobs.h"
#include "scheduler/store/names.h"
#include "scheduler/store/registry/providers/provider_platforms.sql.h"
#include "scheduler/store/registry/providers/provider_versions.sql.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define FILE  LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ._+-"

enum { MAX_PART = 32, MAX_FILENAME = 255, MAX_SHASUM = 128 };

/* ---- platforms ---- */

bool provider_filename_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= MAX_FILENAME && name[0] != '.' && !name[strspn(name, FILE)];
}

static int part_check(const char *what, const char *pointer, const char *text, struct err *err)
{
	if (!*text_or_empty(text))
		return err_at(err, pointer, "%s can't be blank", what);
	if (strlen(text) > MAX_PART || text[strspn(text, LOWER "_")])
		return err_at(err, pointer, "%s may only contain lowercase letters, numbers and underscores", what);
	return 0;
}

static int draft_check(const struct provider_platform_draft *draft, struct err *err)
{
	if (part_check("Os", "/data/attributes/os", draft->os, err) < 0 ||
		part_check("Arch", "/data/attributes/arch", draft->arch, err) < 0)
		return -1;
	if (!provider_filename_valid(text_or_empty(draft->filename)))
		return err_at(err, "/data/attributes/filename", "Filename must be the name of a file, such as %s",
			"terraform-provider-time_1.2.3_linux_amd64.zip");
	if (!*text_or_empty(draft->shasum) || strlen(draft->shasum) > MAX_SHASUM)
		return err_at(
			err, "/data/attributes/shasum", "Shasum must be the SHA-256 of the archive in hexadecimal");
	return 0;
}

static int checksum_check(const char *filename, const char *shasum, const char *expected, struct err *err)
{
	if (!expected)
		return err_at(err, "/data/attributes/filename", "SHA256SUMS of the version has no file %s", filename);
	if (!text_equal(shasum, expected))
		return err_at(err, "/data/attributes/shasum", "SHA256SUMS of the version has another checksum of %s",
			filename);
	return 0;
}

int provider_platform_create(struct store *store, const struct provider_version_row *version,
	const struct provider_platform_draft *draft, struct id *ret_id, struct err *err)
{
	json_auto_t *checksums = version->checksums ? json_shown(version->checksums) : NULL;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("provpltfrm");

	if (draft_check(draft, err) < 0 ||
		(checksums &&
			checksum_check(draft->filename, draft->shasum,
				json_string_value(json_object_get(checksums, draft->filename)), err) < 0))
		return -1;
	if (db_query(store->db, &rows, err, provider_platform_create, .id = id.text, .version_id = version->id,
		    .os = draft->os, .arch = draft->arch, .filename = draft->filename, .shasum = draft->shasum,
		    .max = MAX_PROVIDER_PLATFORMS) < 0)
		return value_taken(
			store, "registry_provider_platforms_platform", "Platform", "/data/attributes/arch", err);
	if (!rows.count)
		return err_at(err, "/data", "A version can't have more than %d platforms", MAX_PROVIDER_PLATFORMS);
	*ret_id = id;
	return 0;
}

static int first_found(const struct rows *rows, struct err *err)
{
	return rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "provider platform not found");
}

int provider_platform_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, provider_platform_read, .id = id) < 0 ? -1
											: first_found(ret_rows, err);
}

int provider_platform_find(
	struct store *store, const struct provider_platform_place *place, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, provider_platform_find, .version_id = place->version_id, .os = place->os,
		    .arch = place->arch) < 0)
		return -1;
	return first_found(ret_rows, err);
}

int provider_platforms_list(struct store *store, const char *version_id, const struct list_range *range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, provider_platforms_list, .version_id = version_id,
		.limit = range->limit, .offset = range->offset);
}

int provider_platform_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, provider_platform_delete, .id = id);
}

/* ---- the archive ---- */

struct upload {
	struct store *store;
	const char *id;
	struct bytes archive;
};

/* If the platform has an archive by now, it is the same one: it had to have the same checksum. */
static int upload_in(void *data, struct err *err)
{
	const struct upload *u = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id blob;

	if (blob_put_pieces(u->store, u->archive.data, u->archive.len, &blob, err) < 0 ||
		db_query(u->store->db, &rows, err, provider_platform_set_content, .id = u->id, .blob_id = blob.text,
			.size = (long long)u->archive.len) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_CONFLICT, "the archive was uploaded at the same time");
}

int provider_platform_upload(
	struct store *store, const struct provider_platform_row *platform, struct bytes archive, struct err *err)
{
	struct upload u = {store, platform->id, archive};
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(archive.data, archive.len, digest);
	if (!text_equal(digest, platform->shasum))
		return err_set(err, ERR_INVALID, "the SHA-256 of the archive is %s, and the platform's shasum is %s",
			digest, platform->shasum);
	if (platform->expected && checksum_check(platform->filename, digest, platform->expected, err) < 0)
		return -1;
	return platform->blob_id ? 0 : db_transaction(store->db, upload_in, &u, err);
}
