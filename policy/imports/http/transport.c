/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/http/transport.h"

#include <string.h>

enum { MAX_SHOWN = 256 };

void http_answer_release(struct http_answer *answer)
{
	buf_release(&answer->headers);
	buf_release(&answer->body);
}

size_t http_origin_len(const char *url)
{
	const char *slashes = strstr(url, "://");
	size_t scheme = slashes ? (size_t)(slashes - url) + strlen("://") : 0;

	return scheme + strcspn(url + scheme, "/?#\\");
}

int http_shown_len(const char *url)
{
	size_t len = http_origin_len(url);

	return len < MAX_SHOWN ? (int)len : MAX_SHOWN;
}

bool http_url_has_user(const char *url)
{
	return memchr(url, '@', http_origin_len(url)) != NULL;
}
