/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_XML_SHAPE_H
#define SCHEDULER_SAML_XML_SHAPE_H

/*
 * The shape that a signed message must have, so that what is signed is what is used. Signature wrapping needs a second
 * assertion, a second element with the same id, a signature at another place, or a reference to another element. A
 * message with any of these is refused before its signatures are verified:
 *
 *  1. The root is the one that is wanted. The document has exactly one Assertion or EncryptedAssertion, as its child.
 *  2. No two elements have the same id, in whatever attribute.
 *  3. A signature is a child of the root or of the assertion, one for each. It has one reference, to the id of its
 * parent.
 *  4. The algorithms and transforms are those of the lists in shape.c: no SHA-1, no XPath, no XSLT.
 *  5. There are only elements and texts.
 */

#include <libxml/tree.h>
#include <stdbool.h>

struct err;

/* Checks a Response. Each ERR_INVALID. */
int shape_check_response(const xmlNode *root, struct err *err);
/* Checks an Assertion that was encrypted. It must be signed. */
int shape_check_assertion(const xmlNode *assertion, struct err *err);
/* Checks a LogoutRequest or LogoutResponse. */
int shape_check_logout(const xmlNode *root, struct err *err);

/* Sets the error of an assertion without a signature. Returns -1. */
int shape_not_signed(struct err *err);

/* Whether signatures by that method are accepted: RSA with SHA-256, SHA-384 or SHA-512. */
bool signature_method_accepted(const char *method);

#endif
