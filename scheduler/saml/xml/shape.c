/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/xml/shape.h"

#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "scheduler/saml/xml/names.h"
#include "scheduler/saml/xml/tree.h"

enum { MAX_IDS = 256, MAX_DEPTH = 64 };

static const char *const signature_methods[] = {
	"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
	"http://www.w3.org/2001/04/xmldsig-more#rsa-sha384",
	"http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
	NULL,
};
static const char *const digest_methods[] = {
	"http://www.w3.org/2001/04/xmlenc#sha256",
	"http://www.w3.org/2001/04/xmldsig-more#sha384",
	"http://www.w3.org/2001/04/xmlenc#sha512",
	NULL,
};
static const char *const canonicalizations[] = {
	"http://www.w3.org/2001/10/xml-exc-c14n#",
	"http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
	"http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
	NULL,
};
static const char *const transforms[] = {
	"http://www.w3.org/2000/09/xmldsig#enveloped-signature",
	"http://www.w3.org/2001/10/xml-exc-c14n#",
	"http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
	NULL,
};
/* PKCS #1 v1.5 is left out: the answers of its decryption tell an attacker what is encrypted. */
static const char *const key_encryptions[] = {
	"http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p",
	"http://www.w3.org/2009/xmlenc11#rsa-oaep",
	NULL,
};

static bool listed(const char *const *list, const char *text)
{
	for (; *list; list++)
		if (text_equal(*list, text))
			return true;
	return false;
}

bool signature_method_accepted(const char *method)
{
	return listed(signature_methods, method);
}

/* ---- signatures ---- */

/* Whether the child has an `Algorithm` of the list. */
static int algorithm_check(
	const xmlNode *parent, const char *name, const char *const *list, const char *what, struct err *err)
{
	const xmlNode *node = tree_child(parent, NS_DSIG, name);
	_cleanup_(freep) char *algorithm = node ? tree_attribute(node, "Algorithm") : NULL;

	if (tree_count(parent, NS_DSIG, name) != 1 || !listed(list, algorithm))
		return err_set(err, ERR_INVALID, "a signature's %s is not accepted (%.100s)", what,
			algorithm ? algorithm : "none");
	return 0;
}

static int transforms_check(const xmlNode *reference, struct err *err)
{
	const xmlNode *list = tree_child(reference, NS_DSIG, "Transforms");
	bool enveloped = false;

	for (const xmlNode *at = list ? list->children : NULL; at; at = at->next) {
		_cleanup_(freep) char *algorithm =
			tree_is(at, NS_DSIG, "Transform") ? tree_attribute(at, "Algorithm") : NULL;

		if (at->type != XML_ELEMENT_NODE)
			continue;
		if (!listed(transforms, algorithm))
			return err_set(err, ERR_INVALID, "a signature has a transform that is not accepted (%.100s)",
				text_or_empty(algorithm));
		enveloped |= text_equal(algorithm, transforms[0]);
	}
	return enveloped && tree_count(reference, NS_DSIG, "Transforms") == 1
		? 0
		: err_set(err, ERR_INVALID, "a signature is not an enveloped one");
}

static int reference_check(const xmlNode *info, const xmlNode *parent, struct err *err)
{
	const xmlNode *reference = tree_child(info, NS_DSIG, "Reference");
	_cleanup_(freep) char *id = tree_attribute(parent, "ID");
	_cleanup_(freep) char *uri = reference ? tree_attribute(reference, "URI") : NULL;

	if (tree_count(info, NS_DSIG, "Reference") != 1)
		return err_set(err, ERR_INVALID, "a signature has not exactly one reference");
	if (!text_or_null(id) || !uri || uri[0] != '#' || !text_equal(uri + 1, id))
		return err_set(err, ERR_INVALID, "a signature refers to another element than the one that has it");
	return algorithm_check(reference, "DigestMethod", digest_methods, "digest", err) < 0
		? -1
		: transforms_check(reference, err);
}

static int signature_check(const xmlNode *signature, struct err *err)
{
	const xmlNode *info = tree_child(signature, NS_DSIG, "SignedInfo");

	if (tree_count(signature, NS_DSIG, "SignedInfo") != 1 ||
		tree_count(signature, NS_DSIG, "SignatureValue") != 1 || tree_child(signature, NS_DSIG, "Object"))
		return err_set(err, ERR_INVALID, "a signature has not the form that is accepted");
	if (algorithm_check(info, "CanonicalizationMethod", canonicalizations, "canonicalization", err) < 0 ||
		algorithm_check(info, "SignatureMethod", signature_methods, "method", err) < 0)
		return -1;
	return reference_check(info, signature->parent, err);
}

/* ---- the whole message ---- */

struct shape {
	const xmlNode *root, *assertion; /* assertion: NULL if there is none */
	const xmlChar *ids[MAX_IDS];
	int count, depth;
	struct err *err;
};

