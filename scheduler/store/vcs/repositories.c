/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/repositories.h"

#include <openssl/crypto.h>
#include <string.h>

#include "common/crypto.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/repositories.sql.h"

enum { SEALED_LIMIT = 4 << 10 };

/* ---- its users ---- */

static const struct {
	const char *what;
	const struct db_statement *read, *set, *clear;
} users[] = {
	[VCS_USER_WORKSPACE] = {"workspace", &vcs_workspace_use_read_statement, &vcs_workspace_use_set_statement,
		&vcs_workspace_use_clear_statement},
	[VCS_USER_POLICY_SET] = {"policy set", &vcs_policy_set_use_read_statement, &vcs_policy_set_use_set_statement,
		&vcs_policy_set_use_clear_statement},
};

int vcs_used_read(struct store *store, struct vcs_user user, struct rows *ret_rows, struct err *err)
{
	if (db_query_one_of(
		    store->db, ret_rows, err, users[user.kind].read, vcs_workspace_use_read, .user_id = user.id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%s not found", users[user.kind].what);
}

/* ---- what it comes from ---- */

static int connection_find(
	struct store *store, const struct vcs_source_ids *ids, struct vcs_source *ret_source, struct err *err)
{
	static const char pointer[] = "/data/attributes/vcs-repo/oauth-token-id";
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_connection_of_token_row *row;

	if (db_query(store->db, &rows, err, vcs_connection_of_token, .token_id = ids->token_id,
		    .organization_id = ids->organization_id) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, pointer, "Oauth token must exist");
	row = row_of(vcs_connection_of_token, &rows, 0);
	ret_source->provider = vcs_provider_of(row->provider);
	ret_source->dialect = vcs_dialect_of(ret_source->provider, row->api_url);
	text_copy(ret_source->connection.text, ID_SIZE, row->id);
	return vcs_connection_use_check(store, ret_source->connection.text, ids->project_id, pointer, err);
}

static int installation_find(
	struct store *store, const struct vcs_source_ids *ids, struct vcs_source *ret_source, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_installation_of_organization, .installation_id = ids->installation_id,
		    .organization_id = ids->organization_id) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, "/data/attributes/vcs-repo/github-app-installation-id",
			"Github app installation must exist");
	ret_source->provider = VCS_PROVIDER_GITHUB_APP;
	ret_source->dialect = VCS_GITHUB;
	text_copy(ret_source->installation.text, ID_SIZE, row_of(vcs_installation_of_organization, &rows, 0)->id);
	return 0;
}

int vcs_source_find(
	struct store *store, const struct vcs_source_ids *ids, struct vcs_source *ret_source, struct err *err)
{
	*ret_source = (struct vcs_source){.provider = VCS_PROVIDERS};
	return ids->token_id ? connection_find(store, ids, ret_source, err)
			     : installation_find(store, ids, ret_source, err);
}

/* ---- the repository ---- */

/* GitLab signs deliveries with a secret of this form; older versions send it as it is. */
static char *secret_new(enum vcs_dialect dialect)
{
	unsigned char key[32];
	_cleanup_(freep) char *text = NULL;

	if (dialect != VCS_GITLAB)
		return crypto_random_hex(sizeof(key));
	crypto_random(key, sizeof(key));
	text = crypto_base64(key, sizeof(key));
	OPENSSL_cleanse(key, sizeof(key));
	return mem_printf("whsec_%s", text);
}

/* Seals a new secret for the hook of that repository. */
static void secret_seal(
	struct store *store, enum vcs_dialect dialect, const char *repository_id, struct buf *ret_sealed)
{
	_cleanup_(freep) char *context = mem_printf(VCS_HOOK_SEAL "%s", repository_id), *secret = secret_new(dialect);

	seal_text(store, context, secret, ret_sealed);
	OPENSSL_cleanse(secret, strlen(secret));
}

/* Creates the repository with a new secret for its hook, unless it is there. */
static int repository_ensure(struct store *store, const struct vcs_use *use, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	const char *connection = *use->source.connection.text ? use->source.connection.text : NULL;
	struct id id = id_new("vr");

	secret_seal(store, use->source.dialect, id.text, &sealed);
	return db_query(store->db, NULL, err, vcs_repository_ensure, .id = id.text,
		.organization_id = use->organization_id, .connection_id = connection,
		.installation_id = connection ? NULL : use->source.installation.text, .identifier = use->identifier,
		.secret_sealed = db_blob(buf_str(&sealed), sealed.len));
}

