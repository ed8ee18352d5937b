/* SPDX-License-Identifier: MPL-2.0 */
#include "common/options/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/build_info.h"
#include "common/err.h"

enum { SECRET_LIMIT = 65536, NAME_SIZE = 128 };

static void env_name(const char *name, const char *suffix, char ret_env[NAME_SIZE])
{
	snprintf(ret_env, NAME_SIZE, "RUNYARD_%s%s", name, suffix);
	for (char *c = ret_env; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

static void *option_field(const struct option_row *row, void *options)
{
	return (char *)options + row->offset;
}

/* ---- one value ---- */

/* True if the value is one of the words, which '|' separates. */
static bool is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);

	for (const char *at = choices; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strcspn(at, "|") == len && strncmp(at, value, len) == 0)
			return true;
	}
	return false;
}

/* Writes "auto, bwrap or none". */
static void choices_text(const char *choices, char ret_text[NAME_SIZE])
{
	const char *last = strrchr(choices, '|');
	size_t len = 0;

	for (const char *at = choices; *at; at++)
		len += (size_t)snprintf(ret_text + len, NAME_SIZE - len, "%s",
			at == last           ? " or "
				: *at == '|' ? ", "
					     : (char[]){*at, '\0'});
}

static int number_set(const struct option_row *row, long long *field, const char *value, struct err *err)
{
	if (text_number(value, row->low, row->high, field) < 0)
		return err_set(err, ERR_INVALID, "--%s: a whole number from %lld to %lld is needed, not '%s'",
			row->name, row->low, row->high, value);
	return 0;
}

static int text_check(const struct option_row *row, const char *value, struct err *err)
{
	char choices[NAME_SIZE];
	bool empty_url = !*value && !row->low;

	if (row->type == OPT_URL && !empty_url && !text_starts(value, "http://") && !text_starts(value, "https://"))
		return err_set(err, ERR_INVALID, "--%s must begin with http:// or https://", row->name);
	if (row->type == OPT_CHOICE && !is_choice(row->choices, value)) {
		choices_text(row->choices, choices);
		return err_set(err, ERR_INVALID, "--%s must be %s", row->name, choices);
	}
	return 0;
}

static int option_set(const struct option_row *row, void *options, const char *value, struct err *err)
{
	char **field = option_field(row, options);

	if (row->type == OPT_NUMBER)
		return number_set(row, option_field(row, options), value, err);
	if (text_check(row, value, err) < 0)
		return -1;
	free(*field);
	*field = mem_text(value);
	for (size_t len = strlen(value); row->type == OPT_URL && len && value[len - 1] == '/'; len--)
		(*field)[len - 1] = '\0';
	return 0;
}

static int secret_from_file(const struct option_row *row, void *options, const char *path, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SECRET_LIMIT);

	if (buf_read_file(&text, path, err) < 0)
		return err_context(err, "--%s-file", row->name);
	while (text.len && isspace((unsigned char)text.data[text.len - 1]))
		text.data[--text.len] = '\0';
	return option_set(row, options, buf_str(&text), err);
}

static int removed_from_environment(const struct option_table *table, struct err *err)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < table->removed_count; i++) {
		env_name(table->removed[i].name, "", name);
		if (getenv(name))
			return err_set(err, ERR_INVALID, "%s: there is no such option any more. %s", name,
				table->removed[i].instead);
	}
	return 0;
}

static int options_from_environment(const struct option_table *table, void *options, struct err *err)
{
	char name[NAME_SIZE];
	const char *value;

	if (removed_from_environment(table, err) < 0)
		return -1;
	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];

		env_name(row->name, "_FILE", name);
		value = getenv(name);
		if (row->type == OPT_SECRET && value && secret_from_file(row, options, value, err) < 0)
			return -1;
		env_name(row->name, "", name);
		value = getenv(name);
		if (value && option_set(row, options, value, err) < 0)
			return err_context(err, "%s", name);
	}
	return 0;
}

/* Finds the row for `--name` or, for a secret, `--name-file`. `len` is the length of the name without any "=value". */
static const struct option_row *option_find(const struct option_table *table, const char *name, size_t len)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];
		size_t own = strlen(row->name);

		if (row->type == OPT_SECRET && len == own + 5 && strncmp(name, row->name, own) == 0 &&
			strncmp(name + own, "-file", 5) == 0)
			return row;
		if (len == own && strncmp(name, row->name, own) == 0)
			return row;
	}
	return NULL;
}

