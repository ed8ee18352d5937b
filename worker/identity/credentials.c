/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/identity/credentials.h"

#include <stdio.h>
#include <string.h>

#include "common/crypto.h"
#include "common/err.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static const char *const names[] = {
#define KIND(symbol, name, variable, path, keep) [CREDENTIAL_##symbol] = name,
#include "worker/identity/credentials.def"
};

/* ---- checks of values: the reason why a value can't be used, or NULL ---- */

static bool consists_of(const char *value, const char *allowed)
{
	return value[strspn(value, allowed)] == '\0';
}

bool credential_line_fits(const char *value)
{
	if (!*value || strlen(value) > MAX_CREDENTIAL_VALUE)
		return false;
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

bool credential_word_fits(const char *value)
{
	return *value && strlen(value) <= MAX_CREDENTIAL_VALUE && consists_of(value, LETTERS "-_.:/+=,@~");
}

static const char *check_line(const char *value)
{
	return credential_line_fits(value) ? NULL : "is not one line of text";
}

static const char *check_word(const char *value)
{
	return credential_word_fits(value) ? NULL : "has characters that it can't have";
}

static const char *check_token(const char *value)
{
	bool fits = *value && strlen(value) <= MAX_CREDENTIAL_VALUE && consists_of(value, LETTERS "-_.");

	return fits ? NULL : "is not a token";
}

static const char *check_account(const char *value)
{
	return mail_address_valid(value) && consists_of(value, LETTERS "-_.@") ? NULL
									       : "is not the address of an account";
}

static const char *check_tag(const char *value)
{
	bool fits = strlen(value) <= MAX_CREDENTIAL_TAG && consists_of(value, LETTERS "_");

	return fits ? NULL : "is not a tag of letters, digits and underscores";
}

/* A part of a path must not lead elsewhere, and a server may take its encoded form for the plain one. */
static bool part_fits(const char *part, size_t len)
{
	bool climbs = len <= 2 && strncmp(part, "..", len) == 0;

	return len > 0 && !climbs && !memchr(part, '\\', len) && !memchr(part, '%', len);
}

static const char *check_name(const char *value)
{
	bool fits = credential_line_fits(value) && !strchr(value, '/') && part_fits(value, strlen(value));

	return fits ? NULL : "is not a name";
}

static const char *check_path(const char *value)
{
	static const char why[] = "is not a path in Vault";
	size_t len;

	if (!credential_line_fits(value))
		return why;
	for (value += *value == '/'; *value; value += len + (value[len] == '/')) {
		len = strcspn(value, "/");
		if (!part_fits(value, len))
			return why;
	}
	return NULL;
}

static const char *check_address(const char *value)
{
	const char *host = text_starts(value, "https://") ? value + 8 : text_starts(value, "http://") ? value + 7 : "";
	bool fits = *host && strlen(value) <= 2048 && consists_of(host, LETTERS "-_.:/[]~");

	return fits ? NULL : "is not an http or https address";
}

static const char *check_certificate(const char *value)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(MAX_CERTIFICATES);
	bool fits = strlen(value) <= MAX_CERTIFICATES && crypto_base64_decode(value, &text) == 0 &&
		strlen(buf_str(&text)) == text.len && strstr(buf_str(&text), "-----BEGIN CERTIFICATE-----");

	return fits ? NULL : "is not base64 of certificates in PEM";
}

static const char *check_seconds(const char *value)
{
	long long seconds;

	return text_number(value, 0, 1500, &seconds) == 0 ? NULL : "is not a number from 0 to 1500";
}

static const char *check_timeout(const char *value)
{
	long long seconds;

	return text_number(value, 1, MAX_VAULT_TIMEOUT, &seconds) == 0 ? NULL : "is not a number from 1 to 3600";
}

static const char *check_aws_type(const char *value)
{
	bool fits = text_equal(value, "iam_user") || text_equal(value, "assumed_role") ||
		text_equal(value, "federation_token");

	return fits ? NULL : "is not iam_user, assumed_role or federation_token";
}

static const char *check_gcp_type(const char *value)
{
	const char *secret = strchr(value, '/');
	bool fits = (text_starts(value, "roleset/") || text_starts(value, "static_account/")) &&
		(text_equal(secret, "/access_token") || text_equal(secret, "/service_account_key"));

	return fits ? NULL
		    : "is not roleset/access_token, roleset/service_account_key, static_account/access_token or "
		      "static_account/service_account_key";
}

/* ---- configurations ---- */

