/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/remote.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int port;
} schemes[REMOTE_SCHEMES] = {
	[REMOTE_HTTPS] = {"https", 443},
	[REMOTE_HTTP] = {"http", 80},
	[REMOTE_SSH] = {"ssh", 22},
	[REMOTE_GIT] = {"git", 9418},
};

const char *remote_scheme_name(enum remote_scheme scheme)
{
	return schemes[scheme].name;
}

static bool all_of(const char *text, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && (!text[i] || !strchr(more, text[i])))
			return false;
	return true;
}

/* Printable bytes without spaces, quotes and backslashes; bytes of UTF-8 are fine. */
static bool path_fits(const char *path)
{
	for (; *path; path++)
		if ((unsigned char)*path <= ' ' || *path == 0x7f || strchr("\"'\\`<>", *path))
			return false;
	return true;
}

static bool scheme_read(const char **at, enum remote_scheme *ret_scheme)
{
	for (enum remote_scheme scheme = 0; scheme < REMOTE_SCHEMES; scheme++) {
		size_t len = strlen(schemes[scheme].name);

		if (strncmp(*at, schemes[scheme].name, len) != 0 || strncmp(*at + len, "://", 3) != 0)
			continue;
		*at += len + 3;
		*ret_scheme = scheme;
		return true;
	}
	return false;
}

static bool user_read(const char **at, const char *end, bool *ret_there)
{
	const char *sign = memchr(*at, '@', (size_t)(end - *at));

	*ret_there = sign != NULL;
	if (!sign)
		return true;
	if (sign == *at || **at == '-' || !all_of(*at, (size_t)(sign - *at), "._-~"))
		return false;
	*at = sign + 1;
	return true;
}

/* Leaves *at behind the host. */
static bool host_read(const char **at, const char *end, char ret_host[REMOTE_HOST_MAX])
{
	bool six = **at == '[';
	const char *begin = *at + six;
	const char *stop = memchr(begin, six ? ']' : ':', (size_t)(end - begin));
	size_t len = (size_t)((stop ? stop : end) - begin);

	if (!len || len >= REMOTE_HOST_MAX || (six && !stop) || *begin == '-' || *begin == '.' ||
		!all_of(begin, len, six ? ":." : "-._"))
		return false;
	for (size_t i = 0; i < len; i++)
		ret_host[i] = (char)tolower((unsigned char)begin[i]);
	ret_host[len] = '\0';
	*at = begin + len + six;
	return true;
}

static bool port_read(const char *at, const char *end, int *ret_port)
{
	char digits[8];
	long long port;

	if (at == end)
		return true;
	if (*at != ':' || end - at - 1 >= (long)sizeof(digits))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)(end - at - 1), at + 1);
	if (text_number(digits, 1, 65535, &port) < 0)
		return false;
	*ret_port = (int)port;
	return true;
}

bool remote_parse(const char *url, struct remote *ret_remote)
{
	struct remote remote = {.port = 0};
	const char *at = url, *end;

	if (strlen(url) > REMOTE_URL_MAX || !scheme_read(&at, &remote.scheme))
		return false;
	end = at + strcspn(at, "/?#");
	if (*end != '/' || !end[1] || !path_fits(end) || strpbrk(end, "?#"))
		return false;
	remote.port = schemes[remote.scheme].port;
	if (!user_read(&at, end, &remote.with_user) || !host_read(&at, end, remote.host) ||
		!port_read(at, end, &remote.port))
		return false;
	*ret_remote = remote;
	return true;
}

bool remote_same_server(const struct remote *a, const struct remote *b)
{
	return a->scheme == b->scheme && a->port == b->port && text_equal(a->host, b->host);
}

/* ---- submodules ---- */

/* Length of SCHEME://AUTHORITY. */
static size_t root_len(const char *url)
{
	const char *authority = strstr(url, "://");

	return authority ? (size_t)(authority + 3 - url) + strcspn(authority + 3, "/") : 0;
}

/* Each ".." takes the last part off the repository's own path. */
static char *resolve_relative(const char *url, const char *submodule)
{
	size_t root = root_len(url), len = strlen(url);

	while (len > root && url[len - 1] == '/')
		len--;
	for (;;) {
		if (text_starts(submodule, "./")) {
			submodule += 2;
		} else if (text_starts(submodule, "../")) {
			if (len <= root)
				return NULL;
			while (len > root && url[len - 1] != '/')
				len--;
			while (len > root && url[len - 1] == '/')
				len--;
			submodule += 3;
		} else {
			break;
		}
	}
	return mem_printf("%.*s/%s", (int)len, url, submodule);
}

/* "user@host:path" as ssh://user@host/path; NULL if it is not of that form. */
static char *resolve_short(const char *submodule)
{
	size_t user = strcspn(submodule, "@:/"), host;

	if (submodule[user] != '@')
		return NULL;
	host = user + 1 + strcspn(submodule + user + 1, ":/");
	if (submodule[host] != ':' || submodule[host + 1] == ':')
		return NULL;
	return mem_printf(
		"ssh://%.*s/%s", (int)host, submodule, submodule + host + 1 + strspn(submodule + host + 1, "/"));
}

char *remote_resolve(const char *url, const char *submodule)
{
	char *resolved = NULL;
	struct remote remote;

	if (strlen(submodule) > REMOTE_URL_MAX)
		return NULL;
	if (text_starts(submodule, "./") || text_starts(submodule, "../"))
		resolved = resolve_relative(url, submodule);
	else if (strstr(submodule, "://"))
		resolved = mem_text(submodule);
	else
		resolved = resolve_short(submodule);
	if (resolved && remote_parse(resolved, &remote))
		return resolved;
	free(resolved);
	return NULL;
}
