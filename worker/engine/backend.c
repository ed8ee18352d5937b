/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/backend.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/exec/workdir.h"
#include "common/hcl/blocks.h"

enum { RECORD_LIMIT = 1024 * 1024, NAMES_LIMIT = 400 };

static const char record_path[] = ".terraform/terraform.tfstate";

/* ---- the record ---- */

static bool same_text(const char *one, const char *other)
{
	return one && other ? text_equal(one, other) : one == other;
}

int backend_check_record(const char *text, size_t len, const struct backend_paths *paths, struct err *err)
{
	json_auto_t *record = NULL;
	const json_t *backend;
	const char *type;

	if (json_parse(text, len, &record, err) < 0)
		return err_context(err, "what init recorded of the backend can't be read");
	backend = json_at(record, "backend");
	type = json_string_at(backend, "type");
	if (!type)
		return err_set(err, ERR_INVALID, "init recorded no backend");
	if (!text_equal(type, "local"))
		return err_set(err, ERR_INVALID, "the backend is \"%.40s\"", type);
	if (!same_text(json_string_at(backend, "config.path"), paths->state) ||
		!same_text(json_string_at(backend, "config.workspace_dir"), paths->workspaces))
		return err_set(err, ERR_INVALID, "the local backend has another path");
	return 0;
}

static const char workspaces_member[] = "workspace_dir", parked_member[] = "runyard_workspace_dir";

static int read_record(int folder, json_t **ret_record, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(RECORD_LIMIT);

	if (beneath_read(folder, record_path, &text, err) < 0)
		return -1;
	return json_parse(buf_str(&text), text.len, ret_record, err);
}

static int write_record(int folder, const json_t *record, struct err *err)
{
	_cleanup_(freep) char *text = json_text(record);
	_cleanup_(closep) int fd = beneath_open(folder, record_path, O_WRONLY, 0);
	struct stat info;

	/* Rewrites the file in place, unless it has other names: a job can link to a file of another purpose. */
	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_nlink == 1) {
		if (ftruncate(fd, 0) == 0 && write_fully(fd, text, strlen(text)) == 0)
			return 0;
		return err_errno(err, record_path);
	}
	return beneath_write(folder, record_path, 0644, text_bytes(text), err);
}

int backend_record_park(int folder, struct err *err)
{
	json_auto_t *record = NULL;
	json_t *config;

	if (read_record(folder, &record, err) < 0)
		return -1;
	config = json_object_get(json_object_get(record, "backend"), "config");
	if (!json_is_string(json_object_get(config, workspaces_member)))
		return err_set(err, ERR_INVALID, "the record of the backend names no workspace_dir");
	json_object_set(record, parked_member, json_object_get(config, workspaces_member));
	json_object_set_new(config, workspaces_member, json_null());
	return write_record(folder, record, err);
}

bool backend_record_unpark(int folder)
{
	json_auto_t *record = NULL;
	struct err err = ERR_INIT;
	json_t *config, *parked;

	if (read_record(folder, &record, &err) < 0 || !(parked = json_object_get(record, parked_member)))
		return false;
	config = json_object_get(json_object_get(record, "backend"), "config");
	if (!json_is_object(config))
		return false;
	json_object_set(config, workspaces_member, parked);
	json_object_del(record, parked_member);
	return write_record(folder, record, &err) == 0;
}

/* ---- the files ---- */

static bool is_backend(const char *type)
{
	return text_equal(type, "backend") || text_equal(type, "cloud");
}

/* Checks the body of a block. Its nested blocks are parsed like those of a file. */
static bool block_sets_backend(const char *text, const json_t *block)
{
	const char *begin = text + json_int_at(block, "begin", 0), *end = text + json_int_at(block, "end", 0);
	json_auto_t *nested = NULL;
	struct err err = ERR_INIT;
	const json_t *inner;
	size_t i;

	begin = memchr(begin, '{', (size_t)(end - begin));
	if (!begin || hcl_blocks(begin + 1, (size_t)(end - begin - 2), &nested, &err) < 0)
		return false;
	json_array_foreach(nested, i, inner)
	{
		if (is_backend(json_string_at(inner, "type")))
			return true;
	}
	return false;
}

static bool native_sets_backend(const char *text, size_t len)
{
	json_auto_t *blocks = NULL;
	struct err err = ERR_INIT;
	const json_t *block;
	size_t i;

	if (hcl_blocks(text, len, &blocks, &err) < 0)
		return false;
	json_array_foreach(blocks, i, block)
	{
		if (text_equal(json_string_at(block, "type"), "terraform") && block_sets_backend(text, block))
			return true;
	}
	return false;
}

static bool object_sets_backend(const json_t *settings)
{
	return json_object_get(settings, "backend") || json_object_get(settings, "cloud");
}

/* `terraform` holds an object, or an array of objects that the engine merges. */
static bool root_sets_backend(const json_t *root)
{
	const json_t *settings = json_object_get(root, "terraform"), *item;
	size_t i;

	json_array_foreach(settings, i, item)
	{
		if (object_sets_backend(item))
			return true;
	}
	return object_sets_backend(settings);
}

static bool json_sets_backend(const char *text, size_t len)
{
	json_auto_t *root = NULL;
	struct err err = ERR_INIT;
	const json_t *item;
	size_t i;

	if (json_parse(text, len, &root, &err) < 0)
		return false;
	json_array_foreach(root, i, item)
	{
		if (root_sets_backend(item))
			return true;
	}
	return root_sets_backend(root);
}

bool text_sets_backend(enum config_syntax syntax, const char *text, size_t len)
{
	if (syntax == CONFIG_JSON)
		return json_sets_backend(text, len);
	return syntax == CONFIG_NATIVE && native_sets_backend(text, len);
}

/* Adds the name of an override file that sets a backend, except the worker's own. Leaves out names that don't fit. */
static bool add_name(void *data, const struct config_file *file)
{
	struct buf *names = data;

	if (file->text && config_is_override(file->name) && !text_equal(file->name, WORKDIR_OVERRIDE) &&
		text_sets_backend(file->syntax, file->text, file->len) &&
		names->len + strlen(file->name) + 2 < names->limit)
		buf_printf(names, "%s%s", names->len ? ", " : "", file->name);
	return false;
}

int backend_check(int folder, const struct backend_paths *paths, struct err *err)
{
	_cleanup_(buf_release) struct buf record = BUF_INIT(RECORD_LIMIT), names = BUF_INIT(NAMES_LIMIT);
	struct err why = ERR_INIT;

	if (beneath_read(folder, record_path, &record, &why) == 0 &&
		backend_check_record(buf_str(&record), record.len, paths, &why) == 0)
		return 0;
	config_any(folder, add_name, &names);
	if (!names.len)
		buf_text(&names, "a file of the configuration");
	return err_set(err, ERR_INVALID,
		"The state would not be kept by Runyard (%s): %s replaces the backend of the run. Remove its backend "
		"or "
		"cloud block, and start a new run.",
		why.message, buf_str(&names));
}
