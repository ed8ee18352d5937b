/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/requests.h"

#include <lasso/xml/saml-2.0/samlp2_authn_request.h>
#include <lasso/xml/saml-2.0/samlp2_logout_request.h>
#include <lasso/xml/saml-2.0/samlp2_logout_response.h>
#include <lasso/xml/saml-2.0/samlp2_name_id_policy.h>
#include <lasso/xml/saml-2.0/samlp2_status.h>
#include <lasso/xml/saml-2.0/samlp2_status_code.h>
#include <string.h>

#include "common/err.h"
#include "scheduler/saml/parties.h"
#include "scheduler/saml/xml/instant.h"
#include "scheduler/saml/xml/names.h"

enum { URL_MAX = 32 << 10 };

static void node_freep(LassoNode **node)
{
	if (*node)
		g_object_unref(*node);
}

static void key_freep(LassoKey **key)
{
	if (*key)
		g_object_unref(*key);
}

static LassoSaml2NameID *name_new(const char *text, const char *format)
{
	LassoSaml2NameID *name = LASSO_SAML2_NAME_ID(lasso_saml2_name_id_new_with_string((char *)text));

	name->Format = g_strdup(format);
	return name;
}

/* The query of the message, with the state of the browser. Signed with the key, unless it is NULL. */
static int query_make(LassoNode *node, const char *kind, const char *state, LassoKey *key, struct buf *url)
{
	char *query = lasso_node_export_to_saml2_query(node, kind, NULL, NULL), *sent;
	_cleanup_(buf_release) struct buf text = BUF_INIT(URL_MAX);
	bool made;

	buf_text(&text, text_or_empty(query));
	if (text_or_null(state)) {
		buf_text(&text, "&RelayState=");
		buf_url(&text, state);
	}
	sent = key ? lasso_key_query_sign(key, buf_str(&text)) : g_strdup(buf_str(&text));
	made = query && sent && buf_text(url, sent) == 0;
	g_free(query);
	g_free(sent);
	return made ? 0 : -1;
}

static int url_answer(
	LassoNode *node, const struct parties *parties, const json_t *request, json_t *answer, struct err *err)
{
	bool is_login = LASSO_IS_SAMLP2_AUTHN_REQUEST(node), is_answer = LASSO_IS_SAMLP2_STATUS_RESPONSE(node);
	const char *base = is_login ? parties->provider.sso_url : parties->provider.slo_url;
	_cleanup_(buf_release) struct buf url = BUF_INIT(URL_MAX);
	_cleanup_(key_freep) LassoKey *key = NULL;

	/* A provider must not end a session for a message that anyone could have made: those of logouts are always
	 * signed, if there is a key. */
	if ((parties->own.signs || (!is_login && text_or_null(parties->own.private_key))) &&
		signing_key(&parties->own, &key, err) < 0)
		return -1;
	buf_printf(&url, "%s%c", base, strchr(base, '?') ? '&' : '?');
	if (query_make(node, is_answer ? "SAMLResponse" : "SAMLRequest", json_string_at(request, "relay_state"), key,
		    &url) < 0)
		return err_set(err, ERR_INTERNAL, "the message can't be made");
	return json_object_set_new(answer, "url", json_string(buf_str(&url)));
}

static void request_fill(LassoNode *node, const struct parties *parties, const char *id, const char *destination)
{
	LassoSamlp2RequestAbstract *message = LASSO_SAMLP2_REQUEST_ABSTRACT(node);
	char now[INSTANT_SIZE];

	instant_text(parties->now, now);
	message->ID = g_strdup(id);
	message->Version = g_strdup("2.0");
	message->IssueInstant = g_strdup(now);
	message->Destination = g_strdup(destination);
	message->Issuer = name_new(parties->own.entity_id, NULL);
}

int authn_request_make(const json_t *request, json_t *answer, struct err *err)
{
	_cleanup_(node_freep) LassoNode *node = lasso_samlp2_authn_request_new();
	LassoSamlp2AuthnRequest *message = LASSO_SAMLP2_AUTHN_REQUEST(node);
	struct parties parties;

	if (parties_read(request, &parties, err) < 0)
		return -1;
	request_fill(node, &parties, json_string_at(request, "id"), parties.provider.sso_url);
	message->ProtocolBinding = g_strdup(BINDING_POST);
	message->AssertionConsumerServiceURL = g_strdup(parties.own.acs_url);
	message->NameIDPolicy = LASSO_SAMLP2_NAME_ID_POLICY(lasso_samlp2_name_id_policy_new());
	message->NameIDPolicy->Format = g_strdup(FORMAT_ANY); /* as the provider is set up for this server */
	message->NameIDPolicy->AllowCreate = TRUE;
	return url_answer(node, &parties, request, answer, err);
}

int logout_request_make(const json_t *request, json_t *answer, struct err *err)
{
	_cleanup_(node_freep) LassoNode *node = lasso_samlp2_logout_request_new();
	LassoSamlp2LogoutRequest *message = LASSO_SAMLP2_LOGOUT_REQUEST(node);
	struct parties parties;

	if (parties_read(request, &parties, err) < 0)
		return -1;
	request_fill(node, &parties, json_string_at(request, "id"), parties.provider.slo_url);
	message->NameID = name_new(json_string_at(request, "subject"), json_string_at(request, "format"));
	message->SessionIndex = g_strdup(text_or_null(json_string_at(request, "session_index")));
	return url_answer(node, &parties, request, answer, err);
}

int logout_response_make(const json_t *request, json_t *answer, struct err *err)
{
	_cleanup_(node_freep) LassoNode *node = lasso_samlp2_logout_response_new();
	LassoSamlp2StatusResponse *message = LASSO_SAMLP2_STATUS_RESPONSE(node);
	bool succeeded = json_bool_at(request, "succeeded", false);
	char now[INSTANT_SIZE];
	struct parties parties;

	if (parties_read(request, &parties, err) < 0)
		return -1;
	instant_text(parties.now, now);
	message->ID = g_strdup(json_string_at(request, "id"));
	message->Version = g_strdup("2.0");
	message->IssueInstant = g_strdup(now);
	message->Destination = g_strdup(parties.provider.slo_url);
	message->InResponseTo = g_strdup(json_string_at(request, "in_response_to"));
	message->Issuer = name_new(parties.own.entity_id, NULL);
	message->Status = LASSO_SAMLP2_STATUS(lasso_samlp2_status_new());
	message->Status->StatusCode = LASSO_SAMLP2_STATUS_CODE(lasso_samlp2_status_code_new());
	message->Status->StatusCode->Value = g_strdup(succeeded ? STATUS_SUCCESS : STATUS_RESPONDER);
	return url_answer(node, &parties, request, answer, err);
}
