/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/responses.h"

#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "scheduler/saml/assertion.h"
#include "scheduler/saml/server.h"
#include "scheduler/saml/wire.h"
#include "scheduler/saml/xml/names.h"
#include "scheduler/saml/xml/shape.h"
#include "scheduler/saml/xml/tree.h"

/*
 * A response passes three gates, each of which refuses it:
 *
 *  1. The bytes (scan.h) and the shape (shape.h) of the document, before Lasso sees it.
 *  2. Lasso: the signatures by one of the provider's certificates, the decryption, the status and the issuers. Then the
 *     assertion must have a signature of its own, whether or not the response has one.
 *  3. The assertion (assertion.h): audience, recipient, times, the request that it answers.
 *
 * The values are read from the element that Lasso verified, not from a copy.
 */

static void login_freep(LassoLogin **login)
{
	if (*login)
		g_object_unref(*login);
}

/* The attributes of the Response itself. If it has no signature, they say nothing that the assertion does not. */
static int head_check(const xmlNode *root, const struct assertion_rules *rules, struct err *err)
{
	_cleanup_(freep) char *destination = tree_attribute(root, "Destination");
	_cleanup_(freep) char *answered = tree_attribute(root, "InResponseTo");
	bool is_signed = tree_child(root, NS_DSIG, "Signature");

	if (!tree_attribute_is(root, "Version", "2.0"))
		return err_set(err, ERR_INVALID, "the message is not of SAML 2.0");
	if (text_or_null(destination) ? !text_equal(destination, rules->acs_url) : is_signed)
		return err_set(err, ERR_INVALID, "the response is for another address (Destination)");
	if (rules->request_id && !text_equal(answered, rules->request_id))
		return err_set(err, ERR_INVALID, "the response is not the answer to this sign-in (InResponseTo)");
	return 0;
}

/* The provider that the message claims to be from. The signature must be made with the provider's key in any case. */
static int issuer_of(const xmlNode *root, const struct party_provider *provider, char **ret_issuer, struct err *err)
{
	const xmlNode *assertion = tree_child(root, NS_ASSERTION, "Assertion");
	const xmlNode *node = tree_child(root, NS_ASSERTION, "Issuer");
	_cleanup_(freep) char *issuer = tree_text(node ? node : tree_child(assertion, NS_ASSERTION, "Issuer"));

	if (!text_or_null(issuer))
		return err_set(err, ERR_INVALID, "the response has no issuer");
	if (provider->entity_id && !text_equal(issuer, provider->entity_id))
		return err_set(err, ERR_INVALID, "the response is from another identity provider (%.200s)", issuer);
	*ret_issuer = issuer;
	issuer = NULL;
	return 0;
}

static int lasso_failure(int code, const xmlNode *root, struct err *err)
{
	const xmlNode *status = tree_child(tree_child(root, NS_PROTOCOL, "Status"), NS_PROTOCOL, "StatusCode");
	const xmlNode *detail = tree_child(status, NS_PROTOCOL, "StatusCode");
	_cleanup_(freep) char *outer = status ? tree_attribute(status, "Value") : NULL;
	_cleanup_(freep) char *inner = detail ? tree_attribute(detail, "Value") : NULL;

	if (outer && !text_equal(outer, STATUS_SUCCESS))
		return err_set(
			err, ERR_INVALID, "the identity provider refused the sign-in (%.200s)", inner ? inner : outer);
	/* One sentence for all failures of a decryption: their differences would help to guess what is encrypted. */
	if (tree_child(root, NS_ASSERTION, "EncryptedAssertion"))
		return err_set(err, ERR_INVALID,
			"the encrypted assertion can't be decrypted with this server's key, or its signature is not "
			"the identity provider's");
	if (code == LASSO_PROFILE_ERROR_MISSING_ASSERTION)
		return err_set(err, ERR_INVALID, "the response has no assertion");
	if (code == LASSO_DS_ERROR_SIGNATURE_NOT_FOUND)
		return shape_not_signed(err);
	return err_set(err, ERR_INVALID, "the signature is not the identity provider's (%s)", lasso_strerror(code));
}

/* The assertion that Lasso has verified, as it was sent or decrypted. Borrowed from the login. */
static int assertion_verify(
	LassoLogin *login, LassoServer *server, const char *issuer, const xmlNode **ret_assertion, struct err *err)
{
	LassoNode *assertion = lasso_login_get_assertion(login);
	LassoProvider *provider = lasso_server_get_provider(server, issuer);
	const xmlNode *node = assertion ? lasso_node_get_original_xmlnode(assertion) : NULL;
	int code = -1;

	if (node && shape_check_assertion(node, err) < 0) {
		g_object_unref(assertion);
		return -1;
	}
	if (node && provider)
		code = lasso_provider_verify_single_node_signature(provider, assertion, "ID");
	if (assertion)
		g_object_unref(assertion); /* the login has another reference */
	if (code)
		return err_set(err, ERR_INVALID, "the assertion's signature is not the identity provider's");
	*ret_assertion = node;
	return 0;
}

static int response_process(const char *message, const xmlNode *root, const struct parties *parties,
	const struct assertion_rules *rules, json_t *answer, struct err *err)
{
	_cleanup_(freep) char *issuer = NULL;
	_cleanup_(server_freep) LassoServer *server = NULL;
	_cleanup_(login_freep) LassoLogin *login = NULL;
	const xmlNode *assertion = NULL;
	int code;

	if (issuer_of(root, &parties->provider, &issuer, err) < 0 || server_make(parties, issuer, &server, err) < 0)
		return -1;
	login = lasso_login_new(server);
	code = lasso_login_process_authn_response_msg(login, (char *)message);
	if (code)
		return lasso_failure(code, root, err);
	if (assertion_verify(login, server, issuer, &assertion, err) < 0)
		return -1;
	json_object_set_new(answer, "encrypted", json_boolean(tree_child(root, NS_ASSERTION, "EncryptedAssertion")));
	return assertion_read(assertion, issuer, rules, answer, err);
}

int response_check(const json_t *request, json_t *answer, struct err *err)
{
	const char *message = text_or_empty(json_string_at(request, "response"));
	_cleanup_(buf_release) struct buf document = BUF_INIT(SAML_DOCUMENT_MAX);
	_cleanup_(doc_freep) xmlDoc *doc = NULL;
	_cleanup_(freep) char *plain = base64_tidy(message, strlen(message));
	struct assertion_rules rules;
	struct parties parties;

	if (parties_read(request, &parties, err) < 0)
		return -1;
	rules = (struct assertion_rules){.audience = parties.own.entity_id,
		.acs_url = parties.own.acs_url,
		.request_id = json_string_at(request, "request_id"),
		.now = parties.now};
	if (!*plain || crypto_base64_decode(plain, &document) < 0)
		return err_set(err, ERR_INVALID, "the response is no base64, or has more than %d KiB",
			SAML_DOCUMENT_MAX >> 10);
	if (tree_parse(buf_bytes(&document), SCAN_MESSAGE, &doc, err) < 0 ||
		shape_check_response(xmlDocGetRootElement(doc), err) < 0 ||
		head_check(xmlDocGetRootElement(doc), &rules, err) < 0)
		return -1;
	return response_process(plain, xmlDocGetRootElement(doc), &parties, &rules, answer, err);
}
