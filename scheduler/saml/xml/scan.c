/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/xml/scan.h"

#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "scheduler/saml/wire.h"

enum {
	MAX_TAGS = 20000,
	MAX_ATTRIBUTES = 64, /* of a tag: parsers compare each with each */
};

struct scan {
	const char *at, *end;
	enum scan_kind kind;
	int tags;
};

static bool is_next(const struct scan *scan, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(scan->end - scan->at) >= len && memcmp(scan->at, text, len) == 0;
}

/* Moves behind the text. */
static bool skip_to(struct scan *scan, const char *text)
{
	const char *found = memmem(scan->at, (size_t)(scan->end - scan->at), text, strlen(text));

	if (found)
		scan->at = found + strlen(text);
	return found;
}

static int characters_check(struct bytes document, struct err *err)
{
	const char *at = document.data, *end = at + document.len;

	while (at < end) {
		uint32_t code = 0;
		size_t len = utf8_decode(at, (size_t)(end - at), &code);

		if (!len || !code)
			return err_set(err, ERR_INVALID, "the XML document is not UTF-8");
		at += len;
	}
	return 0;
}

/* "<?xml version="1.0" encoding="UTF-8"?>" at the beginning. Another encoding could hide what this scan looks for. */
static int declaration_skip(struct scan *scan, struct err *err)
{
	const char *begin = scan->at, *name;

	if (!is_next(scan, "<?xml "))
		return 0;
	if (!skip_to(scan, "?>"))
		return err_set(err, ERR_INVALID, "the XML declaration has no end");
	name = memmem(begin, (size_t)(scan->at - begin), "encoding", strlen("encoding"));
	if (!name)
		return 0;
	name += strlen("encoding");
	name += strspn(name, " \t\r\n=");
	if ((*name != '"' && *name != '\'') || strncasecmp(name + 1, "UTF-8", 5) != 0 || name[6] != *name)
		return err_set(err, ERR_INVALID, "the XML document's encoding is not UTF-8");
	return 0;
}

static int markup_check(struct scan *scan, struct err *err)
{
	if (is_next(scan, "<!--") && scan->kind == SCAN_METADATA)
		return skip_to(scan, "-->") ? 0 : err_set(err, ERR_INVALID, "a comment has no end");
	if (is_next(scan, "<!--"))
		return err_set(err, ERR_INVALID, "the XML document has a comment, which is not allowed in a message");
	if (is_next(scan, "<![CDATA["))
		return err_set(err, ERR_INVALID, "the XML document has a CDATA section, which is not allowed");
	if (is_next(scan, "<?"))
		return err_set(err, ERR_INVALID, "the XML document has a processing instruction, which is not allowed");
	return err_set(err, ERR_INVALID, "the XML document has a document type, which is not allowed");
}

static int tag_skip(struct scan *scan, struct err *err)
{
	int attributes = 0;

	if (++scan->tags > MAX_TAGS)
		return err_set(err, ERR_INVALID, "the XML document has more than %d tags", MAX_TAGS);
	while (scan->at < scan->end && *scan->at != '>') {
		char letter = *scan->at++;
		const char *end;

		if (letter != '"' && letter != '\'')
			continue;
		end = memchr(scan->at, letter, (size_t)(scan->end - scan->at));
		if (!end)
			return err_set(err, ERR_INVALID, "an attribute of the XML document has no end");
		if (++attributes > MAX_ATTRIBUTES)
			return err_set(err, ERR_INVALID, "a tag has more than %d attributes", MAX_ATTRIBUTES);
		scan->at = end + 1;
	}
	return 0;
}

int xml_scan(struct bytes document, enum scan_kind kind, struct err *err)
{
	struct scan scan = {.at = document.data, .end = (const char *)document.data + document.len, .kind = kind};

	if (document.len > SAML_DOCUMENT_MAX)
		return err_set(err, ERR_INVALID, "the XML document has more than %d KiB", SAML_DOCUMENT_MAX >> 10);
	if (characters_check(document, err) < 0)
		return -1;
	if (is_next(&scan, "\xef\xbb\xbf"))
		scan.at += 3;
	if (scan.at == scan.end || *scan.at != '<')
		return err_set(err, ERR_INVALID, "it is no XML document");
	if (declaration_skip(&scan, err) < 0)
		return -1;
	while (scan.at < scan.end && (scan.at = memchr(scan.at, '<', (size_t)(scan.end - scan.at)))) {
		bool is_markup = is_next(&scan, "<!") || is_next(&scan, "<?");

		if ((is_markup ? markup_check(&scan, err) : tag_skip(&scan, err)) < 0)
			return -1;
	}
	return 0;
}
