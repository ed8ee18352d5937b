/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/policy/case_file.h"

#include <string.h>

#include "common/err.h"

enum { FILE_MAX = 64 << 20 };

struct reader {
	struct case_file *file;
	const char *path;
	struct buf prelude;     /* statements before expressions */
	struct test_case *open; /* the case whose lines are read, or NULL */
	struct part *part;      /* of the open case, to which lines are added */
	unsigned line;
	char *plan, *schemas; /* of the cases that follow, or NULL */
};

static struct test_case *add_case(struct reader *reader, const char *name)
{
	struct case_file *file = reader->file;
	struct test_case *added;

	file->cases = mem_resize(file->cases, file->count + 1, sizeof(*file->cases));
	added = &file->cases[file->count++];
	*added = (struct test_case){.name = mem_text(name), .line = reader->line};
	added->plan = reader->plan ? mem_text(reader->plan) : NULL;
	added->schemas = reader->schemas ? mem_text(reader->schemas) : NULL;
	return added;
}

static struct part *add_part(struct test_case *test, enum part_kind kind, const char *name)
{
	struct part *part = test->part_count < CASE_FILES ? &test->parts[test->part_count++] : NULL;

	if (part)
		*part = (struct part){.kind = kind, .name = mem_text(name), .text = BUF_INIT(FILE_MAX)};
	return part;
}

/* ---- expressions ---- */

static void add_expression(struct reader *reader, const char *line, const char *arrow)
{
	_cleanup_(freep) char *name = mem_printf("%.*s", (int)(arrow - line), line);
	struct test_case *test = add_case(reader, name);
	struct part *part = add_part(test, PART_POLICY, NULL);

	test->expression = true;
	buf_printf(&part->text, "%sx = %s\nmain = true\n", buf_str(&reader->prelude), name);
	test->expected[test->expected_count++] = mem_text(arrow + 4);
}

/* A file of the folder `terraform` beside that of the cases: " FILE". No name: no file. */
static void set_file(const struct reader *reader, char **file, const char *name)
{
	const char *slash = strrchr(reader->path, '/');

	free(*file);
	*file = NULL;
	if (*name == ' ')
		*file = mem_printf("%.*s/../terraform/%s", slash ? (int)(slash - reader->path) : 1,
			slash ? reader->path : ".", name + 1);
}

static void read_prelude(struct reader *reader, const char *line)
{
	if (text_starts(line, "@plan"))
		set_file(reader, &reader->plan, line + strlen("@plan"));
	else if (text_starts(line, "@schemas"))
		set_file(reader, &reader->schemas, line + strlen("@schemas"));
	else if (line[1] == '\0')
		buf_reset(&reader->prelude);
	else
		buf_printf(&reader->prelude, "%s\n", line + 2);
}

static int read_line_outside(struct reader *reader, const char *line)
{
	const char *arrow = strstr(line, " => ");

	if (line[0] == '\0' || line[0] == '#')
		return 0;
	if (text_starts(line, "== ")) {
		reader->open = add_case(reader, line + 3);
		reader->part = add_part(reader->open, PART_POLICY, NULL);
		return 0;
	}
	if (line[0] == '@')
		read_prelude(reader, line);
	else if (arrow)
		add_expression(reader, line, arrow);
	else
		return -1;
	return 0;
}

/* ---- policies ---- */

static int read_module(struct reader *reader, const char *name)
{
	reader->part = add_part(reader->open, PART_MODULE, name);
	return reader->part ? 0 : -1;
}

static int read_data(struct reader *reader, const char *name)
{
	reader->part = add_part(reader->open, PART_DATA, name);
	return reader->part ? 0 : -1;
}

static int read_policy(struct reader *reader, const char *rest)
{
	(void)rest;
	reader->part = &reader->open->parts[0];
	return 0;
}

static int read_param(struct reader *reader, const char *rest)
{
	const char *space = strchr(rest, ' ');
	_cleanup_(freep) char *name = mem_printf("%.*s", (int)strcspn(rest, " "), rest);
	struct part *part = space ? add_part(reader->open, PART_PARAM, name) : NULL;

	return part ? buf_text(&part->text, space + 1) : -1;
}

static int read_limit(const char *rest, uint64_t *ret_limit)
{
	long long value;

	if (text_number(rest, 1, INT64_MAX, &value) < 0)
		return -1;
	*ret_limit = (uint64_t)value;
	return 0;
}

static int read_steps(struct reader *reader, const char *rest)
{
	return read_limit(rest, &reader->open->steps);
}

static int read_memory(struct reader *reader, const char *rest)
{
	return read_limit(rest, &reader->open->memory);
}

static int read_crlf(struct reader *reader, const char *rest)
{
	(void)rest;
	reader->open->crlf = true;
	return 0;
}

static int read_open(struct reader *reader, const char *rest)
{
	(void)rest;
	reader->open->open = true;
	return 0;
}

static const struct {
	const char *begin;
	int (*read)(struct reader *reader, const char *rest);
} directives[] = {
	{"-- module ", read_module},
	{"-- data ", read_data},
	{"-- policy", read_policy},
	{"-- param ", read_param},
	{"-- steps ", read_steps},
	{"-- memory ", read_memory},
	{"-- crlf", read_crlf},
	{"-- open", read_open},
};

static int read_directive(struct reader *reader, const char *line)
{
	for (size_t i = 0; i < ARRAY_LEN(directives); i++)
		if (text_starts(line, directives[i].begin))
			return directives[i].read(reader, line + strlen(directives[i].begin));
	return -1;
}

static int read_expected(struct test_case *test, const char *expected)
{
	if (test->expected_count == CASE_LINES)
		return -1;
	test->expected[test->expected_count++] = mem_text(expected);
	return 0;
}

/* The first line that is no result ends the case. */
static int read_line(struct reader *reader, const char *line)
{
	struct test_case *test = reader->open;

	if (test && text_starts(line, "-> "))
		return read_expected(test, line + 3);
	if (!test || test->expected_count > 0) {
		reader->open = NULL;
		return read_line_outside(reader, line);
	}
	if (text_starts(line, "-- "))
		return read_directive(reader, line);
	return buf_printf(&reader->part->text, "%s%s\n", line, test->crlf ? "\r" : "");
}

int case_file_read(struct case_file *file, const char *path, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_MAX), prelude = BUF_INIT(FILE_MAX);
	struct reader reader = {.file = file, .path = path, .prelude = prelude};
	int result = 0;

	*file = (struct case_file){0};
	if (buf_read_file(&text, path, err) < 0)
		return -1;
	for (char *rest = text.data, *line; result == 0 && (line = strsep(&rest, "\n")) && rest;) {
		reader.line++;
		result = read_line(&reader, line);
	}
	buf_release(&reader.prelude);
	free(reader.plan);
	free(reader.schemas);
	if (reader.open && reader.open->expected_count == 0)
		result = -1;
	if (result < 0)
		err_set(err, ERR_MALFORMED, "%s:%u: not a line of a case", path, reader.line);
	return result;
}

static void release_case(struct test_case *test)
{
	free(test->name);
	free(test->plan);
	free(test->schemas);
	for (size_t i = 0; i < test->part_count; i++) {
		free(test->parts[i].name);
		buf_release(&test->parts[i].text);
	}
	for (size_t i = 0; i < test->expected_count; i++)
		free(test->expected[i]);
}

void case_file_release(struct case_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		release_case(&file->cases[i]);
	free(file->cases);
	*file = (struct case_file){0};
}
