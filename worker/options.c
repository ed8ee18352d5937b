/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/options.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "worker/network/plan.h"

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
		make_absolute(&options->engine_keys, "engine-keys", err) < 0 ||
		make_absolute(&options->price_books, "price-books", err) < 0 ||
		make_absolute(&options->infracost, "infracost", err) < 0)
		return -1;
	return make_absolute(&options->provider_mirror, "provider-mirror", err);
}

static int settle_network(const struct options *options, struct err *err)
{
	struct network_lists lists;

	if (!text_equal(options->job_network, "auto") && !text_equal(options->job_network, "isolated") &&
		!text_equal(options->job_network, "host") && !text_equal(options->job_network, "none"))
		return err_set(err, ERR_INVALID, "--job-network must be auto, isolated, host or none");
	if (text_equal(options->sandbox, "none") && !text_equal(options->job_network, "auto") &&
		!text_equal(options->job_network, "host"))
		return err_set(err, ERR_INVALID, "--job-network %s needs the sandbox, and --sandbox is none",
			options->job_network);
	if (network_lists_parse(options->job_network_allow, options->job_network_deny, &lists, err) < 0)
		return -1;
	network_lists_release(&lists);
	return 0;
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

/* Removes trailing slashes. */
static int settle_url(char *url, const char *option, struct err *err)
{
	size_t len = strlen(url);

	if (*url && !is_url(url))
		return err_set(err, ERR_INVALID, "--%s must begin with http:// or https://", option);
	while (len > 0 && url[len - 1] == '/')
		url[--len] = '\0';
	return 0;
}

int worker_options_settle(struct options *options, struct err *err)
{
	if (!*options->scheduler_url || settle_url(options->scheduler_url, "scheduler-url", err) < 0)
		return err_set(err, ERR_INVALID, "--scheduler-url must begin with http:// or https://");
	if (settle_url(options->terraform_mirror, "terraform-mirror", err) < 0 ||
		settle_url(options->tofu_mirror, "tofu-mirror", err) < 0)
		return -1;
	if (!text_equal(options->sandbox, "auto") && !text_equal(options->sandbox, "bwrap") &&
		!text_equal(options->sandbox, "none"))
		return err_set(err, ERR_INVALID, "--sandbox must be auto, bwrap or none");
	if (settle_network(options, err) < 0)
		return -1;
	if (log_level_parse(options->log_level) < 0)
		return err_set(err, ERR_INVALID, "--log-level must be debug, info, warn or error");
	settle_name(options);
	return settle_paths(options, err);
}