static int option_unknown(const struct option_table *table, const char *name, size_t len, struct err *err)
{
	for (size_t i = 0; i < table->removed_count; i++) {
		const struct option_removed *removed = &table->removed[i];

		if (len == strlen(removed->name) && strncmp(name, removed->name, len) == 0)
			return err_set(err, ERR_INVALID, "--%s: there is no such option any more. %s", removed->name,
				removed->instead);
	}
	return err_set(err, ERR_INVALID, "unknown option --%.*s: see %s --help", (int)len, name, table->process);
}

static int option_from_argument(
	const struct option_table *table, struct arguments *arguments, void *options, struct err *err)
{
	const char *name = arguments->values[arguments->next++] + 2;
	size_t len = strcspn(name, "=");
	const struct option_row *row = option_find(table, name, len);
	const char *value;

	if (!row)
		return option_unknown(table, name, len, err);
	if (row->type == OPT_SECRET && len == strlen(row->name))
		return err_set(err, ERR_INVALID,
			"--%s: a secret is not taken from the command line, where others can read it: use --%s-file",
			row->name, row->name);
	value = name[len] == '=' ? name + len + 1 : arguments->values[arguments->next++];
	if (!value || (name[len] != '=' && text_starts(value, "--")))
		return err_set(err, ERR_INVALID, "--%.*s: a value is needed", (int)len, name);
	if (row->type == OPT_SECRET)
		return secret_from_file(row, options, value, err);
	return option_set(row, options, value, err);
}

static int options_defaults(const struct option_table *table, void *options, struct err *err)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].fallback && option_set(&table->rows[i], options, table->rows[i].fallback, err) < 0)
			return -1;
	return 0;
}

static int options_complete(const struct option_table *table, void *options, struct err *err)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];

		if (row->fallback || row->type == OPT_NUMBER || *(char **)option_field(row, options))
			continue;
		env_name(row->name, "", name);
		return err_set(err, ERR_INVALID, "--%s%s (or %s) is needed: %s", row->name,
			row->type == OPT_SECRET ? "-file" : "", name, row->help);
	}
	return 0;
}

/* Prints what --help or --version asks for. Returns false if neither is among the arguments. */
static bool options_answered(const struct option_table *table, const struct arguments *arguments)
{
	for (int i = 1; i < arguments->count; i++) {
		if (text_equal(arguments->values[i], "--help") || text_equal(arguments->values[i], "-h")) {
			options_help(table);
			return true;
		}
		if (text_equal(arguments->values[i], "--version")) {
			printf("%s %s (revision %s)\n", table->process, build_version, build_revision);
			return true;
		}
	}
	return false;
}

int options_read(const struct option_table *table, struct arguments *arguments, void *ret_options, struct err *err)
{
	if (options_answered(table, arguments))
		return 1;
	if (options_defaults(table, ret_options, err) < 0 || options_from_environment(table, ret_options, err) < 0)
		return -1;
	arguments->next = 1;
	while (arguments->next < arguments->count && text_starts(arguments->values[arguments->next], "--"))
		if (option_from_argument(table, arguments, ret_options, err) < 0)
			return -1;
	return options_complete(table, ret_options, err);
}

int options_ended(const struct option_table *table, const struct arguments *arguments, struct err *err)
{
	if (arguments->next >= arguments->count)
		return 0;
	return err_set(err, ERR_INVALID, "unexpected argument '%s': options have the form --name value, see %s --help",
		arguments->values[arguments->next], table->process);
}

void options_release(const struct option_table *table, void *options)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];

		if (row->type == OPT_NUMBER)
			continue;
		free(*(char **)option_field(row, options));
		*(char **)option_field(row, options) = NULL;
	}
}

void options_host_name(char **name, const char *fallback)
{
	char host[256] = "";

	if (**name)
		return;
	gethostname(host, sizeof(host) - 1);
	free(*name);
	*name = mem_text(*host ? host : fallback);
}

void options_help(const struct option_table *table)
{
	static const char *const kinds[] = {[OPT_TEXT] = "TEXT",
		[OPT_URL] = "URL",
		[OPT_SECRET] = "PATH",
		[OPT_NUMBER] = "N",
		[OPT_CHOICE] = "WORD"};
	char name[NAME_SIZE], choices[NAME_SIZE];

	printf("%s\n\nOptions, each also by the environment variable beside it:\n", table->summary);
	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];
		bool secret = row->type == OPT_SECRET;

		env_name(row->name, "", name);
		printf("\n  --%s%s %s   %s%s\n      %s\n", row->name, secret ? "-file" : "", kinds[row->type], name,
			secret ? " (or the variable with _FILE)" : "", row->help);
		if (row->type == OPT_CHOICE) {
			choices_text(row->choices, choices);
			printf("      One of %s.\n", choices);
		}
		if (!row->fallback)
			printf("      Required.\n");
		else if (*row->fallback)
			printf("      Default: %s\n", row->fallback);
	}
}
