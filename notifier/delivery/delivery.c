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

/* The call's method. NULL for any other: it is a part of a request line. */
static const char *method_of(const json_t *claimed)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (text_equal(json_string_at(claimed, "method"), methods[i]))
			return methods[i];
	return NULL;
}

/* True if the item has what its kind needs. */
static bool is_whole(const struct delivery_kind *kind, const json_t *claimed)
{
	if (!kind || (kind != &delivery_kinds[KIND_MAIL] && !json_string_at(claimed, "url")))
		return false;
	return kind->one_call ? method_of(claimed) != NULL : json_string_at(claimed, "body") != NULL;
}

void request_sign(const char *key, const char *body, size_t len, char ret_signature[SHA512_HEX_SIZE])
{
	ret_signature[0] = '\0';
	if (key && *key)
		crypto_hmac_sha512_hex(key, strlen(key), body, len, ret_signature);
}

static void call_fill(struct delivery *delivery, const json_t *claimed)
{
	delivery->method = method_of(claimed);
	delivery->url = mem_text(json_string_at(claimed, "url"));
	delivery->headers = json_deep_copy(json_at(claimed, "headers"));
}

struct delivery *delivery_new(const json_t *claimed, int64_t now_ms)
{
	const struct delivery_kind *kind = delivery_kind_of(claimed);
	const char *body = text_or_empty(json_string_at(claimed, "body"));
	struct delivery *delivery;

	if (!is_whole(kind, claimed))
		return NULL;
	delivery = mem_new(1, sizeof(*delivery));
	delivery->kind = kind;
	text_copy(delivery->id.text, sizeof(delivery->id.text), json_string_at(claimed, "id"));
	text_copy(delivery->run.text, sizeof(delivery->run.text), json_string_at(claimed, "run"));
	delivery->mail = json_deep_copy(json_at(claimed, "mail"));
	delivery->attempt = (int)json_int_at(claimed, "attempt", 1);
	delivery->pool = mem_text(json_string_at(claimed, "pool"));
	delivery->body = mem_text(body);
	delivery->body_len = strlen(body);
	delivery->secret = body_secret(body);
	delivery->give_up_ms = now_ms + json_int_at(claimed, "give-up-in-ms", 0);
	if (kind->one_call)
		call_fill(delivery, claimed);
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
	free(delivery->url);
	free(delivery->pool);
	json_decref(delivery->headers);
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
	if (delivery->kind->one_call) {
		json_object_set(value, "body", outcome->body ? (json_t *)outcome->body : json_null());
		json_object_set_new(value, "internal", json_boolean(outcome->internal));
		json_object_set_new(value, "forbidden", json_boolean(outcome->forbidden));
	}
	return json_text(value);
}

json_t *delivery_name(const struct delivery *delivery)
{
	return json_pack("{ss si}", "id", delivery->id.text, "attempt", delivery->attempt);
}
