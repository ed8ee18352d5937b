/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/assets.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/api/api.h"

enum { FOLDER_FILE_LIMIT = 16 << 20, MANIFEST_LIMIT = 1 << 16 };

static const struct asset *embedded;
static size_t embedded_count;
static const char *from_folder;

void assets_init(const struct asset *assets, size_t count, const char *folder)
{
	embedded = assets;
	embedded_count = count;
	from_folder = text_or_null(folder);
}

/* ---- the directory of --ui-dir ---- */

static int file_read(const char *path, struct buf *ret_bytes)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char block[16384];
	ssize_t got;

	if (fd < 0)
		return -1;
	while ((got = read(fd, block, sizeof(block))) > 0)
		if (buf_append(ret_bytes, block, (size_t)got) < 0)
			return -1;
	return got < 0 ? -1 : 0;
}

static const char *type_of(const char *file)
{
	static const struct {
		const char *end, *type;
	} types[] = {{".js", "text/javascript; charset=utf-8"}, {".css", "text/css; charset=utf-8"}};
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < ARRAY_LEN(types); i++)
		if (text_equal(dot, types[i].end))
			return types[i].type;
	return NULL;
}

/* Each line of the manifest is a name and a file. */
static void manifest_named(const char *name, void (*each)(void *data, const struct asset *asset), void *data)
{
	_cleanup_(freep) char *path = mem_printf("%s/manifest.txt", from_folder);
	_cleanup_(buf_release) struct buf text = BUF_INIT(MANIFEST_LIMIT);
	_cleanup_(freep) char *lines = NULL;
	char *rest, *line;

	if (file_read(path, &text) < 0)
		return;
	rest = lines = mem_text(buf_str(&text));
	while ((line = strsep(&rest, "\n"))) {
		char *file = strchr(line, ' ');

		if (!file)
			continue;
		*file++ = '\0';
		if (text_equal(line, name))
			each(data, &(struct asset){.name = line, .file = file});
	}
}

static int folder_respond(const char *file, struct response *res, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/assets/%s", from_folder, file);
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(FOLDER_FILE_LIMIT);

	if (*file == '.' || !type_of(file) || file_read(path, &bytes) < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no such file");
	return respond_bytes(res, type_of(file), &bytes);
}

/* ---- the embedded files ---- */

static const struct asset *asset_find(const char *file)
{
	for (size_t i = 0; i < embedded_count; i++)
		if (text_equal(embedded[i].file, file))
			return &embedded[i];
	return NULL;
}

void assets_named(const char *name, void (*each)(void *data, const struct asset *asset), void *data)
{
	if (from_folder) {
		manifest_named(name, each, data);
		return;
	}
	for (size_t i = 0; i < embedded_count; i++)
		if (text_equal(embedded[i].name, name))
			each(data, &embedded[i]);
}

const char *assets_build(void)
{
	for (size_t i = 0; !from_folder && i < embedded_count; i++)
		if (text_equal(embedded[i].name, "app.js"))
			return embedded[i].file;
	return "development";
}

/* Replace the headers of every answer, which forbid to store it: the name of a file changes with its content. */
static const char *stored_headers[][2] = {
	{"Cache-Control", "public, max-age=31536000, immutable"},
	{"Vary", "Accept-Encoding"},
	{"X-Content-Type-Options", "nosniff"},
	{NULL, NULL},
};

static int embedded_respond(const struct request *req, struct response *res, const struct asset *asset)
{
	const char *encodings = text_or_empty(http_header(req->http, "Accept-Encoding"));
	bool zipped = strstr(encodings, "gzip") && !strstr(encodings, "gzip;q=0");
	struct buf bytes = BUF_INIT(asset->length + asset->gzip_length + 1);

	res->http->extra = stored_headers;
	http_add_header(res->http, "ETag", asset->etag);
	if (text_equal(http_header(req->http, "If-None-Match"), asset->etag))
		return respond_empty(res, 304);
	if (zipped)
		http_add_header(res->http, "Content-Encoding", "gzip");
	buf_append(&bytes, zipped ? asset->gzip : asset->bytes, zipped ? asset->gzip_length : asset->length);
	return respond_bytes(res, asset->type, &bytes);
}

int ui_asset(struct request *req, struct response *res, struct err *err)
{
	const struct asset *asset;

	if (from_folder)
		return folder_respond(param(req, "file"), res, err);
	asset = asset_find(param(req, "file"));
	return asset ? embedded_respond(req, res, asset) : err_set(err, ERR_NOT_FOUND, "there is no such file");
}