static const struct member_row {
	enum credential_kind kind;
	const char *name;
	const char *(*check)(const char *value);
	bool optional;
} member_rows[] = {
#define MEMBER(symbol, name, check, optional) {CREDENTIAL_##symbol, name, check, optional},
#include "worker/identity/credentials.def"
};

static const struct secret_row {
	enum credential_kind kind;
	const char *name;
} secret_rows[] = {
#define SECRET(symbol, name) {CREDENTIAL_##symbol, name},
#include "worker/identity/credentials.def"
};

static enum credential_kind kind_of(const char *name)
{
	enum credential_kind kind = 0;

	while (kind < CREDENTIAL_KINDS && !text_equal(names[kind], name))
		kind++;
	return kind;
}

enum credential_kind credential_kind(const json_t *item)
{
	return kind_of(credential_value(item, "kind"));
}

const char *credential_value(const json_t *item, const char *member)
{
	return text_or_empty(json_string_value(json_object_get(item, member)));
}

void credential_title(const json_t *item, char ret_title[MAX_CREDENTIAL_TITLE])
{
	const char *tag = credential_value(item, "tag");

	snprintf(ret_title, MAX_CREDENTIAL_TITLE, *tag ? "%s (tag %s)" : "%s", credential_value(item, "kind"), tag);
}

static int refuse(const json_t *item, const char *what, const char *why, struct err *err)
{
	char title[MAX_CREDENTIAL_TITLE];

	credential_title(item, title);
	return err_set(err, ERR_INVALID, "The credentials %s can't be used: %s %s.", title, what, why);
}

static int member_copy(const struct member_row *row, const json_t *claimed, json_t *item, struct err *err)
{
	const char *value = credential_value(claimed, row->name);
	const char *why = !*value && row->optional ? NULL : *value ? row->check(value) : "is missing";

	json_object_set_new(item, row->name, json_string(value));
	return why ? refuse(item, row->name, why, err) : 0;
}

const json_t *credentials_find(const json_t *credentials, enum credential_kind kind, const char *tag)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		if (credential_kind(item) == kind && text_equal(credential_value(item, "tag"), tag))
			return item;
	}
	return NULL;
}

static int item_read(const json_t *claimed, const char *run, json_t *credentials, struct err *err)
{
	const char *name = credential_value(claimed, "kind"), *tag = credential_value(claimed, "tag");
	enum credential_kind kind = kind_of(name);
	json_t *item;

	if (kind == CREDENTIAL_KINDS)
		return err_set(err, ERR_INVALID,
			"The run wants credentials of the kind \"%.40s\", which this worker does not know.", name);
	if (check_tag(tag))
		return err_set(err, ERR_INVALID, "The credentials %s can't be used: the tag %s.", name, check_tag(tag));
	item = json_pack("{ss ss ss+}", "kind", name, "tag", tag, "session", "terraform-", run);
	if (credentials_find(credentials, kind, tag)) {
		json_decref(item);
		return err_set(err, ERR_INVALID, "The credentials %s can't be used: the tag \"%s\" is there twice.",
			name, tag);
	}
	json_array_append_new(credentials, item);
	for (size_t i = 0; i < ARRAY_LEN(member_rows); i++)
		if (member_rows[i].kind == kind && member_copy(&member_rows[i], claimed, item, err) < 0)
			return -1;
	return 0;
}

/* The kinds that Vault makes have a member that names the Vault. */
static int vaults_check(const json_t *credentials, struct err *err)
{
	const json_t *item, *vault;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		vault = json_object_get(item, "vault");
		if (vault && !credentials_find(credentials, CREDENTIAL_VAULT, json_string_value(vault)))
			return refuse(item, "the Vault configuration that it names", "is missing", err);
	}
	return 0;
}

int credentials_read(const json_t *claimed, const char *run, json_t **ret_credentials, struct err *err)
{
	json_auto_t *credentials = json_array();
	const json_t *item;
	size_t i;

	if (json_array_size(claimed) > MAX_CREDENTIALS)
		return err_set(err, ERR_INVALID, "The run wants more than %d credentials.", MAX_CREDENTIALS);
	json_array_foreach((json_t *)claimed, i, item)
	{
		if (item_read(item, run, credentials, err) < 0)
			return -1;
	}
	if (vaults_check(credentials, err) < 0)
		return -1;
	*ret_credentials = json_incref(credentials);
	return 0;
}

void credentials_secrets(const json_t *credentials, void (*fn)(void *data, const char *secret), void *data)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		for (size_t row = 0; row < ARRAY_LEN(secret_rows); row++)
			if (secret_rows[row].kind == credential_kind(item) &&
				*credential_value(item, secret_rows[row].name))
				fn(data, credential_value(item, secret_rows[row].name));
	}
}
