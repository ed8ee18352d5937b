/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "worker/policy/sentinel/command/command.h"
#include "worker/policy/sentinel/command/evaluation.h"
#include "worker/policy/sentinel/syntax/format/format.h"

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

static int write_file(const struct formatting *formatting)
{
	FILE *file = fopen(formatting->path, "we");
	bool written =
		file && fwrite(formatting->output.bytes, 1, formatting->output.len, file) == formatting->output.len;

	if (file && fclose(file) != 0)
		written = false;
	if (!written)
		perror(formatting->path);
	return written ? EXIT_PASSED : EXIT_OTHER;
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
	return fflush(stdout) != 0 ? EXIT_OTHER : code;
}
