/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/options.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/guard.h"
#include "proto/version.h"
#include "worker/network/plan.h"
#include "worker/runtime/accept.h"

static const struct option_row rows[] = {
#define OPTION(...) OPTION_ROW(struct options, __VA_ARGS__),
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
		make_absolute(&options->hooks_dir, "hooks-dir", err) < 0 ||
		make_absolute(&options->infracost, "infracost", err) < 0)
		return -1;
	return make_absolute(&options->provider_mirror, "provider-mirror", err);
}

static int settle_network(const struct options *options, struct err *err)
{
	struct network_lists lists;

	if (text_equal(options->sandbox, "none") && !text_equal(options->job_network, "auto") &&
		!text_equal(options->job_network, "host"))
		return err_set(err, ERR_INVALID, "--job-network %s needs the sandbox, and --sandbox is none",
			options->job_network);
	if (network_lists_parse(options->job_network_allow, options->job_network_deny, &lists, err) < 0)
		return -1;
	network_lists_release(&lists);
	return 0;
}

static int check_opa_version(const struct options *options, struct err *err)
{
	struct version version;

	if (version_exact(options->opa_version, &version) == 0)
		return 0;
	return err_set(err, ERR_INVALID, "--opa-version %s is no exact version, such as 1.4.2", options->opa_version);
}

static int settle_policies(const struct options *options, struct err *err)
{
	struct guard *guard = NULL;

	if (guard_parse(options->policy_http_hosts, &guard, err) < 0)
		return err_context(err, "--policy-http-hosts");
	guard_free(guard);
	if (options->policy_network && text_equal(options->job_network, "none"))
		return err_set(err, ERR_INVALID, "--policy-network 1 needs a network, and --job-network is none");
	return 0;
}

static int settle_accept(const struct options *options, struct err *err)
{
	if (accept_check(options->accept, err) < 0)
		return -1;
	if (options->once && !accept_stages(options->accept))
		return err_set(
			err, ERR_INVALID, "--once 1 needs a stage of runs in --accept, which is %s", options->accept);
	return 0;
}

int worker_options_settle(struct options *options, struct err *err)
{
	options_host_name(&options->name, "worker");
	if (options->hooks_trusted && !*options->hooks_dir)
		return err_set(err, ERR_INVALID, "--hooks-trusted 1 needs --hooks-dir");
	if (options->once && options->deliver)
		return err_set(err, ERR_INVALID, "--once 1 and --deliver 1 exclude each other");
	if (options->once)
		options->slots = 1;
	if (settle_accept(options, err) < 0 || settle_network(options, err) < 0 ||
		check_opa_version(options, err) < 0 || settle_policies(options, err) < 0)
		return -1;
	return settle_paths(options, err);
}
