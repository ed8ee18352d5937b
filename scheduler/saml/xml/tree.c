/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/xml/tree.h"

#include <ctype.h>
#include <libxml/parser.h>
#include <string.h>

#include "common/err.h"

void doc_freep(xmlDoc **doc)
{
	if (*doc)
		xmlFreeDoc(*doc);
	*doc = NULL;
}

int tree_parse(struct bytes document, enum scan_kind kind, xmlDoc **ret_doc, struct err *err)
{
	xmlDoc *doc;

	if (xml_scan(document, kind, err) < 0)
		return -1;
	doc = xmlReadMemory(document.data, (int)document.len, NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (!doc || !xmlDocGetRootElement(doc)) {
		doc_freep(&doc);
		return err_set(err, ERR_INVALID, "it is no well-formed XML document");
	}
	*ret_doc = doc;
	return 0;
}

bool tree_is(const xmlNode *node, const char *ns, const char *name)
{
	return node->type == XML_ELEMENT_NODE && node->ns && text_equal((const char *)node->ns->href, ns) &&
		text_equal((const char *)node->name, name);
}

xmlNode *tree_next(const xmlNode *node, const char *ns, const char *name)
{
	while (node && !tree_is(node, ns, name))
		node = node->next;
	return (xmlNode *)node;
}

xmlNode *tree_child(const xmlNode *node, const char *ns, const char *name)
{
	return node ? tree_next(node->children, ns, name) : NULL;
}

int tree_count(const xmlNode *node, const char *ns, const char *name)
{
	int count = 0;

	for (const xmlNode *at = tree_child(node, ns, name); at; at = tree_next(at->next, ns, name))
		count++;
	return count;
}

/* libxml2's texts are freed with its own function, which a program may replace. */
static char *text_of(xmlChar *text)
{
	char *copy = mem_text((const char *)text);

	if (text)
		xmlFree(text);
	return copy;
}

char *tree_attribute(const xmlNode *node, const char *name)
{
	return text_of(xmlGetNoNsProp(node, (const xmlChar *)name));
}

bool tree_attribute_is(const xmlNode *node, const char *name, const char *value)
{
	_cleanup_(freep) char *found = tree_attribute(node, name);

	return text_equal(found, value);
}

char *tree_text(const xmlNode *node)
{
	char *text = node ? text_of(xmlNodeGetContent(node)) : NULL, *from = text;
	size_t len;

	if (!text)
		return NULL;
	while (isspace((unsigned char)*from))
		from++;
	len = strlen(from);
	while (len && isspace((unsigned char)from[len - 1]))
		len--;
	memmove(text, from, len);
	text[len] = '\0';
	return text;
}
