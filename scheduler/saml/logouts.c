/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/logouts.h"

#include <string.h>
#include <zlib.h>

#include "common/crypto.h"
#include "common/err.h"
#include "scheduler/saml/server.h"
#include "scheduler/saml/wire.h"
#include "scheduler/saml/xml/instant.h"
#include "scheduler/saml/xml/names.h"
#include "scheduler/saml/xml/shape.h"
#include "scheduler/saml/xml/tree.h"

enum { REQUEST_SECONDS = 600 /* for which a request is accepted */ };

/* ---- the redirect binding ---- */

/* The parameters as they were sent, percent-encoded: the signature is over this text. */
struct redirect {
	char *message, *state, *method, *signature;
	bool is_request;
};

static void redirect_release(struct redirect *redirect)
{
	free(redirect->message);
	free(redirect->state);
	free(redirect->method);
	free(redirect->signature);
}

/* A parameter that is sent twice is an error: two readers could take different ones. */
static int parameter_set(struct redirect *redirect, const char *name, const char *value)
{
	char **place = NULL;

	if (text_equal(name, "SAMLRequest") || text_equal(name, "SAMLResponse")) {
		place = &redirect->message;
		redirect->is_request = text_equal(name, "SAMLRequest");
	} else if (text_equal(name, "RelayState")) {
		place = &redirect->state;
	} else if (text_equal(name, "SigAlg")) {
		place = &redirect->method;
	} else if (text_equal(name, "Signature")) {
		place = &redirect->signature;
	}
	if (place && *place)
		return -1;
	if (place)
		*place = mem_text(value);
	return 0;
}

static int redirect_read(const char *query, struct redirect *redirect, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(query);
	char *rest = copy, *name;

	while ((name = strsep(&rest, "&"))) {
		char *value = strchr(name, '=');

		if (value)
			*value++ = '\0';
		if (parameter_set(redirect, name, text_or_empty(value)) < 0)
			return err_set(err, ERR_INVALID, "the message's address has a parameter twice");
	}
	if (!redirect->message || !redirect->signature || !redirect->method)
		return err_set(err, ERR_INVALID, "the message is not signed");
	return 0;
}

static int inflate_to(struct bytes packed, struct buf *document)
{
	z_stream stream = {.next_in = (unsigned char *)packed.data, .avail_in = (unsigned)packed.len};
	unsigned char part[8192];
	int code = inflateInit2(&stream, -MAX_WBITS);

	while (code == Z_OK) {
		stream.next_out = part;
		stream.avail_out = sizeof(part);
		code = inflate(&stream, Z_NO_FLUSH);
		if ((code == Z_OK || code == Z_STREAM_END) &&
			buf_append(document, part, sizeof(part) - stream.avail_out) < 0)
			code = Z_MEM_ERROR;
		if (code == Z_OK && stream.avail_out)
			code = Z_DATA_ERROR; /* the input ended early */
	}
	inflateEnd(&stream);
	return code == Z_STREAM_END ? 0 : -1;
}

static int redirect_open(
	const struct redirect *redirect, const struct parties *parties, struct buf *document, struct err *err)
{
	_cleanup_(freep) char *query =
		mem_printf("%s=%s%s%s&SigAlg=%s&Signature=%s", redirect->is_request ? "SAMLRequest" : "SAMLResponse",
			redirect->message, redirect->state ? "&RelayState=" : "", text_or_empty(redirect->state),
			redirect->method, redirect->signature);
	_cleanup_(freep) char *plain = mem_text(redirect->message);
	_cleanup_(freep) char *method = mem_text(redirect->method);
	_cleanup_(buf_release) struct buf packed = BUF_INIT(SAML_DOCUMENT_MAX);

	text_percent_decode(plain);
	text_percent_decode(method);
	if (!signature_method_accepted(method))
		return err_set(err, ERR_INVALID, "the signature's method is not accepted (%.100s)", method);
	if (crypto_base64_decode(plain, &packed) < 0 || inflate_to(buf_bytes(&packed), document) < 0)
		return err_set(err, ERR_INVALID, "the message can't be unpacked, or has more than %d KiB",
			SAML_DOCUMENT_MAX >> 10);
	return query_verify(&parties->provider, query, err);
}

/* ---- the POST binding ---- */

static int post_verify(
	const char *message, const xmlNode *root, const struct parties *parties, const char *issuer, struct err *err)
{
	_cleanup_(server_freep) LassoServer *server = NULL;
	LassoProvider *provider;

	if (!tree_child(root, NS_DSIG, "Signature"))
		return err_set(err, ERR_INVALID, "the message is not signed");
	if (server_make(parties, issuer, &server, err) < 0)
		return -1;
	provider = lasso_server_get_provider(server, issuer);
	if (!provider || lasso_provider_verify_signature(provider, message, "ID", LASSO_MESSAGE_FORMAT_BASE64) != 0)
		return err_set(err, ERR_INVALID, "the message's signature is not the identity provider's");
	return 0;
}

