/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/http_head.h"

#include <string.h>
#include <strings.h>

enum { LINE_END = 2 }; /* CR LF */

static const char line_wrong[] = "a line of the header is folded, holds a NUL, or does not end in CR LF";

#define TOKEN_CHARACTERS "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HOST_CHARACTERS  "-._~!$&'()*+,;=%:[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const struct {
	const char *name, *twice;
} singles[SINGLES] = {
	[SINGLE_HOST] = {"Host", "the header has two Host fields"},
	[SINGLE_LENGTH] = {"Content-Length", "the header has two Content-Length fields"},
	[SINGLE_ENCODING] = {"Transfer-Encoding", "the header has two Transfer-Encoding fields"},
	[SINGLE_AUTHORIZATION] = {"Authorization", "the header has two Authorization fields"},
};

static void wrong(struct http_head *head, bool is_wrong, const char *why)
{
	if (is_wrong && !head->wrong)
		head->wrong = why;
}

static bool gap_wrong(const struct http_head *head, uintptr_t at)
{
	return head->trims && !head->exact ? at < head->next : at != head->next;
}

static bool only_of(const char *text, size_t size, const char *characters)
{
	for (size_t i = 0; i < size; i++)
		if (!text[i] || !strchr(characters, text[i]))
			return false;
	return true;
}

/* Visible characters, spaces, tabs and bytes beyond ASCII. */
static bool value_clean(const char *value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f)
			return false;
	return true;
}

const char *http_target_wrong(const char *target)
{
	if (*target != '/')
		return "the request target must begin with a slash";
	if (strstr(target, "%00"))
		return "the request target holds %00";
	for (; *target; target++)
		if (*target <= ' ' || *target > '~' || *target == '#')
			return "the request target holds a character that must be percent-encoded";
	return NULL;
}

void http_head_begin(
	struct http_head *head, const char *method, const char *target, size_t target_size, const char *version)
{
	size_t method_size = strlen(method);

	*head = (struct http_head){.version = version, .next = (uintptr_t)version + strlen(version) + LINE_END};
	wrong(head, !method_size || !only_of(method, method_size, TOKEN_CHARACTERS), "the method is malformed");
	wrong(head,
		(uintptr_t)target != (uintptr_t)method + method_size + 1 ||
			(uintptr_t)version != (uintptr_t)target + target_size + 1,
		"the request line is malformed");
	wrong(head, !text_equal(version, "HTTP/1.1") && !text_equal(version, "HTTP/1.0"),
		"only HTTP/1.0 and HTTP/1.1 are served");
}

static void single_check(struct http_head *head, enum http_single single, const char *value, size_t size)
{
	wrong(head, head->seen[single]++ > 0, singles[single].twice);
	if (single == SINGLE_HOST)
		wrong(head, !only_of(value, size, HOST_CHARACTERS), "the Host field is malformed");
	head->exact = single == SINGLE_ENCODING;
	if (head->exact)
		wrong(head, size != strlen("chunked") || strncasecmp(value, "chunked", size) != 0,
			"the only Transfer-Encoding that is served is chunked");
}

void http_head_field(struct http_head *head, const char *name, size_t name_size, const char *value, size_t value_size)
{
	uintptr_t after_colon = (uintptr_t)name + name_size + 1;

	wrong(head, gap_wrong(head, (uintptr_t)name) || (uintptr_t)value < after_colon, line_wrong);
	wrong(head, !name_size || !only_of(name, name_size, TOKEN_CHARACTERS), "a field name is malformed");
	wrong(head, !value_clean(value, value_size), "a field value holds a control character");
	head->next = (uintptr_t)value + value_size + LINE_END;
	head->exact = false;
	for (enum http_single i = 0; i < SINGLES; i++)
		if (name_size == strlen(singles[i].name) && strncasecmp(name, singles[i].name, name_size) == 0)
			single_check(head, i, value, value_size);
}

const char *http_head_end(struct http_head *head, const char *end)
{
	bool new = text_equal(head->version, "HTTP/1.1");

	wrong(head, gap_wrong(head, (uintptr_t)end - LINE_END), line_wrong);
	wrong(head, new && !head->seen[SINGLE_HOST], "the header has no Host field");
	wrong(head, head->seen[SINGLE_ENCODING] && head->seen[SINGLE_LENGTH],
		"the header has both Content-Length and Transfer-Encoding");
	wrong(head, head->seen[SINGLE_ENCODING] && !new, "HTTP/1.0 has no Transfer-Encoding");
	return head->wrong;
}

bool http_head_chunked(const struct http_head *head)
{
	return head->seen[SINGLE_ENCODING] > 0;
}
