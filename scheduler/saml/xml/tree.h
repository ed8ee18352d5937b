/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_XML_TREE_H
#define SCHEDULER_SAML_XML_TREE_H

/* Parses scanned XML documents with libxml2, and reads their elements. */

#include <libxml/tree.h>

#include "common/buf.h"
#include "scheduler/saml/xml/scan.h"

struct err;

void doc_freep(xmlDoc **doc);
/* Scans and parses. The parser loads nothing and replaces no entities. ERR_INVALID. */
int tree_parse(struct bytes document, enum scan_kind kind, xmlDoc **ret_doc, struct err *err);

/* Whether the node is an element of that namespace and name. */
bool tree_is(const xmlNode *node, const char *ns, const char *name);
/* The first child element of that name, or NULL; and how many there are. */
xmlNode *tree_child(const xmlNode *node, const char *ns, const char *name);
int tree_count(const xmlNode *node, const char *ns, const char *name);
/* The next sibling element of that name, from the node itself on; or NULL. */
xmlNode *tree_next(const xmlNode *node, const char *ns, const char *name);
/* The value of an attribute without a namespace; NULL if there is none. The caller frees it. */
char *tree_attribute(const xmlNode *node, const char *name);
/* Whether the attribute has that value. */
bool tree_attribute_is(const xmlNode *node, const char *name, const char *value);
/* The whole text of the element, without white space at both ends; NULL for NULL. The caller frees it. */
char *tree_text(const xmlNode *node);

#endif
