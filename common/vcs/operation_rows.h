/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_VCS_OPERATION_ROWS_H
#define COMMON_VCS_OPERATION_ROWS_H

/* The tables of the dialects, and what their functions share. For operation*.c only. */

#include "common/buf.h"
#include "common/vcs/operation_types.h"

/* How a dialect makes one operation. */
struct vcs_row {
	const char *method; /* NULL: the dialect lacks the operation */
	/*
	 * Appended to the base of the API. Members in braces are replaced: {repo} by the identifier with its slashes,
	 * {project} by the identifier as one segment, {owner} by all but its last segment, {name} by its last segment,
	 * and any other by the argument of that name.
	 */
	const char *path;
	json_t *(*body)(const json_t *arguments);                         /* NULL: no body */
	json_t *(*read)(const struct vcs_answer *answer);                 /* NULL: nothing is read */
	bool (*taken)(const struct vcs_answer *answer);                   /* an error that counts as taken; or NULL */
	char *(*filled)(const struct vcs_api *, const json_t *arguments); /* instead of `path`: the whole URL */
};

struct vcs_dialect_rows {
	const struct vcs_row *rows; /* VCS_OPERATIONS of them */
	/* Adds the headers with the token. */
	void (*headers)(const struct vcs_api *api, json_t *headers);
	const char *base; /* between the API's URL and the path: "/rest/api/1.0" unless the URL has it; or NULL */
};

extern const struct vcs_dialect_rows vcs_github_rows, vcs_gitlab_rows, vcs_gitea_rows, vcs_bitbucket_cloud_rows,
	vcs_bitbucket_server_rows, vcs_azure_rows;

/* NULL for plain git. */
const struct vcs_dialect_rows *vcs_rows_of(enum vcs_dialect dialect);
/* NULL if the dialect lacks the operation. */
const struct vcs_row *vcs_row_of(enum vcs_dialect dialect, enum vcs_operation operation);

/* Adds "Name: value", where the value is the prefix and the text. */
void vcs_header_add(json_t *headers, const char *prefix, const char *text);
/* "Authorization: Basic" of "user:password". */
void vcs_header_basic(json_t *headers, const char *pair);
/* Bitbucket's: "user:password" is an app password or an API token; anything else is an access token. */
void vcs_header_bitbucket(json_t *headers, const char *token);

/* ---- readers ---- */

/* Limits of texts, in bytes. */
enum {
	VCS_NAME_LIMIT = 1024,
	VCS_URL_LIMIT = 2048,
	VCS_TITLE_LIMIT = 1024,
	VCS_MESSAGE_LIMIT = 8192,
	VCS_PATH_LIMIT = 4096
};

/* The text at the path, or null if it is missing, no text or longer than the limit. New references, as the others. */
json_t *vcs_read_text(const json_t *value, const char *path, size_t limit);
/* The same, cut off at the limit. */
json_t *vcs_read_cut(const json_t *value, const char *path, size_t limit);
/* A commit's full hash in lower case, else null. */
json_t *vcs_read_sha(const json_t *value, const char *path);
/* An id: a text, or a number as text; else null. */
json_t *vcs_read_id(const json_t *value, const char *path);
/* The array's items, as `read` returns them; those for which it returns NULL are left out. NULL if it is no array. */
json_t *vcs_read_list(const json_t *array, json_t *(*read)(const json_t *item));
/* {items, next} of a list with `size` items per page: there is a next page if this one is full. */
json_t *vcs_read_page(
	const struct vcs_answer *answer, const json_t *array, size_t size, json_t *(*read)(const json_t *));
/* {files, whole, next} of an array of objects with the changed path, and the path before a renaming, at these paths. */
json_t *vcs_read_files(const struct vcs_answer *answer, const json_t *array, size_t size, const char *const paths[2]);
/* The page of the request, from 1. */
long long vcs_page(const json_t *arguments);
/* True if two ids at these paths differ; null if one is missing. */
json_t *vcs_read_differs(const json_t *value, const char *one, const char *other);

/* {name, sha} and {sha, message, author, url} from these paths; NULL if there is no hash. */
json_t *vcs_read_head(const struct vcs_answer *answer, const char *name, const char *sha);
struct vcs_commit_paths {
	const char *sha, *message, *author, *url;
};
json_t *vcs_read_commit(const struct vcs_answer *answer, const struct vcs_commit_paths *paths);
/* For `taken` of a deletion: there is nothing left to delete. */
bool vcs_is_gone(const struct vcs_answer *answer);

/* GitHub's forms, which Gitea shares. */
json_t *vcs_github_status(const json_t *arguments);
json_t *vcs_github_comment(const json_t *arguments);
json_t *vcs_github_read_user(const struct vcs_answer *answer);
json_t *vcs_github_read_repository(const struct vcs_answer *answer);
json_t *vcs_github_repository(const json_t *item);
json_t *vcs_github_read_pull(const struct vcs_answer *answer);
json_t *vcs_github_pull(const json_t *item);
json_t *vcs_github_comment_item(const json_t *item);
json_t *vcs_github_read_comment(const struct vcs_answer *answer);
json_t *vcs_github_hook(const json_t *item);
json_t *vcs_read_made(const struct vcs_answer *answer);

#endif
