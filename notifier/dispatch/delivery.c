/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/dispatch/delivery.h"

#include <string.h>

#include <openssl/crypto.h>

#include "common/buf.h"

/* The token stands in the body once; its characters need no escapes. */
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
	if (len < 8) /* shorter than any token: replacing it would spoil a text for nothing */
		return NULL;
	secret = mem_new(len + 1, 1);
	memcpy(secret, begin, len);
	return secret;
}

struct delivery *delivery_new(const json_t *claimed, int64_t now_ms)
{
	const char *id = json_string_at(claimed, "task-result"), *body = json_string_at(claimed, "body");
	struct delivery *delivery;

	if (!id_valid(id, "taskrs") || !body || !json_string_at(claimed, "url"))
		return NULL;
	delivery = mem_new(1, sizeof(*delivery));
	text_copy(delivery->id.text, sizeof(delivery->id.text), id);
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
	free(delivery);
}

char *delivery_report(const struct delivery *delivery, const struct outcome *outcome, const char *end)
{
	json_auto_t *value = json_pack("{ss si si sf}", "task-result", delivery->id.text, "attempt", delivery->attempt,
		"status", outcome->status, "seconds", outcome->seconds);

	json_object_set_new(value, "answer", json_string_or_null(outcome->answer));
	json_object_set_new(value, "error", json_string_or_null(outcome->error));
	json_object_set_new(value, "end", json_string_or_null(end));
	return json_text(value);
}

json_t *delivery_name(const struct delivery *delivery)
{
	return json_pack("{ss si}", "task-result", delivery->id.text, "attempt", delivery->attempt);
}

/* ---- answers ---- */

/* The bytes of the UTF-8 character at `bytes`, or 0 if there is none. */
static size_t character(const unsigned char *bytes, size_t left)
{
	static const unsigned char lows[] = {[0xe0 - 0xc2] = 0xa0, [0xf0 - 0xc2] = 0x90};
	static const unsigned char highs[] = {[0xed - 0xc2] = 0x9f, [0xf4 - 0xc2] = 0x8f};
	unsigned char first = bytes[0], lead;
	size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if (first < 0x80)
		return first >= ' ' || first == '\n' || first == '\t' || first == '\r';
	if (first < 0xc2 || first > 0xf4 || len > left)
		return 0;
	lead = (unsigned char)(first - 0xc2);
	if (lead < sizeof(lows) && lows[lead] && bytes[1] < lows[lead])
		return 0;
	if (lead < sizeof(highs) && highs[lead] && bytes[1] > highs[lead])
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

char *answer_clean(const char *bytes, size_t len, const char *secret)
{
	struct buf text = BUF_INIT(len * 3 + 64);
	size_t secret_len = secret ? strlen(secret) : 0;

	while (len > 0) {
		size_t own = character((const unsigned char *)bytes, len), used = own ? own : 1;

		if (secret_len && len >= secret_len && memcmp(bytes, secret, secret_len) == 0) {
			used = secret_len;
			buf_text(&text, "***");
		} else {
			buf_append(&text, own ? bytes : "?", used);
		}
		bytes += used;
		len -= used;
	}
	return buf_take(&text);
}