/* The values of attributes whose name is "id" in any case and any namespace. */
static int ids_add(struct shape *shape, const xmlNode *node)
{
	for (const xmlAttr *at = node->properties; at; at = at->next) {
		if (strcasecmp((const char *)at->name, "id") != 0)
			continue;
		if (!at->children || at->children->type != XML_TEXT_NODE || at->children->next)
			return err_set(shape->err, ERR_INVALID, "an element has an id that is no plain text");
		for (int i = 0; i < shape->count; i++)
			if (xmlStrEqual(shape->ids[i], at->children->content))
				return err_set(shape->err, ERR_INVALID, "two elements have the same id");
		if (shape->count == MAX_IDS)
			return err_set(shape->err, ERR_INVALID, "more than %d elements have an id", MAX_IDS);
		shape->ids[shape->count++] = at->children->content;
	}
	return 0;
}

static int place_check(const struct shape *shape, const xmlNode *node)
{
	bool is_assertion =
		tree_is(node, NS_ASSERTION, "Assertion") || tree_is(node, NS_ASSERTION, "EncryptedAssertion");

	if (is_assertion && node != shape->assertion)
		return err_set(shape->err, ERR_INVALID, "the message has more than one assertion");
	if (tree_is(node, NS_PROTOCOL, "Response") && node != shape->root)
		return err_set(shape->err, ERR_INVALID, "a response is inside of another one");
	if (tree_is(node, NS_DSIG, "Signature")) {
		if ((node->parent != shape->root && node->parent != shape->assertion) ||
			tree_count(node->parent, NS_DSIG, "Signature") != 1)
			return err_set(shape->err, ERR_INVALID, "a signature is at a place where none belongs");
		return signature_check(node, shape->err);
	}
	return 0;
}

static int node_check(struct shape *shape, const xmlNode *node)
{
	int result = 0;

	if (node->type == XML_TEXT_NODE)
		return 0;
	if (node->type != XML_ELEMENT_NODE)
		return err_set(shape->err, ERR_INVALID, "the message has more than elements and texts");
	if (++shape->depth > MAX_DEPTH)
		return err_set(shape->err, ERR_INVALID, "elements are nested more than %d deep", MAX_DEPTH);
	if (ids_add(shape, node) < 0 || place_check(shape, node) < 0)
		return -1;
	for (const xmlNode *at = node->children; at && result == 0; at = at->next)
		result = node_check(shape, at);
	shape->depth--;
	return result;
}

static int key_encryption_check(const xmlNode *node, struct err *err)
{
	for (; node; node = node->next) {
		const xmlNode *method =
			tree_is(node, NS_XENC, "EncryptedKey") ? tree_child(node, NS_XENC, "EncryptionMethod") : NULL;
		_cleanup_(freep) char *algorithm = method ? tree_attribute(method, "Algorithm") : NULL;

		if (tree_is(node, NS_XENC, "EncryptedKey") && !listed(key_encryptions, algorithm))
			return err_set(err, ERR_INVALID,
				"the assertion's key is not encrypted with RSA-OAEP, the only method that is accepted");
		if (key_encryption_check(node->children, err) < 0)
			return -1;
	}
	return 0;
}

int shape_check_response(const xmlNode *root, struct err *err)
{
	struct shape shape = {.root = root, .err = err};
	int plain = tree_count(root, NS_ASSERTION, "Assertion");
	int encrypted = tree_count(root, NS_ASSERTION, "EncryptedAssertion");

	if (!tree_is(root, NS_PROTOCOL, "Response"))
		return err_set(err, ERR_INVALID, "the message is no SAML response");
	if (plain + encrypted > 1)
		return err_set(err, ERR_INVALID, "the message has more than one assertion");
	shape.assertion = plain ? tree_child(root, NS_ASSERTION, "Assertion")
				: tree_child(root, NS_ASSERTION, "EncryptedAssertion");
	if (node_check(&shape, root) < 0)
		return -1;
	return encrypted ? key_encryption_check(shape.assertion, err) : 0;
}

int shape_not_signed(struct err *err)
{
	return err_set(err, ERR_INVALID,
		"the assertion is not signed: set the identity provider to sign assertions, not only responses");
}

int shape_check_assertion(const xmlNode *assertion, struct err *err)
{
	struct shape shape = {.root = assertion, .assertion = assertion, .err = err};

	if (!tree_is(assertion, NS_ASSERTION, "Assertion"))
		return err_set(err, ERR_INVALID, "the message has no assertion");
	if (!tree_child(assertion, NS_DSIG, "Signature"))
		return shape_not_signed(err);
	return node_check(&shape, assertion);
}

int shape_check_logout(const xmlNode *root, struct err *err)
{
	struct shape shape = {.root = root, .err = err};

	if (!tree_is(root, NS_PROTOCOL, "LogoutRequest") && !tree_is(root, NS_PROTOCOL, "LogoutResponse"))
		return err_set(err, ERR_INVALID, "the message is no SAML logout");
	return node_check(&shape, root);
}
