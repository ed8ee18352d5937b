/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/mac.h"

#include <stdio.h>
#include <string.h>

#include "common/crypto.h"

/* Every field is bounded, the longest by RESULT_ERROR_SIZE, so that appending to such a buffer can't fail. */
enum { CANONICAL_LIMIT = 4096 };

/* The labels from which each topic's key is derived. */
static const char result_label[] = "runyard.results v1";
static const char stop_label[] = "runyard.control v1";

/* A netstring: no two lists of fields have the same bytes. */
static void add_text(struct buf *out, const char *text)
{
	buf_printf(out, "%zu:%s,", strlen(text), text);
}

static void add_number(struct buf *out, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	add_text(out, text);
}

static void add_bool(struct buf *out, bool value)
{
	add_text(out, value ? "true" : "false");
}

static void result_canonical(const struct job_result *result, struct buf *out)
{
	add_text(out, result->job.text);
	add_number(out, result->attempt);
	add_text(out, result->run.text);
	add_text(out, outcome_name(result->outcome));
	add_bool(out, result->has_changes);
	add_bool(out, result->state_owed);
	add_number(out, result->additions);
	add_number(out, result->changes);
	add_number(out, result->destructions);
	add_number(out, result->imports);
	add_text(out, result->terraform_version);
	add_text(out, job_result_error(result));
}

static void stop_canonical(const struct job_stop *stop, struct buf *out)
{
	add_text(out, stop->job.text);
	add_number(out, stop->attempt);
	add_text(out, stop_name(stop->stop));
}

static void mac_make(const char *token_hash, const char *label, const struct buf *canonical, char ret_mac[MAC_SIZE])
{
	char key[SHA256_HEX_SIZE], code[SHA256_HEX_SIZE];

	crypto_hmac_hex(token_hash, strlen(token_hash), label, key);
	crypto_hmac_hex(key, strlen(key), buf_str(canonical), code);
	snprintf(ret_mac, MAC_SIZE, "%s%s", MAC_VERSION, code);
}

static bool mac_matches(const char *token_hash, const char *label, const struct buf *canonical, const char *mac)
{
	char expected[MAC_SIZE];

	if (!token_hash || !*token_hash)
		return false;
	mac_make(token_hash, label, canonical, expected);
	return crypto_equal(expected, mac);
}

void job_result_sign(struct job_result *result, const char *token_hash)
{
	_cleanup_(buf_release) struct buf canonical = BUF_INIT(CANONICAL_LIMIT);

	result_canonical(result, &canonical);
	mac_make(token_hash, result_label, &canonical, result->mac);
}

void job_stop_sign(struct job_stop *stop, const char *token_hash)
{
	_cleanup_(buf_release) struct buf canonical = BUF_INIT(CANONICAL_LIMIT);

	stop_canonical(stop, &canonical);
	mac_make(token_hash, stop_label, &canonical, stop->mac);
}

bool job_result_verify(const struct job_result *result, const char *token_hash)
{
	_cleanup_(buf_release) struct buf canonical = BUF_INIT(CANONICAL_LIMIT);

	result_canonical(result, &canonical);
	return mac_matches(token_hash, result_label, &canonical, result->mac);
}

bool job_stop_verify(const struct job_stop *stop, const char *token_hash)
{
	_cleanup_(buf_release) struct buf canonical = BUF_INIT(CANONICAL_LIMIT);

	stop_canonical(stop, &canonical);
	return mac_matches(token_hash, stop_label, &canonical, stop->mac);
}
