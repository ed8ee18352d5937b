/* SPDX-License-Identifier: MPL-2.0 */
/* Which URLs of connections and which identifiers of repositories are accepted. */
#include <ctype.h>
#include <string.h>

#include "common/err.h"
#include "common/json/json.h"
#include "common/vcs/address.h"

/* --- http-url --- */

static bool is_name(const char *text, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)text[i]) && !strchr(more, text[i]))
			return false;
	}
	return len > 0 && *text != '-';
}

static bool is_port(const char *text, size_t len)
{
	char digits[8];
	long long port;

	if (!len)
		return true;
	if (*text != ':' || len > 6)
		return false;
	memcpy(digits, text + 1, len - 1);
	digits[len - 1] = '\0';
	return text_number(digits, 1, 65535, &port) == 0;
}

static bool is_host(const char *text, size_t len)
{
	size_t host = 0;

	if (*text == '[') {
		const char *end = memchr(text, ']', len);

		if (!end || !is_name(text + 1, (size_t)(end - text - 1), ":."))
			return false;
		host = (size_t)(end + 1 - text);
	} else {
		while (host < len && text[host] != ':')
			host++;
		if (!is_name(text, host, "-."))
			return false;
	}
	return is_port(text + host, len - host);
}

/* A path without "..", query and fragment. */
static bool is_path(const char *path)
{
	return strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/%+@") == strlen(path) &&
		!strstr(path, "..");
}

static const struct {
	const char *scheme;
	bool plain_only, user;
} schemes[] = {
	{"https://", false, false},
	{"http://", false, false},
	{"ssh://", true, true},
	{"git://", true, false},
};

static bool is_http_url(enum vcs_dialect dialect, const char *url)
{
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		const char *host = url + strlen(schemes[i].scheme), *at;
		size_t len;

		if (!text_starts(url, schemes[i].scheme) || (schemes[i].plain_only && dialect != VCS_GIT))
			continue;
		len = strcspn(host, "/");
		at = memchr(host, '@', len);
		if (at && (!schemes[i].user || !is_name(host, (size_t)(at - host), "-._")))
			return false;
		if (at) {
			len -= (size_t)(at + 1 - host);
			host = at + 1;
		}
		return is_host(host, len) && is_path(host + len);
	}
	return false;
}

int vcs_http_url_check(enum vcs_dialect dialect, const char *url, struct err *err)
{
	if (url && strlen(url) <= 1024 && is_http_url(dialect, url))
		return 0;
	return err_set(err, ERR_INVALID,
		dialect == VCS_GIT
			? "The URL must begin with https://, http://, ssh:// or git:// and a host, and must have no "
			  "password, query or fragment."
			: "The URL must begin with https:// or http:// and a host, and must have no user, query "
			  "or fragment.");
}

/* --- identifiers --- */

/* "~" begins a personal project of Bitbucket. */
static const char word[] = "-._~";

/* Names of Azure DevOps and plain paths may have spaces and letters of any script, but nothing that means something in
 * a URL or to a shell. */
static bool is_loose(const char *part, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char byte = (unsigned char)part[i];

		if (byte < ' ' || byte == 0x7f || strchr("\\:*?\"<>|;#${},=[]%`'&!^", byte))
			return false;
	}
	return *part != ' ' && part[len - 1] != ' ';
}

static bool is_part(const char *part, size_t len, bool loose)
{
	if (!len || *part == '-' || (len <= 2 && !strncmp(part, "..", len)))
		return false;
	return loose ? is_loose(part, len) : is_name(part, len, word);
}

static const struct {
	int parts_min, parts_max;
	bool loose;
	const char *form;
} identifiers[VCS_DIALECTS] = {
	[VCS_GITHUB] = {2, 2, false, "owner/repository"},
	[VCS_GITLAB] = {2, 32, false, "group/repository, with any number of subgroups"},
	[VCS_BITBUCKET_CLOUD] = {2, 2, false, "workspace/repository"},
	[VCS_BITBUCKET_SERVER] = {2, 2, false, "PROJECT/repository"},
	[VCS_AZURE] = {4, 4, true, "organization/project/_git/repository"},
	[VCS_GITEA] = {2, 2, false, "owner/repository"},
	[VCS_GIT] = {1, 32, true, "the repository's path below the connection's URL"},
};

static bool ends(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && text_equal(text + len - end_len, end);
}

static bool is_identifier(enum vcs_dialect dialect, const char *identifier)
{
	json_auto_t *utf8 = json_string(identifier);
	int parts = 0;

	if (!utf8 || strlen(identifier) > VCS_IDENTIFIER_MAX)
		return false;
	for (const char *part = identifier, *end;; part = end + 1) {
		end = strchrnul(part, '/');
		if (!is_part(part, (size_t)(end - part), identifiers[dialect].loose))
			return false;
		parts++;
		/* Of Azure DevOps, the third part is "_git" and no other is. */
		if (dialect == VCS_AZURE && (parts == 3) != (end - part == 4 && !strncmp(part, "_git", 4)))
			return false;
		if (!*end)
			break;
	}
	if (dialect != VCS_GIT && ends(identifier, ".git"))
		return false;
	return parts >= identifiers[dialect].parts_min && parts <= identifiers[dialect].parts_max;
}

int vcs_identifier_check(enum vcs_dialect dialect, const char *identifier, struct err *err)
{
	if (identifier && is_identifier(dialect, identifier))
		return 0;
	return err_set(
		err, ERR_INVALID, "The identifier of the repository must have the form %s.", identifiers[dialect].form);
}
