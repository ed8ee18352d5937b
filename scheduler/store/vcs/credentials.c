/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/credentials.h"

#include "common/crypto.h"
#include "common/vcs/address.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/credentials.sql.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/store/vcs/tokens.h"

void vcs_credential_release(struct vcs_credential *credential)
{
	free(credential->identifier);
	free(credential->http_url);
	free(credential->api_url);
	free(credential->user);
	free(credential->host_keys);
	free(credential->pool_id);
	crypto_secret_freep(&credential->token);
	crypto_secret_freep(&credential->ssh_key);
	*credential = (struct vcs_credential)VCS_CREDENTIAL_INIT;
}

/* clang-format off */
#define CONNECTION_COLUMNS \
	"c.id as connection_id, c.organization_id, c.provider, c.http_url, c.api_url, c.key, c.pool_id, " \
	"t.id as token_id, t.generation, t.user_name, t.token_sealed, t.ssh_key_sealed, coalesce(t.host_keys, '') as host_keys, " \
	"coalesce(extract(epoch from t.expires_at - now())::bigint, -1) as expires_in, "
#define CONNECTION_TABLES "vcs_connections c left join vcs_tokens t on t.connection_id = c.id "

/* Of an installation of the site's GitHub App: $2 is the App's URL, $3 that of its API. */
#define INSTALLATION_COLUMNS \
	"null as connection_id, i.organization_id, 'github_app' as provider, $2::text as http_url, $3::text as api_url, " \
	"null as key, i.pool_id, i.id as token_id, i.generation, null as user_name, i.token_sealed, " \
	"null::bytea as ssh_key_sealed, '' as host_keys, " \
	"coalesce(extract(epoch from i.token_expires_at - now())::bigint, -1) as expires_in, "

static const char of_installation_sql[] =
	"select " INSTALLATION_COLUMNS "null as identifier, i.id as installation_id from vcs_installations i "
	"where i.id = $1 and i.removed_at is null";

static const char of_repository_sql[] =
	"select " CONNECTION_COLUMNS "r.identifier, null as installation_id from vcs_repositories r join "
	CONNECTION_TABLES "on c.id = r.connection_id where r.id = $1 union all "
	"select " INSTALLATION_COLUMNS "r.identifier, i.id from vcs_repositories r join vcs_installations i "
	"on i.id = r.installation_id where r.id = $1 and i.removed_at is null";
/* clang-format on */

/* Plain git logs in with the connection's key, the others with a user of the dialect, or the token's. */
static void user_fill(const struct rows *rows, struct vcs_credential *credential)
{
	const char *user = row_text(rows, 0, credential->dialect == VCS_GIT ? "key" : "user_name");

	credential->user = mem_text(vcs_login_user(credential->dialect, user));
}

static int credential_fill(
	struct store *store, const struct rows *rows, struct vcs_credential *credential, struct err *err)
{
	bool of_app = !row_null(rows, 0, "installation_id");
	const char *token_id = row_text(rows, 0, "token_id");
	const struct sealed_secret token = {
		{rows, 0, "token_sealed"}, of_app ? VCS_INSTALLATION_SEAL : VCS_TOKEN_SEAL, token_id};
	const struct sealed_secret ssh_key = {{rows, 0, "ssh_key_sealed"}, VCS_SSH_KEY_SEAL, token_id};

	credential->provider = vcs_provider_of(row_text(rows, 0, "provider"));
	credential->dialect = vcs_dialect_of(credential->provider, row_text(rows, 0, "api_url"));
	credential->identifier = mem_text(row_text(rows, 0, "identifier"));
	credential->http_url = mem_text(row_text(rows, 0, "http_url"));
	credential->api_url = mem_text(row_text(rows, 0, "api_url"));
	credential->host_keys = mem_text(row_text(rows, 0, "host_keys"));
	credential->pool_id = mem_text(row_text(rows, 0, "pool_id"));
	credential->expires_in = row_int(rows, 0, "expires_in");
	credential->generation = row_int(rows, 0, "generation");
	text_copy(credential->organization.text, ID_SIZE, row_text(rows, 0, "organization_id"));
	text_copy(credential->connection.text, ID_SIZE, text_or_empty(row_text(rows, 0, "connection_id")));
	text_copy(credential->installation.text, ID_SIZE, text_or_empty(row_text(rows, 0, "installation_id")));
	user_fill(rows, credential);
	if (secret_open(store, &token, &credential->token, err) < 0)
		return -1;
	return secret_open(store, &ssh_key, &credential->ssh_key, err);
}

static int credential_take(
	struct store *store, const struct rows *rows, struct vcs_credential *ret_credential, struct err *err)
{
	struct vcs_credential credential = VCS_CREDENTIAL_INIT;

	if (!rows->count)
		return err_set(err, ERR_NOT_FOUND, "repository not found");
	if (credential_fill(store, rows, &credential, err) < 0) {
		vcs_credential_release(&credential);
		return -1;
	}
	*ret_credential = credential;
	return 0;
}

static int credential_query(
	struct store *store, const char *sql, const char *id, struct vcs_credential *ret_credential, struct err *err)
{
	const struct github_app *app = store->settings->github_app;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query_sql(store->db, &rows, err, sql, P_TEXT(id), P_TEXT(github_app_url(app)),
		    P_TEXT(github_app_api_url(app))) < 0)
		return -1;
	return credential_take(store, &rows, ret_credential, err);
}

int vcs_credential_read(
	struct store *store, const char *repository_id, struct vcs_credential *ret_credential, struct err *err)
{
	return credential_query(store, of_repository_sql, repository_id, ret_credential, err);
}

int vcs_credential_of_installation(
	struct store *store, const char *installation_id, struct vcs_credential *ret_credential, struct err *err)
{
	return credential_query(store, of_installation_sql, installation_id, ret_credential, err);
}

struct vcs_api vcs_credential_api(const struct vcs_credential *credential)
{
	return (struct vcs_api){.dialect = credential->dialect,
		.api_url = credential->api_url,
		.identifier = credential->identifier,
		.token = credential->token,
		.app = *credential->installation.text != '\0'};
}

int vcs_credential_of_connection(
	struct store *store, const char *connection_id, struct vcs_credential *ret_credential, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, credentials_of_connection, .connection_id = connection_id) < 0)
		return -1;
	return credential_take(store, &rows, ret_credential, err);
}

int vcs_credential_of_removal(
	struct store *store, const char *removal_id, struct vcs_credential *ret_credential, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, credentials_of_removal, .removal_id = removal_id) < 0)
		return -1;
	return credential_take(store, &rows, ret_credential, err);
}
