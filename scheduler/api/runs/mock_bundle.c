/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/mock_bundle.h"

#include <errno.h>
#include <archive.h>
#include <archive_entry.h>

#include "common/err.h"
#include "common/terraform/mocks.h"
#include "common/terraform/v1/mocks.h"

enum { FILE_LIMIT = 1 << 30 };

static la_ssize_t bytes_came(struct archive *archive, void *data, const void *bytes, size_t len)
{
	(void)archive;
	return buf_append(data, bytes, len) == 0 ? (la_ssize_t)len : -1;
}

static int failed(struct archive *archive, struct err *err)
{
	if (archive_errno(archive) == ENOMEM)
		mem_out();
	return err_set(
		err, ERR_INTERNAL, "the export can't be packed: %.200s", text_or_empty(archive_error_string(archive)));
}

static int add_file(struct archive *archive, const char *name, const struct buf *content, struct err *err)
{
	struct archive_entry *entry = mem_check(archive_entry_new());
	int result = -1;

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)content->len);
	if (archive_write_header(archive, entry) == ARCHIVE_OK &&
		archive_write_data(archive, buf_str(content), content->len) == (la_ssize_t)content->len)
		result = 0;
	archive_entry_free(entry);
	return result == 0 ? 0 : failed(archive, err);
}

struct bundle {
	struct archive *archive;
	const struct mock_source *source;
	struct buf *configuration; /* names all mocks */
};

static int too_large(struct err *err)
{
	return err_set(err, ERR_TOO_LARGE, "the plan is too large to be exported");
}

static void add_block(const struct bundle *bundle, const char *import, const char *file)
{
	buf_printf(bundle->configuration, "mock \"%s\" {\n  module {\n    source = \"%s\"\n  }\n}\n\n", import, file);
}

static int add_mock(const struct bundle *bundle, const struct mock *mock, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);

	if (mock_write(mock, bundle->source->plan, bundle->source->run, &text) < 0)
		return too_large(err);
	add_block(bundle, mock->import, mock->file);
	return add_file(bundle->archive, mock->file, &text, err);
}

static int add_v1_mock(const struct bundle *bundle, const struct v1_mock *mock, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);

	if (v1_mock_write(mock, bundle->source->plan, bundle->source->schemas, &text) < 0)
		return too_large(err);
	for (const char *const *import = mock->imports; *import; import++)
		add_block(bundle, *import, mock->file);
	return add_file(bundle->archive, mock->file, &text, err);
}

static int add_all(const struct bundle *bundle, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	_cleanup_(freep) char *json = json_text(bundle->source->plan);

	for (size_t i = 0; i < mock_count; i++)
		if (add_mock(bundle, &mocks[i], err) < 0)
			return -1;
	for (size_t i = 0; i < v1_mock_count; i++)
		if (add_v1_mock(bundle, &v1_mocks[i], err) < 0)
			return -1;
	buf_text(&text, json);
	if (add_file(bundle->archive, "plan.json", &text, err) < 0)
		return -1;
	return add_file(bundle->archive, "sentinel.hcl", bundle->configuration, err);
}

int mock_bundle_write(const struct mock_source *source, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf configuration = BUF_INIT(FILE_LIMIT);
	struct archive *archive = mem_check(archive_write_new());
	int result = -1;

	if (archive_write_add_filter_gzip(archive) != ARCHIVE_OK ||
		archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK)
		mem_out();
	archive_write_set_bytes_in_last_block(archive, 1);
	if (archive_write_open(archive, out, NULL, bytes_came, NULL) == ARCHIVE_OK)
		result = add_all(&(struct bundle){archive, source, &configuration}, err);
	else
		failed(archive, err);
	if (result == 0 && archive_write_close(archive) != ARCHIVE_OK)
		result = failed(archive, err);
	archive_write_free(archive);
	return result;
}