/* ---- the message ---- */

static int head_check(const xmlNode *root, const struct parties *parties, char **ret_issuer, struct err *err)
{
	_cleanup_(freep) char *issuer = tree_text(tree_child(root, NS_ASSERTION, "Issuer"));
	_cleanup_(freep) char *issued = tree_attribute(root, "IssueInstant");
	long long at = 0;

	if (!text_or_null(issuer) || (parties->provider.entity_id && !text_equal(issuer, parties->provider.entity_id)))
		return err_set(err, ERR_INVALID, "the message is from another identity provider");
	if (!tree_attribute_is(root, "Destination", parties->own.slo_url))
		return err_set(err, ERR_INVALID, "the message is for another address (Destination)");
	if (instant_parse(text_or_empty(issued), &at) < 0 || at > parties->now + SAML_SKEW ||
		at < parties->now - REQUEST_SECONDS)
		return err_set(err, ERR_INVALID, "the message is too old, or its clock is ahead");
	*ret_issuer = issuer;
	issuer = NULL;
	return 0;
}

static int request_read(const xmlNode *root, json_t *answer, struct err *err)
{
	_cleanup_(freep) char *subject = tree_text(tree_child(root, NS_ASSERTION, "NameID"));
	json_t *indexes = json_array();

	json_object_set_new(answer, "session_indexes", indexes);
	if (!text_or_null(subject))
		return err_set(err, ERR_INVALID, "the message does not name the person (NameID)");
	for (const xmlNode *at = tree_child(root, NS_PROTOCOL, "SessionIndex"); at;
		at = tree_next(at->next, NS_PROTOCOL, "SessionIndex")) {
		_cleanup_(freep) char *index = tree_text(at);

		json_array_append_new(indexes, json_string(text_or_empty(index)));
	}
	return json_object_set_new(answer, "subject", json_string(subject));
}

static int message_read(const xmlNode *root, const char *issuer, json_t *answer, struct err *err)
{
	bool is_request = tree_is(root, NS_PROTOCOL, "LogoutRequest");
	const xmlNode *status = tree_child(tree_child(root, NS_PROTOCOL, "Status"), NS_PROTOCOL, "StatusCode");
	_cleanup_(freep) char *id = tree_attribute(root, "ID");
	_cleanup_(freep) char *answered = tree_attribute(root, "InResponseTo");

	json_object_set_new(answer, "kind", json_string(is_request ? "request" : "response"));
	json_object_set_new(answer, "id", json_string_or_null(id));
	json_object_set_new(answer, "issuer", json_string(issuer));
	json_object_set_new(answer, "in_response_to", json_string_or_null(answered));
	json_object_set_new(
		answer, "succeeded", json_boolean(status && tree_attribute_is(status, "Value", STATUS_SUCCESS)));
	return is_request ? request_read(root, answer, err) : 0;
}

static int document_check(
	const struct buf *document, const struct parties *parties, xmlDoc **ret_doc, char **ret_issuer, struct err *err)
{
	const xmlNode *root;

	if (tree_parse(buf_bytes(document), SCAN_MESSAGE, ret_doc, err) < 0)
		return -1;
	root = xmlDocGetRootElement(*ret_doc);
	return shape_check_logout(root, err) < 0 ? -1 : head_check(root, parties, ret_issuer, err);
}

int logout_message_check(const json_t *request, json_t *answer, struct err *err)
{
	const char *query = json_string_at(request, "query"), *sent = text_or_empty(json_string_at(request, "message"));
	_cleanup_(freep) char *message = base64_tidy(sent, strlen(sent));
	_cleanup_(redirect_release) struct redirect redirect = {.message = NULL};
	_cleanup_(buf_release) struct buf document = BUF_INIT(SAML_DOCUMENT_MAX);
	_cleanup_(doc_freep) xmlDoc *doc = NULL;
	_cleanup_(freep) char *issuer = NULL;
	struct parties parties;

	if (parties_read(request, &parties, err) < 0)
		return -1;
	if (query &&
		(redirect_read(query, &redirect, err) < 0 || redirect_open(&redirect, &parties, &document, err) < 0))
		return -1;
	if (!query && (!*message || crypto_base64_decode(message, &document) < 0))
		return err_set(
			err, ERR_INVALID, "the message is no base64, or has more than %d KiB", SAML_DOCUMENT_MAX >> 10);
	if (document_check(&document, &parties, &doc, &issuer, err) < 0 ||
		(!query && post_verify(message, xmlDocGetRootElement(doc), &parties, issuer, err) < 0))
		return -1;
	return message_read(xmlDocGetRootElement(doc), issuer, answer, err);
}
