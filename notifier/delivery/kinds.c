/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/kinds.h"

#include "common/ids.h"
#include "notifier/delivery/outcome.h"

/* A run task's service must answer 200. Any other status is retried, since the operator may be about to fix the
 * service. */
static enum fate task_judge(const struct outcome *outcome)
{
	if (outcome->forbidden)
		return FATE_NEVER;
	return outcome->status == 200 ? FATE_TAKEN : FATE_AGAIN;
}

/* A receiver that rejects a notification would reject it again, so other 4xx are not retried. */
static enum fate hook_judge(const struct outcome *outcome)
{
	int status = outcome->status;

	if (outcome->forbidden)
		return FATE_NEVER;
	if (status >= 200 && status < 300)
		return FATE_TAKEN;
	return status == 0 || status == 408 || status == 425 || status == 429 || status >= 500 ? FATE_AGAIN
											       : FATE_NEVER;
}

/* The scheduler decides what an answer means, and when a call is repeated. */
static enum fate call_judge(const struct outcome *outcome)
{
	return outcome->status && !outcome->forbidden ? FATE_TAKEN : FATE_NEVER;
}

/* A rate limit is the credential's, not the host's. */
static bool call_in_trouble(int status)
{
	return status == 0 || status >= 500;
}

static bool http_in_trouble(int status)
{
	return status == 0 || status == 429 || status >= 500;
}

/* In SMTP, 4xx is a temporary and 5xx a permanent failure. */
static enum fate mail_judge(const struct outcome *outcome)
{
	if (outcome->forbidden || outcome->status >= 500)
		return FATE_NEVER;
	return outcome->status >= 200 && outcome->status < 300 ? FATE_TAKEN : FATE_AGAIN;
}

static bool mail_in_trouble(int status)
{
	return status == 0 || status == 421;
}

const struct delivery_kind delivery_kinds[KINDS] = {
	[KIND_TASK] = {.name = "task",
		.what = "run task's request",
		.prefix = "taskrs",
		.signature = "X-TFC-Task-Signature",
		.agent = "TFC",
		.has_deadline = true,
		.judge = task_judge,
		.in_trouble = http_in_trouble},
	[KIND_HOOK] = {.name = "notification",
		.what = "notification",
		.prefix = "ntf",
		.signature = "X-TFE-Notification-Signature",
		.agent = "TFE",
		.secret_path = true,
		.shows_headers = true,
		.judge = hook_judge,
		.in_trouble = http_in_trouble},
	[KIND_CALL] = {.name = "call",
		.what = "call of a VCS provider",
		.prefix = "vcscall",
		.agent = "Runyard",
		.shows_headers = true,
		.one_call = true,
		.judge = call_judge,
		.in_trouble = call_in_trouble},
	[KIND_MAIL] = {.name = "mail",
		.what = "notification by mail",
		.prefix = "ntf",
		.judge = mail_judge,
		.in_trouble = mail_in_trouble},
};

const struct delivery_kind *delivery_kind_of(const json_t *claimed)
{
	const char *id = json_string_at(claimed, "id");

	if (json_is_object(json_at(claimed, "mail")))
		return id_valid(id, delivery_kinds[KIND_MAIL].prefix) ? &delivery_kinds[KIND_MAIL] : NULL;
	for (int kind = 0; kind < KIND_MAIL; kind++)
		if (id_valid(id, delivery_kinds[kind].prefix))
			return &delivery_kinds[kind];
	return NULL;
}
