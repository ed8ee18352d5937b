/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/address.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"

enum { ADDRESS_MAX = 16384 };

enum address { CLONE, CLONE_SSH, PAGE, PAGE_COMMIT, ADDRESSES };

/*
 * The form of each address.
 *   %h  the http-url           %H  its host, for ssh       %P  its path
 *   %i  the identifier         %s  its last part           %o  of Azure DevOps: "org/project"
 *   %p  of Bitbucket Data Center: "projects/KEY" or "users/name"
 *   %c  the commit
 */
static const char *const forms[VCS_DIALECTS][ADDRESSES] = {
	[VCS_GITHUB] = {"%h/%i.git", "ssh://git@%H/%i.git", "%h/%i", "%h/%i/commit/%c"},
	[VCS_GITLAB] = {"%h/%i.git", "ssh://git@%H/%i.git", "%h/%i", "%h/%i/-/commit/%c"},
	[VCS_BITBUCKET_CLOUD] = {"%h/%i.git", "ssh://git@%H/%i.git", "%h/%i", "%h/%i/commits/%c"},
	[VCS_BITBUCKET_SERVER] = {"%h/scm/%i.git", "ssh://git@%H:7999/%i.git", "%h/%p/repos/%s",
		"%h/%p/repos/%s/commits/%c"},
	[VCS_AZURE] = {"%h/%i", "ssh://git@%H%P/%i", "%h/%i", "%h/%i/commit/%c"},
	[VCS_GITEA] = {"%h/%i.git", "ssh://git@%H/%i.git", "%h/%i", "%h/%i/commit/%c"},
	[VCS_GIT] = {"%h/%i"},
};

/* Azure DevOps Services has another host and other paths for ssh. */
static const char azure_host[] = "dev.azure.com", azure_ssh[] = "ssh://git@ssh.dev.azure.com/v3/%o/%s";

/* --- writing --- */

static void put(struct buf *out, const char *bytes, size_t len)
{
	(void)buf_append(out, bytes, len); /* a result that met the limit is not returned (expand) */
}

/* Percent-encodes all but unreserved characters and those of `keep`. */
static void put_encoded(struct buf *out, const char *text, size_t len, const char *keep)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char byte = (unsigned char)text[i];

		if (isalnum(byte) || strchr("-._~", byte) || strchr(keep, byte))
			put(out, text + i, 1);
		else
			(void)buf_printf(out, "%%%02X", byte);
	}
}

static size_t base_len(const char *url)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	return len;
}

/* The authority of a URL without its port; the brackets of an IPv6 address stay. */
static const char *host_of(const char *url, size_t *ret_len)
{
	const char *host = strstr(url, "://");
	const char *at;
	size_t len;

	host = host ? host + 3 : url;
	len = strcspn(host, "/");
	at = memchr(host, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	*ret_len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
	if (*ret_len > len)
		*ret_len = len;
	return host;
}

static const char *last_part(const char *identifier)
{
	const char *slash = strrchr(identifier, '/');

	return slash ? slash + 1 : identifier;
}

/* "projects/KEY", or "users/name" for the identifier "~name/repo". */
static void put_project(struct buf *out, const char *identifier)
{
	const bool personal = *identifier == '~';

	identifier += personal;
	put(out, personal ? "users/" : "projects/", personal ? 6 : 9);
	put_encoded(out, identifier, strcspn(identifier, "/"), "");
}

/* "org/project" of "org/project/_git/repo". */
static void put_organization(struct buf *out, const char *identifier)
{
	const char *git = strstr(identifier, "/_git/");

	put_encoded(out, identifier, git ? (size_t)(git - identifier) : strlen(identifier), "/");
}

static void put_part(struct buf *out, char letter, const struct vcs_place *place, const char *commit)
{
	const char *id = place->identifier, *host;
	size_t len;

	switch (letter) {
	case 'h':
		put(out, place->http_url, base_len(place->http_url));
		break;
	case 'H':
		host = host_of(place->http_url, &len);
		put(out, host, len);
		break;
	case 'P':
		host = strchr(host_of(place->http_url, &len), '/');
		put(out, text_or_empty(host), base_len(text_or_empty(host)));
		break;
	case 'i':
		put_encoded(out, id, strlen(id), "/");
		break;
	case 'p':
		put_project(out, id);
		break;
	case 's':
		put_encoded(out, last_part(id), strlen(last_part(id)), "");
		break;
	case 'o':
		put_organization(out, id);
		break;
	default: /* c */
		put_encoded(out, commit, strlen(commit), "/");
	}
}

static char *expand(const char *form, const struct vcs_place *place, const char *commit)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(ADDRESS_MAX);

	if (!form)
		return NULL;
	for (const char *at = form; *at; at++) {
		if (*at == '%')
			put_part(&out, *++at, place, commit);
		else
			put(&out, at, 1);
	}
	return buf_take(&out);
}

