/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include "scheduler/api/resources.h"
#include "scheduler/api/vcs/connections.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/vcs/commit_contents.h"
#include "scheduler/store/vcs/tokens.h"
#include "scheduler/store/vcs/tokens.sql.h"

/* Credentials of connections. They are never shown. */

/* ---- the resource ---- */

static const struct cell_shown attributes[] = {
	CELL("service-provider-user", vcs_token, user_name),
	CELL("has-ssh-key", vcs_token, has_ssh_key),
	CELL("host-keys", vcs_token, host_keys),
	CELL("state", vcs_token, state),
	CELL("error", vcs_token, error),
	CELL_ALWAYS("uid", "null"),
	CELL_TIME("created-at", vcs_token, created_at),
};

static json_t *token_resource(const void *row)
{
	const struct vcs_token_row *token = row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/oauth-tokens/%s", token->id);
	json_t *resource = resource_new("oauth-tokens", token->id, cells_shown(attributes, ARRAY_LEN(attributes), row),
		json_pack("{so}", "oauth-client", to_one("oauth-clients", token->connection_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

const struct resource_kind kind_oauth_tokens = {
	.type = "oauth-tokens", .ask = vcs_tokens_read_all, .show = token_resource};

/* ---- reading ---- */

static int token_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (vcs_token_read(req->store, param(req, "oauth_token"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(vcs_token, ret_rows, 0)->organization_id}, "OAuth token",
		err);
}

static int page_of_organization(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct vcs_token_list list = {
		.organization_id = scope->organization.text, .limit = page->size, .offset = page->offset};

	return vcs_tokens_list(req->store, &list, ret_rows, err);
}

int oauth_tokens_index(struct request *req, struct response *res, struct err *err)
{
	return respond_whole_list(
		req, res, &(struct resource_list){&kind_oauth_tokens, scope_organization, page_of_organization}, err);
}

static int page_of_client(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows client = ROWS_INIT;
	const struct vcs_token_list list = {
		.connection_id = param(req, "client"), .limit = page->size, .offset = page->offset};

	(void)scope;
	if (vcs_connection_in_path(req, &client, err) < 0)
		return -1;
	return vcs_tokens_list(req->store, &list, ret_rows, err);
}

int oauth_tokens_of_client(struct request *req, struct response *res, struct err *err)
{
	return respond_whole_list(req, res, &(struct resource_list){&kind_oauth_tokens, NULL, page_of_client}, err);
}

static int token_show(struct request *req, struct response *res, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (vcs_token_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, token_resource(row_of(vcs_token, &rows, 0)));
}

int oauth_tokens_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (token_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, token_resource(row_of(vcs_token, &rows, 0)));
}

/* ---- changing ---- */

/* The attribute as the store takes it: "" is absent, null clears. */
static int text_read(const struct request *req, const char *name, int (*check)(const char *text, struct err *err),
	const char **ret_text, struct err *err)
{
	const char *text = NULL;

	if (body_long_text(req, name, &text, err) < 0)
		return -1;
	if (!body_has(req, name) || text_equal(text, ""))
		return 0;
	*ret_text = text_or_empty(text);
	return text ? check(text, err) : 0;
}

int oauth_tokens_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct vcs_token_change change = {NULL, NULL};
	const char *id;

	if (token_in_path(req, &rows, err) < 0 || body_check(req, "oauth-tokens", err) < 0 ||
		text_read(req, "ssh-key", vcs_ssh_key_check, &change.ssh_key, err) < 0 ||
		text_read(req, "host-keys", vcs_host_keys_check, &change.host_keys, err) < 0)
		return -1;
	id = row_of(vcs_token, &rows, 0)->id;
	if (vcs_token_update(req->store, id, &change, err) < 0)
		return -1;
	return token_show(req, res, id, err);
}

int oauth_tokens_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_token_row *token;

	if (token_in_path(req, &rows, err) < 0)
		return -1;
	token = row_of(vcs_token, &rows, 0);
	if (connection_contents_failed(req->store, token->connection_id,
		    "The token of the connection to the repository was deleted.", err) < 0 ||
		vcs_token_delete(req->store, token->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
