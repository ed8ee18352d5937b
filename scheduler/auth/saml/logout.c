/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/saml/logout.h"

#include "common/log.h"
#include "scheduler/auth/saml/sign_in.sql.h"
#include "scheduler/auth/sessions.h"

/* Asks the helper for an address. */
static int url_ask(const struct saml_site *site, json_t *request, char **ret_url, struct err *err)
{
	_cleanup_(freep) char *id = saml_message_id();
	json_auto_t *answer = NULL;

	json_object_set_new(request, "id", json_string(id));
	if (helper_ask(site->helper, request, &answer, err) < 0)
		return -1;
	*ret_url = mem_text(json_string_at(answer, "url"));
	return 0;
}

int saml_logout_begin(const struct saml_site *site, const char *cookie, char **ret_url, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct saml_logout_subject_row *row;
	char hash[SHA256_HEX_SIZE];
	json_t *request;

	*ret_url = NULL;
	if (!cookie || !site->provider->id.text[0] || !*saml_text(site->provider, "slo-endpoint-url"))
		return 0;
	session_hash(cookie, hash);
	if (db_query(site->store->db, &rows, err, saml_logout_subject, .hash = hash,
		    .provider_id = site->provider->id.text) < 0)
		return -1;
	if (!rows.count)
		return 0;
	row = row_of(saml_logout_subject, &rows, 0);
	request = saml_request(site->store, site->provider, "logout_request");
	json_object_set_new(request, "subject", json_string(row->subject));
	json_object_set_new(request, "format", json_string_or_null(row->subject_format));
	json_object_set_new(request, "session_index", json_string_or_null(row->provider_session));
	return url_ask(site, request, ret_url, err);
}

int saml_session_has_logout(struct store *store, const char *cookie, bool *ret_has, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	session_hash(text_or_empty(cookie), hash);
	if (db_query(store->db, &rows, err, saml_session_has_logout, .hash = hash) < 0)
		return -1;
	*ret_has = rows.count > 0;
	return 0;
}

static int sessions_end(const struct saml_site *site, const json_t *answer, struct err *err)
{
	const json_t *indexes = json_object_get(answer, "session_indexes"), *index;
	_cleanup_(db_array_release) struct db_array sessions = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	size_t i;

	json_array_foreach(indexes, i, index) db_array_add(&sessions, json_string_value(index));
	if (db_query(site->store->db, &rows, err, saml_sessions_end, .issuer = json_string_at(answer, "issuer"),
		    .subject = json_string_at(answer, "subject"), .provider_id = site->provider->id.text,
		    .sessions = &sessions) < 0)
		return -1;
	if (rows.count)
		log_info("the identity provider has ended sessions", "user",
			row_of(saml_sessions_end, &rows, 0)->user_id, NULL);
	return 0;
}

int saml_logout_take(
	const struct saml_site *site, const struct saml_logout_message *message, char **ret_url, struct err *err)
{
	json_t *request = saml_request(site->store, site->provider, "logout_message");
	json_auto_t *answer = NULL;

	*ret_url = NULL;
	json_object_set_new(request, "query", json_string_or_null(message->query));
	json_object_set_new(request, "message", json_string_or_null(message->message));
	if (helper_ask(site->helper, request, &answer, err) < 0)
		return -1;
	if (!text_equal(json_string_at(answer, "kind"), "request"))
		return 0;
	if (sessions_end(site, answer, err) < 0)
		return -1;
	if (!*saml_text(site->provider, "slo-endpoint-url"))
		return 0;
	request = saml_request(site->store, site->provider, "logout_response");
	json_object_set(request, "in_response_to", json_object_get(answer, "id"));
	json_object_set_new(request, "succeeded", json_true());
	json_object_set_new(request, "relay_state", json_string_or_null(message->state));
	return url_ask(site, request, ret_url, err);
}
