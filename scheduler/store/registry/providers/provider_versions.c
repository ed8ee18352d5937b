/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/providers/provider_versions.h"

#include <string.h>

#include "scheduler/store/content/blobs.h"
#include "scheduler/store/names.h"
#include "scheduler/store/registry/module_versions.h"
#include "scheduler/store/registry/providers/provider_platforms.h"
#include "scheduler/store/registry/providers/provider_versions.sql.h"

enum { MAX_CONTENT = 4 * MAX_SHASUMS }; /* both files in base64 */

/* ---- versions ---- */

int provider_version_create(
	struct store *store, const struct provider_version_draft *draft, struct id *ret_id, struct err *err)
{
	static const char pointer[] = "/data/attributes/version";
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *protocols = json_text(draft->protocols);
	struct id id = id_new("provver");

	if (!module_version_valid(draft->version))
		return err_at(err, pointer, "Version must be a semantic version, such as 1.2.3 or 1.2.3-beta.1");
	if (db_query(store->db, &rows, err, provider_version_create, .id = id.text, .provider_id = draft->provider_id,
		    .version = draft->version, .key_id = draft->key_id, .protocols = protocols,
		    .max = MAX_PROVIDER_VERSIONS) < 0)
		return value_taken(store, "registry_provider_versions_version", "Version", pointer, err);
	if (!rows.count)
		return err_at(err, "/data", "A provider can't have more than %d versions", MAX_PROVIDER_VERSIONS);
	*ret_id = id;
	return 0;
}

static int first_found(const struct rows *rows, struct err *err)
{
	return rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "provider version not found");
}

int provider_version_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, provider_version_read, .id = id) < 0 ? -1
										       : first_found(ret_rows, err);
}

int provider_version_find(
	struct store *store, const char *provider_id, const char *version, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, provider_version_find, .provider_id = provider_id, .version = version) <
		0)
		return -1;
	return first_found(ret_rows, err);
}

int provider_versions_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, provider_versions_read, .ids = ids);
}

int provider_versions_list(struct store *store, const char *provider_id, const struct list_range *range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, provider_versions_list, .provider_id = provider_id,
		.limit = range->limit, .offset = range->offset);
}

int provider_version_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, provider_version_delete, .id = id);
}

/* ---- SHA256SUMS ---- */

/* "<checksum>  <file>", as sha256sum writes it; "*" before the file is its mark of a binary. */
static int shasums_line(char *line, json_t *checksums)
{
	char *name = line + SHA256_HEX_SIZE - 1;

	if (strlen(line) < SHA256_HEX_SIZE + 1 || name[0] != ' ' || (name[1] != ' ' && name[1] != '*'))
		return -1;
	name[0] = '\0';
	name += 2;
	if (line[strspn(line, "0123456789abcdef")] || !provider_filename_valid(name))
		return -1;
	return json_object_set_new(checksums, name, json_string(line));
}

int shasums_parse(struct bytes text, json_t **ret_checksums, struct err *err)
{
	_cleanup_(freep) char *copy = mem_printf("%.*s", (int)text.len, (const char *)text.data);
	json_auto_t *checksums = json_object();
	char *rest = copy, *line;

	if (strlen(copy) != text.len)
		return err_set(err, ERR_INVALID, "SHA256SUMS has a zero byte");
	for (int number = 1; (line = strsep(&rest, "\n")); number++) {
		size_t len = strlen(line);

		if (len && line[len - 1] == '\r')
			line[len - 1] = '\0';
		if (*line && shasums_line(line, checksums) < 0)
			return err_set(err, ERR_INVALID,
				"line %d of SHA256SUMS is not a checksum and the name of a file", number);
	}
	if (!json_object_size(checksums))
		return err_set(err, ERR_INVALID, "SHA256SUMS has no checksums");
	*ret_checksums = json_incref(checksums);
	return 0;
}

/* ---- the files ---- */

void provider_version_files_release(struct provider_version_files *files)
{
	buf_release(&files->shasums);
	buf_release(&files->signature);
}

static int file_take(const json_t *content, const char *name, struct buf *file, struct err *err)
{
	const char *text = text_or_empty(json_string_at(content, name));

	return *text && crypto_base64_decode(text, file) < 0
		? err_set(err, ERR_INTERNAL, "the files of a provider's version are damaged")
		: 0;
}

int provider_version_files_read(struct store *store, const struct provider_version_row *version,
	struct provider_version_files *files, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(MAX_CONTENT);
	json_auto_t *content = NULL;

	if (!version->blob_id)
		return 0;
	if (blob_get(store, version->blob_id, &bytes, err) < 0 || json_parse(bytes.data, bytes.len, &content, err) < 0)
		return -1;
	return file_take(content, "shasums", &files->shasums, err) < 0
		? -1
		: file_take(content, "signature", &files->signature, err);
}

struct writing {
	struct store *store;
	const struct provider_version_row *version;
	const struct provider_version_change *change;
};

static int write_in(void *data, struct err *err)
{
	const struct writing *w = data;
	const struct provider_version_files *files = w->change->files;
	_cleanup_(freep) char *shasums = crypto_base64(files->shasums.data, files->shasums.len);
	_cleanup_(freep) char *signature = crypto_base64(files->signature.data, files->signature.len);
	_cleanup_(freep) char *checksums = w->change->checksums ? json_text(w->change->checksums) : NULL;
	json_auto_t *content = json_pack("{ss ss}", "shasums", shasums, "signature", signature);
	_cleanup_(freep) char *text = json_text(content);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id blob;

	if (blob_put(w->store, text, strlen(text), &blob, err) < 0 ||
		db_query(w->store->db, &rows, err, provider_version_set_content, .id = w->version->id,
			.old = w->version->blob_id, .blob_id = blob.text, .has_shasums = files->shasums.len > 0,
			.has_signature = files->signature.len > 0, .key = w->change->key_id,
			.checksums = checksums) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_CONFLICT, "the version was changed at the same time: upload again");
}

int provider_version_files_write(struct store *store, const struct provider_version_row *version,
	const struct provider_version_change *change, struct err *err)
{
	struct writing w = {store, version, change};

	return db_transaction(store->db, write_in, &w, err);
}
