/* SPDX-License-Identifier: MPL-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"
#include "policy/command/command.h"
#include "policy/command/evaluation.h"
#include "policy/syntax/format/format.h"

/* One file. */
struct formatting {
	const char *path;
	struct file file;
	struct output output;
};

static void format(struct run *run, void *data)
{
	static const struct files files = {.root = -1};
	struct formatting *formatting = data;
	const struct reader reader = {.subject = "the source"};
	struct source *source = run_alloc(run, 1, sizeof(*source));

	formatting->file = file_read(run, &files, formatting->path, &reader);
	*source = (struct source){
		.name = formatting->path,
		.text = formatting->file.bytes,
		.len = formatting->file.len,
	};
	run->at = (struct place){.source = source};
	if (source->len > MAX_SOURCE)
		run_fail_limit(run, "a source's length, 8 MiB,", NULL);
	format_tree(run, tree_parse(run, source, TREE_ANY), &formatting->output);
}

static bool is_formatted(const struct formatting *formatting)
{
	return formatting->file.len == formatting->output.len &&
		(formatting->file.len == 0 ||
			memcmp(formatting->file.bytes, formatting->output.bytes, formatting->file.len) == 0);
}

/* Writes the output, with the mode of the file that it replaces, and closes the descriptor. */
static bool write_like(const char *path, int fd, const struct output *output)
{
	struct stat info;
	FILE *file = fdopen(fd, "w");
	bool written =
		file && stat(path, &info) == 0 && fchmod(fd, info.st_mode & 07777) == 0 && output_print(output, file);

	if (file ? fclose(file) != 0 : close(fd) != 0)
		written = false;
	return written;
}

/* The source stays as it is if the new one can't be written whole. */
static int write_file(const struct formatting *formatting)
{
	_cleanup_(freep) char *path = realpath(formatting->path, NULL);
	_cleanup_(freep) char *beside = mem_printf("%s.XXXXXX", path ? path : "");
	int fd = path ? mkostemp(beside, O_CLOEXEC) : -1;

	if (fd >= 0 && write_like(path, fd, &formatting->output) && rename(beside, path) == 0)
		return EXIT_PASSED;
	perror(formatting->path);
	if (fd >= 0)
		unlink(beside);
	return EXIT_OTHER;
}

static int finish(const struct options *options, const struct formatting *formatting)
{
	bool formatted = is_formatted(formatting);

	if (!options->check && !options->write)
		output_print(&formatting->output, stdout);
	else if (!formatted)
		printf("%s\n", formatting->path);
	if (options->write && !formatted)
		return write_file(formatting);
	return options->check && !formatted ? EXIT_FAILED : EXIT_PASSED;
}

static int format_file(const struct options *options, const char *path)
{
	struct formatting formatting = {.path = path};
	int code = EXIT_OTHER;
	struct run run;

	run_init(&run, &run_limits_default);
	run.loading = true;
	if (run_protected(&run, format, &formatting) < 0)
		failure_print(&run.failure);
	else
		code = finish(options, &formatting);
	run_release(&run);
	return code;
}

int command_fmt(const struct options *options)
{
	int code = EXIT_PASSED;

	for (size_t i = 0; i < options->path_count; i++) {
		int of_file = format_file(options, options->paths[i]);

		if (of_file > code)
			code = of_file;
	}
	if (options->path_count == 0) {
		fprintf(stderr, "fmt needs files\n");
		return EXIT_OTHER;
	}
	return output_finish(code);
}