int vcs_repository_of_use(struct store *store, const struct vcs_use *use, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (repository_ensure(store, use, err) < 0 ||
		db_query(store->db, &rows, err, vcs_repository_find, .connection_id = use->source.connection.text,
			.organization_id = use->organization_id, .installation_id = use->source.installation.text,
			.identifier = use->identifier) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_INTERNAL, "the repository was deleted meanwhile");
	text_copy(ret_id->text, ID_SIZE, row_of(vcs_repository_find, &rows, 0)->id);
	return 0;
}

static int row_set(struct store *store, struct vcs_user user, const struct vcs_use *use, const char *repository_id,
	struct err *err)
{
	bool policies = user.kind == VCS_USER_POLICY_SET;
	_cleanup_(freep) char *patterns = use->update_patterns ? json_text(use->update_patterns) : mem_text("[]");

	return db_query_one_of(store->db, NULL, err, users[user.kind].set, vcs_workspace_use_set, .user_id = user.id,
		.repository_id = repository_id, .branch = use->branch, .ingress_submodules = use->ingress_submodules,
		.tags_regex = policies ? "" : use->tags_regex,
		.policies_path = policies ? text_or_empty(use->policies_path) : NULL,
		.update_patterns = policies ? patterns : NULL);
}

int vcs_use_set(struct store *store, struct vcs_user user, const struct vcs_use *use, struct id *ret_repository,
	bool *ret_changed, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *before = NULL;

	if (vcs_used_read(store, user, &rows, err) < 0 || vcs_repository_of_use(store, use, ret_repository, err) < 0 ||
		row_set(store, user, use, ret_repository->text, err) < 0)
		return -1;
	before = json_shown(row_of(vcs_used, &rows, 0)->repository);
	*ret_changed = !text_equal(json_string_at(before, "repository"), ret_repository->text) ||
		!text_equal(json_string_at(before, "branch"), use->branch);
	return 0;
}

int vcs_use_clear(struct store *store, struct vcs_user user, struct err *err)
{
	return db_query_one_of(
		store->db, NULL, err, users[user.kind].clear, vcs_workspace_use_clear, .user_id = user.id);
}

int vcs_use_of_policies(struct store *store, const char *policy_set_id, const char *policies_path,
	const json_t *update_patterns, struct err *err)
{
	_cleanup_(freep) char *patterns = update_patterns ? json_text(update_patterns) : mem_text("[]");

	return db_query(store->db, NULL, err, vcs_use_of_policies, .policy_set_id = policy_set_id,
		.policies_path = text_or_empty(policies_path), .patterns = patterns);
}

int vcs_available_check(struct store *store, const json_t *workspace_ids, const char *pointer, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, workspace_ids);
	if (db_query(store->db, &rows, err, vcs_available_check, .ids = &ids) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return err_at(err, pointer,
		"The OAuth client of the repository of workspace %s is not available to the project",
		row_of(vcs_available_check, &rows, 0)->name);
}

bool vcs_place_of(struct vcs_place_columns columns, struct vcs_place *ret_place)
{
	enum vcs_provider provider = vcs_provider_of(columns.provider);

	*ret_place = (struct vcs_place){.http_url = columns.http_url, .identifier = columns.identifier};
	if (provider == VCS_PROVIDERS || !ret_place->http_url || !ret_place->identifier)
		return false;
	ret_place->dialect = vcs_dialect_of(provider, columns.api_url);
	return true;
}

/* ---- lists ---- */

int vcs_repositories_list(struct store *store, const char *organization_id, struct list_range range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_repositories_list, .organization_id = organization_id,
		.limit = range.limit, .offset = range.offset, .user = response_scope_user(store->scope));
}

int vcs_repository_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, vcs_repository_read, .id = id,
		    .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "repository not found");
}

int vcs_hook_secret_read(struct store *store, const char *id, char **ret_secret, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	*ret_secret = NULL;
	if (db_query(store->db, &rows, err, vcs_hook_secret_read, .id = id) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return secret_open(
		store, row_of(vcs_hook_secret_read, &rows, 0)->hook_secret_sealed, VCS_HOOK_SEAL, id, ret_secret, err);
}

/* Locks the repository before its hook, in the same order as calls do. */
int vcs_hook_secret_rotate(struct store *store, const char *id, enum vcs_dialect dialect, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);

	secret_seal(store, dialect, id, &sealed);
	if (db_query(store->db, NULL, err, vcs_hook_secret_rotate, .id = id,
		    .secret_sealed = db_blob(buf_str(&sealed), sealed.len)) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_hook_renew, .id = id);
}
