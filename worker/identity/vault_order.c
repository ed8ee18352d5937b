/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/identity/vault_order.h"

#include <string.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"
#include "worker/identity/credentials.h"

enum {
	MAX_PATH = 8 * MAX_CREDENTIAL_VALUE,
	MAX_KEY = 64 * 1024,
	READ_SECONDS = 60, /* the documented default of TFC_VAULT_CLIENT_TIMEOUT */
};

/* ---- paths in Vault ---- */

/* Appends the parts of a path, percent-encoded one by one. */
static void parts_add(struct buf *out, const char *path)
{
	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");
		_cleanup_(freep) char *part = mem_printf("%.*s", (int)len, path);

		if (out->len)
			buf_text(out, "/");
		buf_url(out, part);
		path += len;
	}
}

static void mount_add(struct buf *out, const json_t *item, const char *below)
{
	parts_add(out, credential_value(item, "mount-path"));
	buf_printf(out, "/%s/", below);
	buf_url(out, credential_value(item, "role"));
}

/* All of them are read with GET, so the capability "read" in the policy of the role suffices. */
static void path_aws(const json_t *item, struct buf *out)
{
	const char *arn = credential_value(item, "role-arn"), *type = credential_value(item, "auth-type");

	mount_add(out, item, text_equal(type, "iam_user") ? "creds" : "sts");
	if (!*arn || !text_equal(type, "assumed_role"))
		return;
	buf_text(out, "?role_arn=");
	buf_url(out, arn);
}

static void path_azure(const json_t *item, struct buf *out)
{
	mount_add(out, item, "creds");
}

static void path_gcp(const json_t *item, struct buf *out)
{
	const char *type = credential_value(item, "auth-type");

	mount_add(out, item, text_starts(type, "roleset/") ? "roleset" : "static-account");
	buf_text(out, strstr(type, "/access_token") ? "/token" : "/key");
}

/* ---- secrets in Vault's answers. -1: they can't be used ---- */

static int keep(json_t *item, const char *member, const char *value)
{
	return json_object_set_new(item, member, json_string(value));
}

static int keep_aws(const json_t *data, json_t *item)
{
	const char *key = credential_value(data, "access_key"), *secret = credential_value(data, "secret_key");
	const char *session = credential_value(data, "security_token");

	if (!credential_word_fits(key) || !credential_word_fits(secret) || (*session && !credential_word_fits(session)))
		return -1;
	return keep(item, "access-key", key) < 0 || keep(item, "secret-key", secret) < 0
		? -1
		: keep(item, "session-token", session);
}

static int keep_azure(const json_t *data, json_t *item)
{
	const char *client = credential_value(data, "client_id"), *secret = credential_value(data, "client_secret");

	if (!credential_line_fits(client) || !credential_line_fits(secret))
		return -1;
	return keep(item, "client-id", client) < 0 ? -1 : keep(item, "client-secret", secret);
}

/* The key is a JSON document. Its parts that are secret are kept, too, because they may be printed alone. */
static int keep_gcp_key(const char *encoded, json_t *item)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(MAX_KEY);
	json_auto_t *key = NULL;
	struct err err = ERR_INIT;

	if (crypto_base64_decode(encoded, &text) < 0 || json_parse(buf_str(&text), text.len, &key, &err) < 0 ||
		!json_is_object(key))
		return -1;
	return keep(item, "key", buf_str(&text)) < 0 || keep(item, "key-data", encoded) < 0
		? -1
		: keep(item, "private-key", credential_value(key, "private_key"));
}

static int keep_gcp(const json_t *data, json_t *item)
{
	const char *token = credential_value(data, "token");

	if (!strstr(credential_value(item, "auth-type"), "/access_token"))
		return keep_gcp_key(credential_value(data, "private_key_data"), item);
	return credential_line_fits(token) ? keep(item, "access-token", token) : -1;
}

static const struct kind_row {
	void (*path)(const json_t *item, struct buf *out);
	int (*keep)(const json_t *data, json_t *item);
} kinds[] = {
#define KIND(symbol, name, variable, path, keep) [CREDENTIAL_##symbol] = {path, keep},
#include "worker/identity/credentials.def"
};

/* ---- the order ---- */

static bool is_vault(const json_t *item)
{
	return credential_kind(item) == CREDENTIAL_VAULT;
}

bool vault_needed(const json_t *credentials)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		if (is_vault(item))
			return true;
	}
	return false;
}

