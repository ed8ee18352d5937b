/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/no_code/configuration.h"

#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/err.h"

enum { FILE_LIMIT = 8 << 20 };

static const char module_name[] = "this", file_name[] = "main.tf";

/* ---- the file ---- */

/* Names are those of HCL in ASCII: they become parts of expressions. */
static bool name_fits(const char *name)
{
	static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-";

	return *name && !strchr("0123456789-", *name) && !name[strspn(name, characters)];
}

/* Of a call of a module, which no input may have as its name. */
static bool name_is_reserved(const char *name)
{
	static const char *const reserved[] = {
		"source", "version", "providers", "count", "for_each", "depends_on", "lifecycle", "locals"};

	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (text_equal(reserved[i], name))
			return true;
	return !name_fits(name);
}

static bool array_has(const json_t *texts, const char *wanted)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)texts, i, item) if (text_equal(json_string_value(item), wanted)) return true;
	return false;
}

struct writing {
	const struct no_code_call *of;
	struct buf *variables, *call;
};

/* `type` and `fallback` are expressions of the module, or "". */
static void input_write(
	const struct writing *to, const char *name, const char *type, const char *fallback, bool sensitive)
{
	buf_printf(to->variables, "variable \"%s\" {\n", name);
	if (*type)
		buf_printf(to->variables, "  type = %s\n", type);
	if (*fallback)
		buf_printf(to->variables, "  default = %s\n", fallback);
	if (sensitive)
		buf_text(to->variables, "  sensitive = true\n");
	buf_text(to->variables, "}\n\n");
	buf_printf(to->call, "  %s = var.%s\n", name, name);
}

/* An optional input whose default is not described, which is sensitive or too long, gets a value only if the workspace
 * has one. The module has its default otherwise. */
static void input_described(const struct writing *to, const json_t *input)
{
	const char *name = text_or_empty(json_string_at(input, "name"));
	const char *fallback = text_or_empty(json_string_at(input, "default"));

	if (!name_is_reserved(name) &&
		(json_bool_at(input, "required", true) || *fallback || array_has(to->of->keys, name)))
		input_write(to, name, text_or_empty(json_string_at(input, "type")), fallback,
			json_bool_at(input, "sensitive", false));
}

static void inputs_write(const struct writing *to)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)to->of->inputs, i, item) input_described(to, item);
	if (to->of->inputs)
		return;
	json_array_foreach((json_t *)to->of->keys, i, item)
	{
		if (!name_is_reserved(json_string_value(item)))
			input_write(to, json_string_value(item), "", "", false);
	}
}

static void outputs_write(const json_t *outputs, struct buf *out)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)outputs, i, item)
	{
		const char *name = text_or_empty(json_string_at(item, "name"));

		if (name_fits(name))
			buf_printf(out, "\noutput \"%s\" {\n  value     = module.%s.%s\n  sensitive = %s\n}\n", name,
				module_name, name, json_bool_at(item, "sensitive", false) ? "true" : "false");
	}
}

char *no_code_main(const struct no_code_call *of)
{
	struct buf variables = BUF_INIT(FILE_LIMIT);
	_cleanup_(buf_release) struct buf call = BUF_INIT(FILE_LIMIT);
	const struct writing to = {of, &variables, &call};

	inputs_write(&to);
	buf_printf(&variables, "module \"%s\" {\n  source  = \"%s\"\n  version = \"%s\"\n%s}\n", module_name,
		of->source, of->version, buf_str(&call));
	outputs_write(of->outputs, &variables);
	return buf_take(&variables);
}

/* ---- the archive ---- */

static la_ssize_t bytes_came(struct archive *archive, void *data, const void *bytes, size_t len)
{
	(void)archive;
	return buf_append(data, bytes, len) < 0 ? -1 : (la_ssize_t)len;
}

static int file_add(struct archive *archive, const char *text)
{
	struct archive_entry *entry = mem_check(archive_entry_new());
	size_t len = strlen(text);
	int result;

	archive_entry_set_pathname(entry, file_name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)len);
	result = archive_write_header(archive, entry) == ARCHIVE_OK &&
			archive_write_data(archive, text, len) == (la_ssize_t)len
		? 0
		: -1;
	archive_entry_free(entry);
	return result;
}

int no_code_configuration(const struct no_code_call *call, struct buf *out, struct err *err)
{
	_cleanup_(freep) char *text = no_code_main(call);
	struct archive *archive = mem_check(archive_write_new());
	int result;

	out->limit = 2 * FILE_LIMIT;
	if (archive_write_add_filter_gzip(archive) != ARCHIVE_OK ||
		archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK)
		mem_out();
	archive_write_set_bytes_in_last_block(archive, 1);
	result = archive_write_open(archive, out, NULL, bytes_came, NULL) == ARCHIVE_OK &&
			file_add(archive, text) == 0 && archive_write_close(archive) == ARCHIVE_OK
		? 0
		: err_set(err, ERR_TOO_LARGE, "the configuration of the no-code module is too large");
	archive_write_free(archive);
	return result;
}