static char *address(enum address kind, const struct vcs_place *place)
{
	return expand(forms[place->dialect][kind], place, "");
}

/* --- addresses --- */

/* Without a user in an ssh:// URL, ssh would use the name of the worker's account. */
static char *plain_url(const struct vcs_place *place)
{
	static const char scheme[] = "ssh://";
	char *url = address(CLONE, place), *with_user;
	const char *host;
	size_t len;

	if (!text_starts(url, scheme))
		return url;
	host = host_of(url, &len);
	if (host != url + strlen(scheme))
		return url;
	with_user = mem_printf("%sgit@%s", scheme, host);
	free(url);
	return with_user;
}

char *vcs_clone_url(const struct vcs_place *place)
{
	return place->dialect == VCS_GIT ? plain_url(place) : address(CLONE, place);
}

char *vcs_clone_ssh_url(const struct vcs_place *place)
{
	const char *host;
	size_t len;

	if (place->dialect == VCS_GIT)
		return text_starts(place->http_url, "ssh://") ? plain_url(place) : NULL;
	host = host_of(place->http_url, &len);
	if (place->dialect == VCS_AZURE && len == strlen(azure_host) && !strncasecmp(host, azure_host, len))
		return expand(azure_ssh, place, "");
	return address(CLONE_SSH, place);
}

char *vcs_repository_url(const struct vcs_place *place)
{
	return address(PAGE, place);
}

char *vcs_commit_url(const struct vcs_place *place, const char *sha)
{
	return expand(forms[place->dialect][PAGE_COMMIT], place, text_or_empty(sha));
}

/* --- logins --- */

static const struct {
	const char *user; /* NULL: the connection's */
	const char *otherwise;
} logins[VCS_DIALECTS] = {
	[VCS_GITHUB] = {"x-access-token", NULL},
	[VCS_GITLAB] = {"oauth2", NULL},
	[VCS_BITBUCKET_CLOUD] = {"x-token-auth", NULL},
	[VCS_BITBUCKET_SERVER] = {NULL, "x-token-auth"},
	[VCS_AZURE] = {"token", NULL},
	[VCS_GITEA] = {"token", NULL},
	[VCS_GIT] = {NULL, "git"},
};

const char *vcs_login_user(enum vcs_dialect dialect, const char *user)
{
	if (logins[dialect].user)
		return logins[dialect].user;
	return user && *user ? user : logins[dialect].otherwise;
}

/* --- refs of pull requests --- */

static const struct {
	const char *before, *after;
} pr_refs[VCS_DIALECTS] = {
	[VCS_GITHUB] = {"refs/pull/", "/head"},
	[VCS_GITLAB] = {"refs/merge-requests/", "/head"},
	[VCS_BITBUCKET_SERVER] = {"refs/pull-requests/", "/from"},
	[VCS_AZURE] = {"refs/pull/", "/merge"},
	[VCS_GITEA] = {"refs/pull/", "/head"},
};

bool vcs_pr_ref(enum vcs_dialect dialect, long long number, char ret_ref[VCS_PR_REF_SIZE])
{
	if (!pr_refs[dialect].before || number <= 0)
		return false;
	snprintf(ret_ref, VCS_PR_REF_SIZE, "%s%lld%s", pr_refs[dialect].before, number, pr_refs[dialect].after);
	return true;
}

long long vcs_pr_ref_number(enum vcs_dialect dialect, const char *ref)
{
	char digits[24], again[VCS_PR_REF_SIZE];
	long long number = 0;
	const char *at;

	if (!pr_refs[dialect].before || !ref || !text_starts(ref, pr_refs[dialect].before))
		return 0;
	at = ref + strlen(pr_refs[dialect].before);
	snprintf(digits, sizeof(digits), "%.*s", (int)strspn(at, "0123456789"), at);
	if (text_number(digits, 1, INT64_MAX, &number) < 0 || !vcs_pr_ref(dialect, number, again))
		return 0;
	return text_equal(again, ref) ? number : 0;
}
