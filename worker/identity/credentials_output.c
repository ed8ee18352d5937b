/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/identity/credentials.h"

#include <string.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"

enum {
	MAX_FILE = 2 * MAX_CERTIFICATES,
	MAX_VARIABLE = 128 * 1024 - 1, /* of Linux: a text of an environment with its end (MAX_ARG_STRLEN) */
};

/* ---- paths ---- */

/* The folder of a configuration. A tag may be "default", too. */
static char *folder_of(const char *base, const json_t *item)
{
	const char *tag = credential_value(item, "tag");

	return mem_printf("%s%s%s/%s%s", base, *base ? "/" : "", credential_value(item, "kind"),
		*tag ? "aliases/" : "default", tag);
}

static char *path_of(const char *base, const json_t *item, const char *file)
{
	_cleanup_(freep) char *folder = folder_of(base, item);

	return mem_printf("%s/%s", folder, file);
}

/* ---- the content of files ---- */

struct making {
	const json_t *item;
	const char *base; /* of the paths in a file */
};

static int make_aws_config(const struct making *making, struct buf *out)
{
	_cleanup_(freep) char *token = path_of(making->base, making->item, "token");

	return buf_printf(out, "[default]\nweb_identity_token_file = %s\nrole_arn = %s\nrole_session_name = %s\n",
		token, credential_value(making->item, "role-arn"), credential_value(making->item, "session"));
}

static int json_write(json_t *document, struct buf *out)
{
	_cleanup_(freep) char *text = json_text(document);

	json_decref(document);
	return buf_text(out, text);
}

static int make_gcp_credentials(const struct making *making, struct buf *out)
{
	_cleanup_(freep) char *token = path_of(making->base, making->item, "token");
	const char *account = credential_value(making->item, "service-account");
	json_t *document = json_pack("{ss ss ss ss s{ss}}", "type", "external_account", "audience",
		credential_value(making->item, "audience"), "subject_token_type",
		"urn:ietf:params:oauth:token-type:jwt", "token_url", "https://sts.googleapis.com/v1/token",
		"credential_source", "file", token);

	if (*account)
		json_object_set_new(document, "service_account_impersonation_url",
			json_sprintf("https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
				     "%s:generateAccessToken",
				account));
	return json_write(document, out);
}

static int make_hcp_credentials(const struct making *making, struct buf *out)
{
	_cleanup_(freep) char *token = path_of(making->base, making->item, "token");

	return json_write(json_pack("{ss s{ss s{ss}}}", "scheme", "workload", "workload", "provider_resource_name",
				  credential_value(making->item, "resource-name"), "file", "path", token),
		out);
}

static int make_ca(const struct making *making, struct buf *out)
{
	const char *encoded = credential_value(making->item, "encoded-ca-certificate");

	return *encoded ? crypto_base64_decode(encoded, out) : 0;
}

static int make_aws_credentials(const struct making *making, struct buf *out)
{
	const char *session = credential_value(making->item, "session-token");

	if (buf_printf(out, "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n",
		    credential_value(making->item, "access-key"), credential_value(making->item, "secret-key")) < 0)
		return -1;
	return *session ? buf_printf(out, "aws_session_token = %s\n", session) : 0;
}

/* ---- the tables ---- */

static const struct file_row {
	enum credential_kind kind;
	const char *name;
	const char *member;
	int (*make)(const struct making *making, struct buf *out);
} file_rows[] = {
#define FILE_OF(symbol, name, member, make) {CREDENTIAL_##symbol, name, member, make},
#include "worker/identity/credentials.def"
};

enum source { VALUE, ALWAYS, PATH, FIXED };

struct output_row {
	enum credential_kind kind;
	const char *name;
	enum source source;
	const char *of;
};

static const struct output_row env_rows[] = {
#define ENV(symbol, name, source, of) {CREDENTIAL_##symbol, name, source, of},
#include "worker/identity/credentials.def"
};

static const struct output_row field_rows[] = {
#define FIELD(symbol, name, source, of) {CREDENTIAL_##symbol, name, source, of},
#include "worker/identity/credentials.def"
};

static const char *const variables[] = {
#define KIND(symbol, name, variable, path, keep) [CREDENTIAL_##symbol] = variable,
#include "worker/identity/credentials.def"
};

/* ---- files ---- */

static int content_make(const struct file_row *row, const struct making *making, struct buf *out)
{
	return row->make ? row->make(making, out) : buf_text(out, credential_value(making->item, row->member));
}

static bool file_exists(const json_t *item, const char *name)
{
	const struct making making = {.item = item, .base = ""};
	_cleanup_(buf_release) struct buf content = BUF_INIT(MAX_FILE);

	for (size_t i = 0; i < ARRAY_LEN(file_rows); i++)
		if (file_rows[i].kind == credential_kind(item) && text_equal(file_rows[i].name, name))
			return content_make(&file_rows[i], &making, &content) == 0 && content.len > 0;
	return false;
}

