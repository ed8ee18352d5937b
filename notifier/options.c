/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/options.h"

#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/mail_address.h"
#include "common/log.h"

static const struct option_row rows[] = {
#define OPTION(field, name, type, fallback, low, high, help)                                                           \
	{name, OPT_##type, offsetof(struct options, field), fallback, low, high, help},
#include "notifier/options.def"
#undef OPTION
};

const struct option_table notifier_options = {
	.process = "runyard-notifier",
	.summary = "Sends run tasks' requests and notifications, takes the callbacks of run tasks and keeps their "
		   "deadlines.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

/* Strips the trailing slash, so that a path can be appended. */
static int settle_url(char *url, const char *option, struct err *err)
{
	size_t len = strlen(url);

	if (!text_starts(url, "http://") && !text_starts(url, "https://"))
		return err_set(err, ERR_INVALID, "--%s must begin with http:// or https://", option);
	while (len > 0 && url[len - 1] == '/')
		url[--len] = '\0';
	return 0;
}

static void settle_name(struct options *options)
{
	char host[256] = "notifier";

	if (*options->name)
		return;
	gethostname(host, sizeof(host) - 1);
	free(options->name);
	options->name = mem_text(host);
}

static int settle_mail(const struct options *options, struct err *err)
{
	if (!text_equal(options->smtp_tls, "required") && !text_equal(options->smtp_tls, "none"))
		return err_set(err, ERR_INVALID, "--smtp-tls must be required or none");
	if (!*options->smtp_url)
		return 0;
	if (!text_starts(options->smtp_url, "smtp://") && !text_starts(options->smtp_url, "smtps://"))
		return err_set(err, ERR_INVALID, "--smtp-url must begin with smtp:// or smtps://");
	if (!mail_address_valid(options->smtp_from))
		return err_set(err, ERR_INVALID, "--smtp-from must be a mail address, if there is --smtp-url");
	return 0;
}

int notifier_options_settle(struct options *options, struct err *err)
{
	if (settle_url(options->scheduler_url, "scheduler-url", err) < 0)
		return -1;
	if (*options->public_url && settle_url(options->public_url, "public-url", err) < 0)
		return -1;
	if (*options->internal_url && settle_url(options->internal_url, "internal-url", err) < 0)
		return -1;
	if (settle_mail(options, err) < 0)
		return -1;
	if (log_level_parse(options->log_level) < 0)
		return err_set(err, ERR_INVALID, "--log-level must be debug, info, warn or error");
	settle_name(options);
	return 0;
}
