/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/saml/sign_in.h"

#include <string.h>

#include "scheduler/auth/saml/sign_in.sql.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/saml/wire.h"

enum { MAX_STATE = 200 };

/* ---- the request ---- */

int saml_begin(const struct saml_site *site, struct sign_in_attempt_order order, const char *cookie,
	struct sign_in_attempt *ret_attempt, char **ret_url, struct err *err)
{
	_cleanup_(freep) char *id = saml_message_id();
	json_t *request = saml_request(site->store, site->provider, "authn_request");
	json_auto_t *answer = NULL;

	order.provider_id = site->provider->id.text;
	order.request_id = id;
	if (sign_in_attempt_begin(site->store, &order, cookie, ret_attempt, err) < 0) {
		json_decref(request);
		return -1;
	}
	json_object_set_new(request, "id", json_string(id));
	json_object_set_new(request, "relay_state", json_string(ret_attempt->state));
	if (helper_ask(site->helper, request, &answer, err) < 0)
		return -1;
	*ret_url = mem_text(text_or_empty(json_string_at(answer, "url")));
	return 0;
}

/* ---- the response ---- */

/* *ret_id is NULL if the state is none of ours, and the provider may begin sign-ins. */
static int request_find(const struct saml_site *site, const char *state, char **ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct saml_attempt_request_row *row = NULL;
	char hash[SHA256_HEX_SIZE];

	session_hash(state, hash);
	if (strlen(state) <= MAX_STATE &&
		db_query(site->store->db, &rows, err, saml_attempt_request, .state_hash = hash) < 0)
		return -1;
	if (rows.count)
		row = row_of(saml_attempt_request, &rows, 0);
	*ret_id = row && text_equal(row->provider_id, site->provider->id.text) ? mem_text(row->request_id) : NULL;
	if (*ret_id || saml_flag(site->provider, "idp-initiated-enabled"))
		return 0;
	return err_set(err, ERR_NOT_FOUND,
		"This sign-in did not begin here, was used before, or is older than ten minutes. Sign in again.");
}

/* Another response with the same assertion is refused from now on, at each scheduler. */
static int assertion_use(const struct saml_site *site, const json_t *answer, const char *code, struct err *err)
{
	_cleanup_(freep) char *name = mem_printf("%s %s", text_or_empty(json_string_at(answer, "issuer")),
		text_or_empty(json_string_at(answer, "assertion_id")));
	_cleanup_(freep) char *result = json_text(answer);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char id[SHA256_HEX_SIZE], hash[SHA256_HEX_SIZE];

	session_hash(name, id);
	session_hash(code, hash);
	if (db_query(site->store->db, &rows, err, saml_assertion_use, .id = id,
		    .expires_at = json_int_at(answer, "not_on_or_after", 0) + SAML_SKEW, .code_hash = hash,
		    .result = result) < 0)
		return -1;
	return db_affected(&rows)
		? 0
		: err_set(err, ERR_FORBIDDEN, "This answer of the identity provider was used before. Sign in again.");
}

int saml_accept(const struct saml_site *site, const char *response, const char *state, char **ret_code, struct err *err)
{
	_cleanup_(freep) char *request_id = NULL;
	_cleanup_(crypto_secret_freep) char *code = NULL;
	json_auto_t *answer = NULL;
	json_t *request;

	if (request_find(site, state, &request_id, err) < 0)
		return -1;
	request = saml_request(site->store, site->provider, "response");
	json_object_set_new(request, "response", json_string(response));
	json_object_set_new(request, "request_id", json_string_or_null(request_id));
	if (helper_ask(site->helper, request, &answer, err) < 0)
		return -1;
	json_object_set_new(answer, "state", json_string_or_null(request_id ? state : NULL));
	code = crypto_token("");
	if (assertion_use(site, answer, code, err) < 0)
		return -1;
	*ret_code = code;
	code = NULL;
	return 0;
}

/* ---- the end ---- */

static int result_take(const struct saml_site *site, const char *code, json_t **ret_answer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	session_hash(code, hash);
	if (db_query(site->store->db, &rows, err, saml_result_take, .code_hash = hash) < 0)
		return -1;
	if (!rows.count || !row_of(saml_result_take, &rows, 0)->result)
		return err_set(
			err, ERR_FORBIDDEN, "This sign-in was finished before, or took too long. Sign in again.");
	*ret_answer = json_of(row_of(saml_result_take, &rows, 0)->result);
	return 0;
}

int saml_finish(const struct saml_site *site, const char *code, const char *cookie, json_t **ret_answer,
	struct sign_in_attempt *ret_attempt, struct err *err)
{
	json_auto_t *answer = NULL;
	const char *state;

	if (result_take(site, code, &answer, err) < 0)
		return -1;
	state = json_string_at(answer, "state");
	if (state && sign_in_attempt_redeem(site->store, state, cookie, site->provider->id.text, ret_attempt, err) < 0)
		return -1;
	*ret_answer = json_incref(answer);
	return 0;
}

int saml_remember(const struct saml_site *site, const json_t *answer, struct err *err)
{
	const char *issuer = json_string_at(answer, "issuer");

	if (db_query(site->store->db, NULL, err, saml_format_set, .issuer = issuer,
		    .subject = json_string_at(answer, "subject"), .format = json_string_at(answer, "format")) < 0)
		return -1;
	return *site->provider->issuer ? 0
				       : db_query(site->store->db, NULL, err, saml_issuer_set,
						 .id = site->provider->id.text, .issuer = issuer);
}

int saml_assertions_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, saml_assertions_sweep);
}
