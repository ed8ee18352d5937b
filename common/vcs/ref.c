/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/ref.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/json/json.h"

/* A byte that no ref may have. */
static bool is_forbidden(unsigned char byte)
{
	return byte <= ' ' || byte == 0x7f || strchr("~^:?*[\\", byte);
}

/* One part between slashes. */
static bool is_part_valid(const char *part, size_t len)
{
	static const char lock[] = ".lock";
	const size_t lock_len = sizeof(lock) - 1;

	if (!len || part[0] == '.' || part[len - 1] == '.')
		return false;
	return len < lock_len || memcmp(part + len - lock_len, lock, lock_len) != 0;
}

static bool are_bytes_valid(const char *ref)
{
	for (size_t i = 0; ref[i]; i++) {
		if (is_forbidden((unsigned char)ref[i]))
			return false;
		if ((ref[i] == '.' && ref[i + 1] == '.') || (ref[i] == '@' && ref[i + 1] == '{'))
			return false;
	}
	return true;
}

/* jansson refuses strings that are not valid UTF-8. */
static bool is_utf8(const char *text)
{
	json_auto_t *string = json_string(text);

	return string != NULL;
}

bool vcs_ref_valid(const char *ref)
{
	if (!ref || !text_starts(ref, "refs/") || strlen(ref) > VCS_REF_MAX || !are_bytes_valid(ref))
		return false;
	for (const char *part = ref, *end;; part = end + 1) {
		end = strchrnul(part, '/');
		if (!is_part_valid(part, (size_t)(end - part)))
			return false;
		if (!*end)
			break;
	}
	return is_utf8(ref);
}

bool vcs_ref_name_valid(const char *name)
{
	char ref[VCS_REF_MAX + 1];

	if (!name || *name == '-' || strlen(name) > VCS_REF_MAX - strlen("refs/heads/"))
		return false;
	snprintf(ref, sizeof(ref), "refs/heads/%s", name);
	return vcs_ref_valid(ref);
}

bool vcs_folder_valid(const char *path)
{
	static const char *const refused[] = {"", ".", "..", ".git"};

	if (!path || strlen(path) > VCS_FOLDER_MAX || !is_utf8(path))
		return false;
	for (const char *byte = path; *byte; byte++)
		if ((unsigned char)*byte < ' ' || *byte == 0x7f || *byte == '\\')
			return false;
	for (const char *part = path;; part++) {
		size_t len = strcspn(part, "/");

		for (size_t i = 0; i < ARRAY_LEN(refused); i++)
			if (len == strlen(refused[i]) && strncasecmp(part, refused[i], len) == 0)
				return false;
		part += len;
		if (!*part)
			return true;
	}
}

bool vcs_sha_valid(const char *sha)
{
	const size_t len = sha ? strlen(sha) : 0;

	return (len == 40 || len == VCS_SHA_MAX) && strspn(sha, "0123456789abcdef") == len;
}

bool vcs_sha_is_zero(const char *sha)
{
	return vcs_sha_valid(sha) && sha[strspn(sha, "0")] == '\0';
}

static const char *after(const char *ref, const char *prefix)
{
	return ref && text_starts(ref, prefix) ? ref + strlen(prefix) : NULL;
}

const char *vcs_ref_branch(const char *ref)
{
	return after(ref, "refs/heads/");
}

const char *vcs_ref_tag(const char *ref)
{
	return after(ref, "refs/tags/");
}

const char *vcs_ref_short(const char *ref)
{
	const char *name = vcs_ref_branch(ref);

	name = name ? name : vcs_ref_tag(ref);
	return name ? name : text_or_empty(ref);
}
