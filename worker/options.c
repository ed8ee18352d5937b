/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/options.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"

static const struct option_row rows[] = {
#define OPTION(field, name, type, fallback, low, high, help)                                                           \
	{name, OPT_##type, offsetof(struct options, field), fallback, low, high, help},
#include "worker/options.def"
#undef OPTION
};

const struct option_table worker_options = {
	.process = "runyard-worker",
	.summary = "Claims the stages of runs from a scheduler and does them with terraform or tofu.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

static bool is_url(const char *text)
{
	return text_starts(text, "http://") || text_starts(text, "https://");
}

static int make_absolute(char **path, const char *option, struct err *err)
{
	char *real;

	if (!**path || is_url(*path))
		return 0;
	real = realpath(*path, NULL);
	if (!real)
		return err_set(err, ERR_INVALID, "--%s: there is no %s", option, *path);
	free(*path);
	*path = real;
	return 0;
}

static int settle_paths(struct options *options, struct err *err)
{
	if (mkdir(options->data_dir, 0700) < 0 && access(options->data_dir, W_OK) < 0)
		return err_set(err, ERR_INVALID, "--data-dir %s can't be made or written to", options->data_dir);
	if (make_absolute(&options->data_dir, "data-dir", err) < 0 ||
		make_absolute(&options->engine_dir, "engine-dir", err) < 0 ||
		make_absolute(&options->price_books, "price-books", err) < 0 ||
		make_absolute(&options->infracost, "infracost", err) < 0)
		return -1;
	return make_absolute(&options->provider_mirror, "provider-mirror", err);
}

static void settle_name(struct options *options)
{
	char host[256] = "worker";

	if (*options->name)
		return;
	gethostname(host, sizeof(host) - 1);
	free(options->name);
	options->name = mem_text(host);
}

int worker_options_settle(struct options *options, struct err *err)
{
	size_t len = strlen(options->scheduler_url);

	if (!is_url(options->scheduler_url))
		return err_set(err, ERR_INVALID, "--scheduler-url must begin with http:// or https://");
	while (len > 0 && options->scheduler_url[len - 1] == '/')
		options->scheduler_url[--len] = '\0';
	if (!text_equal(options->sandbox, "auto") && !text_equal(options->sandbox, "bwrap") &&
		!text_equal(options->sandbox, "none"))
		return err_set(err, ERR_INVALID, "--sandbox must be auto, bwrap or none");
	if (!options->job_network && text_equal(options->sandbox, "none"))
		return err_set(err, ERR_INVALID, "--job-network 0 takes a sandbox, and --sandbox is none");
	if (log_level_parse(options->log_level) < 0)
		return err_set(err, ERR_INVALID, "--log-level must be debug, info, warn or error");
	settle_name(options);
	return settle_paths(options, err);
}
