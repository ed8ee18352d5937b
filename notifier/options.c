/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/options.h"

#include "common/err.h"

static const struct option_row rows[] = {
#define OPTION(...) OPTION_ROW(struct options, __VA_ARGS__),
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

static int settle_mail(const struct options *options, struct err *err)
{
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
	options_host_name(&options->name, "notifier");
	return settle_mail(options, err);
}
