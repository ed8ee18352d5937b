/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_XML_SCAN_H
#define SCHEDULER_SAML_XML_SCAN_H

/*
 * Checks the bytes of an XML document before a parser reads them. A document has no document type, so it has no
 * entities but XML's own five. A signed message has no comments, processing instructions and CDATA sections either:
 * nothing can split a text, so all readers read the same text. Bounds: SAML_DOCUMENT_MAX bytes, tags, attributes of a
 * tag. Pure.
 */

#include "common/buf.h"

struct err;

enum scan_kind {
	SCAN_MESSAGE,
	SCAN_METADATA, /* may have comments */
};

/* ERR_INVALID with a sentence if the document is not acceptable. */
int xml_scan(struct bytes document, enum scan_kind kind, struct err *err);

#endif