int credentials_files(const json_t *credentials, const struct credential_paths *paths,
	int (*fn)(void *data, const char *path, struct bytes content, struct err *err), void *data, struct err *err)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		const struct making making = {.item = item, .base = paths->own};

		for (size_t row = 0; row < ARRAY_LEN(file_rows); row++) {
			_cleanup_(buf_release) struct buf content = BUF_INIT(MAX_FILE);
			_cleanup_(freep) char *path = path_of("", item, file_rows[row].name);

			if (file_rows[row].kind != credential_kind(item))
				continue;
			if (content_make(&file_rows[row], &making, &content) < 0)
				return err_set(err, ERR_TOO_LARGE, "%s is too large", path);
			if (content.len > 0 && fn(data, path, buf_bytes(&content), err) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- values ---- */

/* The value of a row for a configuration. The caller frees it. */
static char *output_value(const struct output_row *row, const json_t *item, const char *base)
{
	if (row->source == FIXED)
		return mem_text(row->of);
	if (row->source == PATH)
		return file_exists(item, row->of) ? path_of(base, item, row->of) : mem_text("");
	return mem_text(credential_value(item, row->of));
}

static void environment_of(const json_t *item, const char *base, struct texts *env)
{
	for (size_t i = 0; i < ARRAY_LEN(env_rows); i++) {
		_cleanup_(freep) char *value = NULL;

		if (env_rows[i].kind != credential_kind(item))
			continue;
		value = output_value(&env_rows[i], item, base);
		if (*value || env_rows[i].source == ALWAYS)
			texts_set_env(env, env_rows[i].name, value);
	}
}

/* Appends the object of one configuration. `item` is NULL for a default configuration that is not there. */
static int fields_write(enum credential_kind kind, const json_t *item, const char *base, struct buf *out)
{
	const char *separator = "{";

	for (size_t i = 0; i < ARRAY_LEN(field_rows); i++) {
		_cleanup_(freep) char *value = NULL;

		if (field_rows[i].kind != kind)
			continue;
		value = item ? output_value(&field_rows[i], item, base) : mem_text("");
		if (buf_printf(out, "%s%s=", separator, field_rows[i].name) < 0 || hcl_quote(out, value) < 0)
			return -1;
		separator = ",";
	}
	return buf_text(out, "}");
}

static int aliases_write(const json_t *credentials, enum credential_kind kind, const char *base, struct buf *out)
{
	const char *separator = "";
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		const char *tag = credential_value(item, "tag");

		if (credential_kind(item) != kind || !*tag)
			continue;
		if (buf_printf(out, "%s\"%s\"=", separator, tag) < 0 || fields_write(kind, item, base, out) < 0)
			return -1;
		separator = ",";
	}
	return 0;
}

/* Appends the value of a kind's input variable, as an expression. */
static int variable_write(const json_t *credentials, enum credential_kind kind, const char *base, struct buf *out)
{
	const json_t *by_default = credentials_find(credentials, kind, "");

	if (buf_text(out, "{default=") < 0 || fields_write(kind, by_default, base, out) < 0 ||
		buf_text(out, ",aliases={") < 0 || aliases_write(credentials, kind, base, out) < 0)
		return -1;
	return buf_text(out, "}}");
}

static bool has_kind(const json_t *credentials, enum credential_kind kind)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		if (credential_kind(item) == kind)
			return true;
	}
	return false;
}

static int variables_set(
	const json_t *credentials, const char *base, const json_t *only, struct texts *env, struct err *err)
{
	for (enum credential_kind kind = 0; kind < CREDENTIAL_KINDS; kind++) {
		_cleanup_(buf_release) struct buf value = BUF_INIT(MAX_VARIABLE);
		_cleanup_(freep) char *name = mem_printf("TF_VAR_%s", variables[kind]);

		if (!has_kind(credentials, kind) || (only && !json_object_get(only, variables[kind])))
			continue;
		value.limit -= strlen(name) + 1;
		if (variable_write(credentials, kind, base, &value) < 0)
			return err_set(err, ERR_TOO_LARGE, "the input variable %s has more than %d bytes",
				variables[kind], MAX_VARIABLE);
		texts_set_env(env, name, buf_str(&value));
	}
	return 0;
}

int credentials_environment(const json_t *credentials, const struct credential_paths *paths, const json_t *only,
	struct texts *env, struct err *err)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)credentials, i, item)
	{
		if (!*credential_value(item, "tag"))
			environment_of(item, paths->own, env);
	}
	return variables_set(credentials, paths->stable, only, env, err);
}
