/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/rich_text.h"

#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = 16, MAX_HREF = 1000 };

static const char *const elements[] = {
	"a", "b", "br", "code", "div", "em", "h2", "h3", "i", "li", "ol", "p", "pre", "span", "strong", "u", "ul"};

struct rich {
	struct buf *out;
	const char *open[MAX_DEPTH];
	size_t depth;
};

static void letter_escaped(struct buf *out, char letter)
{
	static const struct {
		char letter;
		const char *shown;
	} special[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

	for (size_t i = 0; i < ARRAY_LEN(special); i++)
		if (special[i].letter == letter) {
			buf_text(out, special[i].shown);
			return;
		}
	buf_append(out, &letter, 1);
}

/* A reference such as "&amp;" stays; another ampersand is escaped. */
static size_t ampersand(struct buf *out, const char *at)
{
	size_t len = 1 + (at[1] == '#');

	len += strspn(at + len, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
	if (at[len] == ';' && len > 1) {
		buf_append(out, at, len + 1);
		return len + 1;
	}
	buf_text(out, "&amp;");
	return 1;
}

static const char *element_named(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(elements); i++)
		if (strlen(elements[i]) == len && strncasecmp(elements[i], name, len) == 0)
			return elements[i];
	return NULL;
}

static bool href_allowed(const char *href, size_t len)
{
	static const char *const starts[] = {"https://", "http://", "mailto:", "#"};

	if (len > MAX_HREF)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (len >= strlen(starts[i]) && strncasecmp(href, starts[i], strlen(starts[i])) == 0)
			return true;
	return len > 1 && href[0] == '/' && href[1] != '/' && href[1] != '\\';
}

/* The address of a link, if it stands in quotes among the attributes and is allowed. */
static void link_open(struct rich *rich, const char *attributes, size_t len)
{
	const char *found = memmem(attributes, len, "href=", 5);
	size_t left = found ? len - (size_t)(found - attributes) - 5 : 0, size;

	buf_text(rich->out, "<a rel=\"noopener noreferrer\"");
	if (left > 1 && (found[5] == '"' || found[5] == '\'')) {
		const char *end = memchr(found + 6, found[5], left - 1);

		size = end ? (size_t)(end - found) - 6 : 0;
		if (end && href_allowed(found + 6, size)) {
			buf_text(rich->out, " href=\"");
			for (size_t i = 0; i < size; i++)
				if (found[6 + i] == '&')
					buf_text(rich->out, "&amp;");
				else
					letter_escaped(rich->out, found[6 + i]);
			buf_text(rich->out, "\"");
		}
	}
	buf_text(rich->out, ">");
}

static void element_open(struct rich *rich, const char *name, const char *attributes, size_t len)
{
	if (text_equal(name, "br")) {
		buf_text(rich->out, "<br>");
		return;
	}
	if (rich->depth == MAX_DEPTH)
		return;
	if (text_equal(name, "a"))
		link_open(rich, attributes, len);
	else
		buf_printf(rich->out, "<%s>", name);
	rich->open[rich->depth++] = name;
}

/* Closes the element with all that are open in it. */
static void element_close(struct rich *rich, const char *name)
{
	size_t depth = rich->depth;

	while (depth > 0 && !text_equal(rich->open[depth - 1], name))
		depth--;
	while (depth > 0 && rich->depth >= depth)
		buf_printf(rich->out, "</%s>", rich->open[--rich->depth]);
}

/* Returns the length of the tag, 0 if the text is none. */
static size_t tag_take(struct rich *rich, const char *at)
{
	const char *end = strchr(at, '>');
	bool closes = at[1] == '/';
	const char *name = at + 1 + closes;
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
	const char *element = element_named(name, len);

	if (!end || (!len && at[1] != '!'))
		return 0;
	if (element && closes)
		element_close(rich, element);
	else if (element)
		element_open(rich, element, name + len, (size_t)(end - name) - len);
	return (size_t)(end - at) + 1;
}

void rich_text(struct buf *out, const char *html)
{
	struct rich rich = {.out = out};

	while (*html) {
		size_t taken = *html == '<' ? tag_take(&rich, html) : 0;

		if (!taken && *html == '&')
			taken = ampersand(out, html);
		if (!taken) {
			letter_escaped(out, *html);
			taken = 1;
		}
		html += taken;
	}
	while (rich.depth > 0)
		buf_printf(out, "</%s>", rich.open[--rich.depth]);
}
