/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/delivery.h"

#include <string.h>

#include <openssl/crypto.h>

/* The token occurs once in the body, and its characters need no escapes. */
static char *body_secret(const char *body)
{
	static const char member[] = "\"access_token\":\"";
	const char *begin = strstr(body, member);
	char *secret;
	size_t len;

	if (!begin)
		return NULL;
	begin += strlen(member);
	len = strcspn(begin, "\"");
	if (len < 8) /* shorter than any token: redacting it would only damage the text */
		return NULL;
	secret = mem_new(len + 1, 1);
	memcpy(secret, begin, len);
	return secret;
}

struct delivery *delivery_new(const json_t *claimed, int64_t now_ms)
{
	const struct delivery_kind *kind = delivery_kind_of(claimed);
	const char *body = json_string_at(claimed, "body");
	struct delivery *delivery;

	if (!kind || !body || (kind != &delivery_kinds[KIND_MAIL] && !json_string_at(claimed, "url")))
		return NULL;
	delivery = mem_new(1, sizeof(*delivery));
	delivery->kind = kind;
	text_copy(delivery->id.text, sizeof(delivery->id.text), json_string_at(claimed, "id"));
	text_copy(delivery->run.text, sizeof(delivery->run.text), json_string_at(claimed, "run"));
	delivery->mail = json_deep_copy(json_at(claimed, "mail"));
	delivery->attempt = (int)json_int_at(claimed, "attempt", 1);
	delivery->body = mem_text(body);
	delivery->body_len = strlen(body);
	delivery->secret = body_secret(body);
	delivery->give_up_ms = now_ms + json_int_at(claimed, "give-up-in-ms", 0);
	request_sign(json_string_at(claimed, "hmac-key"), body, delivery->body_len, delivery->signature);
	return delivery;
}

static void secret_free(char *text)
{
	if (text)
		OPENSSL_cleanse(text, strlen(text));
	free(text);
}

void delivery_free(struct delivery *delivery)
{
	if (!delivery)
		return;
	secret_free(delivery->body);
	secret_free(delivery->secret);
	json_decref(delivery->mail);
	free(delivery);
}

char *delivery_report(const struct delivery *delivery, const struct outcome *outcome, const char *end)
{
	json_auto_t *value = json_pack("{ss si si sf}", "id", delivery->id.text, "attempt", delivery->attempt, "status",
		outcome->status, "seconds", outcome->seconds);

	json_object_set_new(value, "answer", json_string_or_null(outcome->answer));
	json_object_set_new(value, "error", json_string_or_null(outcome->error));
	json_object_set_new(value, "end", json_string_or_null(end));
	if (outcome->headers)
		json_object_set(value, "headers", (json_t *)outcome->headers);
	return json_text(value);
}

json_t *delivery_name(const struct delivery *delivery)
{
	return json_pack("{ss si}", "id", delivery->id.text, "attempt", delivery->attempt);
}
