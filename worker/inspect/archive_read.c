/* SPDX-License-Identifier: MPL-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/buf.h"
#include "common/err.h"
#include "worker/inspect/inspect.h"
#include "worker/packages/archive.h"

/* The files of an archive that describe the module, in memory. */

enum { BLOCK = 64 * 1024 };

struct unpacked {
	struct archive *archive;
	struct inspected_file *files; /* room for INSPECT_FILES */
	size_t count, bytes;
};

static void unpacked_release(struct unpacked *unpacked)
{
	archive_read_free(unpacked->archive);
	for (size_t i = 0; i < unpacked->count; i++) {
		free(unpacked->files[i].path);
		free(unpacked->files[i].text);
	}
	free(unpacked->files);
}

static int damaged(const struct unpacked *unpacked, struct err *err)
{
	if (archive_errno(unpacked->archive) == ENOMEM)
		mem_out();
	return err_set(err, ERR_INVALID, "the archive is damaged");
}

/* The place of a file: of an earlier one of that path, which it replaces, or a new one. */
static struct inspected_file *file_of(struct unpacked *unpacked, const char *path)
{
	for (size_t i = 0; i < unpacked->count; i++)
		if (text_equal(unpacked->files[i].path, path))
			return &unpacked->files[i];
	if (unpacked->count == INSPECT_FILES)
		return NULL;
	unpacked->files[unpacked->count] = (struct inspected_file){.path = mem_text(path)};
	return &unpacked->files[unpacked->count++];
}

static int file_take(struct unpacked *unpacked, const char *path, struct err *err)
{
	struct inspected_file *file = file_of(unpacked, path);
	_cleanup_(buf_release) struct buf text = BUF_INIT(INSPECT_FILE_BYTES);
	_cleanup_(freep) char *block = mem_new(1, BLOCK);
	la_ssize_t got;

	if (!file)
		return err_set(err, ERR_INVALID, "the module has more than %d files of configuration", INSPECT_FILES);
	while ((got = archive_read_data(unpacked->archive, block, BLOCK)) > 0)
		if (buf_append(&text, block, (size_t)got) < 0)
			return err_set(
				err, ERR_INVALID, "%.200s: the file is larger than %d bytes", path, INSPECT_FILE_BYTES);
	if (got < 0)
		return damaged(unpacked, err);
	unpacked->bytes += text.len;
	if (unpacked->bytes > INSPECT_BYTES)
		return err_set(err, ERR_INVALID, "the module has more than %d bytes of configuration", INSPECT_BYTES);
	free(file->text);
	file->len = text.len;
	file->text = buf_take(&text);
	return 0;
}

/* Names that are not UTF-8 are none that a configuration can have. */
static int entry_take(struct unpacked *unpacked, struct archive_entry *entry, struct err *err)
{
	const char *name = text_or_empty(archive_entry_pathname(entry));
	_cleanup_(freep) char *path = archive_path(name);

	if (!path || !S_ISREG(archive_entry_filetype(entry)) || archive_entry_hardlink(entry) || !inspect_reads(path))
		return 0;
	return file_take(unpacked, path, err);
}

static int entries_take(struct unpacked *unpacked, struct err *err)
{
	struct archive_entry *entry;
	int status = ARCHIVE_EOF;

	for (size_t n = 0; n <= INSPECT_ENTRIES; n++) {
		status = archive_read_next_header(unpacked->archive, &entry);
		if (status == ARCHIVE_EOF)
			return 0;
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			return damaged(unpacked, err);
		if (entry_take(unpacked, entry, err) < 0)
			return -1;
	}
	return err_set(err, ERR_INVALID, "the archive has more than %d entries", INSPECT_ENTRIES);
}

int inspect_archive(int fd, json_t **ret_description, struct err *err)
{
	_cleanup_(unpacked_release) struct unpacked unpacked = {
		.archive = archive_read_new(), .files = mem_new(INSPECT_FILES, sizeof(struct inspected_file))};

	if (!unpacked.archive)
		mem_out();
	archive_read_support_filter_gzip(unpacked.archive);
	archive_read_support_format_tar(unpacked.archive);
	if (archive_read_open_fd(unpacked.archive, fd, BLOCK) != ARCHIVE_OK)
		return damaged(&unpacked, err);
	if (entries_take(&unpacked, err) < 0)
		return -1;
	*ret_description = inspect_files(unpacked.files, unpacked.count);
	return 0;
}
