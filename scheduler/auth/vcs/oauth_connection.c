/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/oauth_connection.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/auth/vcs/oauth_connection.sql.h"
#include "scheduler/auth/vcs/provider_request.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/tokens.h"

void oauth_connection_release(struct oauth_connection *connection)
{
	free(connection->organization_name);
	free(connection->provider_name);
	free(connection->http_url);
	free(connection->api_url);
	free(connection->key);
	free(connection->redirect);
	free(connection->pool_id);
	free(connection->user);
	crypto_secret_freep(&connection->secret);
	crypto_secret_freep(&connection->refresh);
}

void oauth_result_release(struct oauth_result *result)
{
	oauth_tokens_release(&result->tokens);
	free(result->user);
}

/* ---- reading ---- */

static int secrets_open(struct store *store, const struct oauth_connection_row *row,
	struct oauth_connection *connection, struct err *err)
{
	if (secret_open(store, row->secret_sealed, VCS_SECRET_SEAL, row->id, &connection->secret, err) < 0)
		return -1;
	if (!row->token_id)
		return 0;
	return secret_open(store, row->refresh_sealed, VCS_REFRESH_SEAL, row->token_id, &connection->refresh, err);
}

static int connection_take(struct store *store, const struct oauth_connection_row *row,
	struct oauth_connection *ret_connection, struct err *err)
{
	enum vcs_provider provider = vcs_provider_of(row->provider);
	struct oauth_connection c = {.organization_name = mem_text(row->organization_name),
		.provider_name = mem_text(vcs_provider_display(provider)),
		.http_url = mem_text(row->http_url),
		.api_url = mem_text(row->api_url),
		.key = mem_text(text_or_empty(row->key)),
		.redirect = mem_printf("%s/auth/%s/callback", store->settings->public_url, row->callback_id),
		.pool_id = mem_text(row->pool_id),
		.user = row->user_name ? mem_text(row->user_name) : NULL,
		.generation = row->generation};

	text_copy(c.id.text, ID_SIZE, row->id);
	text_copy(c.organization.text, ID_SIZE, row->organization_id);
	if (secrets_open(store, row, &c, err) < 0) {
		oauth_connection_release(&c);
		return -1;
	}
	c.application = (struct oauth_application){.provider = provider,
		.http_url = c.http_url,
		.api_url = c.api_url,
		.id = c.key,
		.secret = text_or_empty(c.secret),
		.redirect = c.redirect};
	*ret_connection = c;
	return 0;
}

int oauth_connection_read(
	struct store *store, const char *callback_id, struct oauth_connection *ret_connection, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, oauth_connection_read, .callback_id = callback_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "OAuth client not found");
	return connection_take(store, row_of(oauth_connection, &rows, 0), ret_connection, err);
}

int oauth_connection_of_token(
	struct store *store, const char *token_id, struct oauth_connection *ret_connection, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, oauth_connection_of_token, .token_id = token_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "OAuth token not found");
	return connection_take(store, row_of(oauth_connection, &rows, 0), ret_connection, err);
}

/* ---- asking the provider ---- */

static void outcome_set(
	struct oauth_result *result, const struct oauth_connection *connection, const struct provider_answer *answer)
{
	result->outcome = provider_answer_is_passing(answer) ? OAUTH_PASSING : OAUTH_REFUSED;
	result->retry_after = answer->retry_after;
	snprintf(result->why, sizeof(result->why), "%s gave no token: %.200s.", connection->provider_name, answer->why);
}

static void tokens_ask(const struct store *store, const struct oauth_connection *connection,
	const struct oauth_request *request, struct oauth_result *ret_result)
{
	const struct provider_request http = {.method = "POST",
		.url = request->url,
		.headers = {"Content-Type: application/x-www-form-urlencoded", request->authorization},
		.body = request->body,
		.store = store,
		.pool_id = connection->pool_id};
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};
	char error[OAUTH_ERROR_SIZE];

	*ret_result = (struct oauth_result){.outcome = OAUTH_DONE};
	provider_request_send(store->settings->vcs_guard, &http, &answer);
	if (oauth_answer_read(answer.body, &ret_result->tokens, error) == 0 && answer.status == 200)
		return;
	outcome_set(ret_result, connection, &answer);
	if (*error && ret_result->outcome == OAUTH_REFUSED)
		snprintf(ret_result->why, sizeof(ret_result->why), "%s refused with the error %s.",
			connection->provider_name, error);
}

/* A provider that gives a token and then refuses it has given a wrong one. One that does not answer may have given a
 * good one. */
static void user_ask(const struct store *store, const struct oauth_connection *connection, struct oauth_result *result)
{
	_cleanup_(freep) char *url = oauth_user_url(&connection->application);
	_cleanup_(crypto_secret_freep) char *bearer = mem_printf("Authorization: Bearer %s", result->tokens.access);
	const struct provider_request http = {
		.method = "GET", .url = url, .headers = {bearer}, .store = store, .pool_id = connection->pool_id};
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};

	provider_request_send(store->settings->vcs_guard, &http, &answer);
	if (answer.status == 200)
		result->user = oauth_user_name(&connection->application, answer.body);
	if (answer.status == 401 || answer.status == 403) {
		result->outcome = OAUTH_REFUSED;
		snprintf(result->why, sizeof(result->why), "%s refused the token that it gave: %.200s.",
			connection->provider_name, answer.why);
	}
}

void oauth_exchange(const struct store *store, const struct oauth_connection *connection, const char *code,
	const char *verifier, struct oauth_result *ret_result)
{
	_cleanup_(oauth_request_release) struct oauth_request request;

	oauth_exchange_request(&connection->application, code, verifier, &request);
	tokens_ask(store, connection, &request, ret_result);
	/* Users of the GitHub App are checked by its own rules (app.h). */
	if (ret_result->outcome == OAUTH_DONE && connection->application.provider != VCS_PROVIDER_GITHUB_APP)
		user_ask(store, connection, ret_result);
}

void oauth_refresh(
	const struct store *store, const struct oauth_connection *connection, struct oauth_result *ret_result)
{
	_cleanup_(oauth_request_release) struct oauth_request request;

	oauth_refresh_request(&connection->application, connection->refresh, &request);
	tokens_ask(store, connection, &request, ret_result);
	if (ret_result->outcome != OAUTH_DONE)
		return;
	ret_result->user = connection->user ? mem_text(connection->user) : NULL;
	/* Some providers keep the refresh token. */
	if (!ret_result->tokens.refresh)
		ret_result->tokens.refresh = mem_text(connection->refresh);
}

/* ---- storing ---- */

struct storing {
	struct store *store;
	const struct oauth_connection *connection;
	const struct oauth_result *result;
};

static int store_in(void *data, struct err *err)
{
	const struct storing *s = data;
	const struct oauth_tokens *tokens = &s->result->tokens;
	const struct vcs_token token = {.token = tokens->access,
		.refresh = tokens->refresh,
		.expires_in = tokens->expires_in,
		.user_name = s->result->user,
		.verified = true};

	if (vcs_token_put(s->store, s->connection->id.text, &token, err) < 0)
		return -1;
	return renewal_plan_token(s->store, s->connection->id.text, tokens->expires_in, err);
}

int oauth_store(struct store *store, const struct oauth_connection *connection, const struct oauth_result *result,
	struct err *err)
{
	struct storing storing = {store, connection, result};

	return db_transaction(store->db, store_in, &storing, err);
}
