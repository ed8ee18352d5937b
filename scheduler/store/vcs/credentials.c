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

/* Plain git logs in with the connection's key, the others with a user of the dialect, or the token's. */
static void user_fill(const struct vcs_credential_row *row, struct vcs_credential *credential)
{
	const char *user = credential->dialect == VCS_GIT ? row->key : row->user_name;

	credential->user = mem_text(vcs_login_user(credential->dialect, user));
}

static int credential_fill(
	struct store *store, const struct vcs_credential_row *row, struct vcs_credential *credential, struct err *err)
{
	const char *seal = row->installation_id ? VCS_INSTALLATION_SEAL : VCS_TOKEN_SEAL;

	credential->provider = vcs_provider_of(row->provider);
	credential->dialect = vcs_dialect_of(credential->provider, row->api_url);
	credential->identifier = mem_text(row->identifier);
	credential->http_url = mem_text(row->http_url);
	credential->api_url = mem_text(row->api_url);
	credential->host_keys = mem_text(row->host_keys);
	credential->pool_id = mem_text(row->pool_id);
	credential->expires_in = row->expires_in;
	credential->generation = row->generation;
	text_copy(credential->organization.text, ID_SIZE, row->organization_id);
	text_copy(credential->connection.text, ID_SIZE, text_or_empty(row->connection_id));
	text_copy(credential->installation.text, ID_SIZE, text_or_empty(row->installation_id));
	user_fill(row, credential);
	if (secret_open(store, row->token_sealed, seal, row->token_id, &credential->token, err) < 0)
		return -1;
	return secret_open(store, row->ssh_key_sealed, VCS_SSH_KEY_SEAL, row->token_id, &credential->ssh_key, err);
}

static int credential_take(
	struct store *store, const struct rows *rows, struct vcs_credential *ret_credential, struct err *err)
{
	struct vcs_credential credential = VCS_CREDENTIAL_INIT;

	if (!rows->count)
		return err_set(err, ERR_NOT_FOUND, "repository not found");
	if (credential_fill(store, row_of(vcs_credential, rows, 0), &credential, err) < 0) {
		vcs_credential_release(&credential);
		return -1;
	}
	*ret_credential = credential;
	return 0;
}

int vcs_credential_read(
	struct store *store, const char *repository_id, struct vcs_credential *ret_credential, struct err *err)
{
	const struct github_app *app = store->settings->github_app;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_credential_of_repository, .repository_id = repository_id,
		    .app_url = github_app_url(app), .app_api_url = github_app_api_url(app)) < 0)
		return -1;
	return credential_take(store, &rows, ret_credential, err);
}

int vcs_credential_of_installation(
	struct store *store, const char *installation_id, struct vcs_credential *ret_credential, struct err *err)
{
	const struct github_app *app = store->settings->github_app;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_credential_of_installation, .installation_id = installation_id,
		    .app_url = github_app_url(app), .app_api_url = github_app_api_url(app)) < 0)
		return -1;
	return credential_take(store, &rows, ret_credential, err);
}

const char *vcs_credential_forwarder(const struct vcs_credential *credential)
{
	return *credential->installation.text ? NULL : credential->pool_id;
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

	if (db_query(store->db, &rows, err, vcs_credential_of_connection, .connection_id = connection_id) < 0)
		return -1;
	return credential_take(store, &rows, ret_credential, err);
}

int vcs_credential_of_removal(
	struct store *store, const char *removal_id, struct vcs_credential *ret_credential, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_credential_of_removal, .removal_id = removal_id) < 0)
		return -1;
	return credential_take(store, &rows, ret_credential, err);
}