static json_t *login_of(size_t id, const json_t *item)
{
	_cleanup_(buf_release) struct buf login = BUF_INIT(MAX_PATH), ca = BUF_INIT(MAX_CERTIFICATES);
	const char *address = credential_value(item, "address");
	char title[MAX_CREDENTIAL_TITLE];
	size_t len = strlen(address);
	long long timeout = READ_SECONDS;

	while (len > 0 && address[len - 1] == '/')
		len--;
	buf_text(&login, "auth");
	parts_add(&login, credential_value(item, "auth-path"));
	buf_text(&login, "/login");
	crypto_base64_decode(credential_value(item, "encoded-ca-certificate"), &ca);
	credential_title(item, title);
	text_number(credential_value(item, "client-timeout"), 1, MAX_VAULT_TIMEOUT, &timeout);
	return json_pack("{sI ss ss% ss ss ss ss ss sI}", "id", (json_int_t)id, "title", title, "address", address, len,
		"namespace", credential_value(item, "namespace"), "login", buf_str(&login), "role",
		credential_value(item, "role"), "jwt", credential_value(item, "token"), "ca", buf_str(&ca), "timeout",
		(json_int_t)timeout);
}

/* The id of the Vault that a configuration names. credentials_read has checked that it is there. */
static size_t vault_of(const json_t *credentials, const json_t *item)
{
	const json_t *vault;
	size_t i;

	json_array_foreach((json_t *)credentials, i, vault)
	{
		if (is_vault(vault) && text_equal(credential_value(vault, "tag"), credential_value(item, "vault")))
			return i;
	}
	return 0;
}

static json_t *read_of(const json_t *credentials, size_t id, const json_t *item)
{
	_cleanup_(buf_release) struct buf path = BUF_INIT(MAX_PATH);
	char title[MAX_CREDENTIAL_TITLE];

	kinds[credential_kind(item)].path(item, &path);
	credential_title(item, title);
	return json_pack("{sI ss sI ss}", "id", (json_int_t)id, "title", title, "vault",
		(json_int_t)vault_of(credentials, item), "path", buf_str(&path));
}

json_t *vault_order(const json_t *credentials)
{
	json_t *vaults = json_array(), *secrets = json_array();
	long long sleep = 0, own;
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		if (is_vault(item))
			json_array_append_new(vaults, login_of(i, item));
		if (kinds[credential_kind(item)].path)
			json_array_append_new(secrets, read_of(credentials, i, item));
		if (text_number(credential_value(item, "sleep-seconds"), 0, 1500, &own) == 0 && own > sleep)
			sleep = own;
	}
	return json_pack("{so so sI}", "vaults", vaults, "secrets", secrets, "sleep", (json_int_t)sleep);
}

/* ---- events ---- */

static int refuse(const json_t *item, struct err *err)
{
	char title[MAX_CREDENTIAL_TITLE];

	credential_title(item, title);
	return err_set(err, ERR_INVALID,
		"The credentials %s can't be used: Vault's answer lacks them, or is malformed.", title);
}

static int token_take(json_t *item, const char *token, struct err *err)
{
	if (!is_vault(item) || !credential_word_fits(token))
		return refuse(item, err);
	keep(item, "vault-token", token);
	return 0;
}

static int secret_take(json_t *item, const json_t *data, struct err *err)
{
	int (*keep_secrets)(const json_t *data, json_t *item) = kinds[credential_kind(item)].keep;

	if (!keep_secrets || keep_secrets(data, item) < 0)
		return refuse(item, err);
	json_object_set_new(item, "complete", json_true());
	return 0;
}

static json_t *item_of(const json_t *credentials, const json_t *event, const char *member)
{
	long long id = json_int_at(event, member, -1);

	return id < 0 ? NULL : json_array_get(credentials, (size_t)id);
}

int vault_take(const json_t *credentials, const json_t *event, struct err *err)
{
	json_t *vault = item_of(credentials, event, "vault"), *secret = item_of(credentials, event, "secret");

	if (vault)
		return token_take(vault, credential_value(event, "token"), err);
	return secret ? secret_take(secret, json_object_get(event, "data"), err) : 0;
}

bool vault_complete(const json_t *credentials)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		if (is_vault(item) && !*credential_value(item, "vault-token"))
			return false;
		if (kinds[credential_kind(item)].path && !json_object_get(item, "complete"))
			return false;
	}
	return true;
}
