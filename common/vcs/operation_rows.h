/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_VCS_OPERATION_ROWS_H
#define COMMON_VCS_OPERATION_ROWS_H

/* The tables of the dialects, and what their functions share. For operation*.c only. */

#include "common/buf.h"
#include "common/vcs/operation_types.h"

/* How a member of a result is read. A member that is missing, or not of the form, is null. */
enum vcs_form {
	VCS_NONE,    /* null */
	VCS_KEY,     /* the first of the paths that has a text; REQUIRED: an item without it is left out */
	VCS_PAIR,    /* the texts at both paths, with a slash between; REQUIRED */
	VCS_ID,      /* a text, or a number as text; REQUIRED */
	VCS_NUMBER,  /* a positive number; REQUIRED */
	VCS_COMMIT,  /* a commit's full hash in lower case; REQUIRED */
	VCS_SHA,     /* the same, not required */
	VCS_NAME,    /* a text */
	VCS_BRANCH,  /* a text, without the prefix of a branch's ref */
	VCS_URL,     /* a text */
	VCS_TITLE,   /* a text, cut off at its limit */
	VCS_TEXT,    /* a longer text, cut off at its limit */
	VCS_TIME,    /* a text, or a number of milliseconds since 1970 as text */
	VCS_LINK,    /* the `href` of the first link at the first path whose `name` begins with the second */
	VCS_VERSION, /* a number, or 0 */
	VCS_FLAG,    /* a boolean, or false */
	VCS_IS,      /* true if the text at the first path is the second */
	VCS_EXISTS,  /* true if there is an object */
	VCS_DIFFER,  /* true if the ids at both paths differ; null if one is missing */
};

/* The members of a result, or of an item of a list. */
struct vcs_item {
	struct {
		const char *name; /* NULL: the end */
		enum vcs_form form;
		const char *paths[3]; /* in the provider's object */
	} members[12];
};

/* How a dialect makes one operation, and reads the answer. */
struct vcs_row {
	const char *method; /* NULL: the dialect lacks the operation */
	/*
	 * Appended to the base of the API. Members in braces are replaced: {repo} by the identifier with its slashes,
	 * {project} by the identifier as one segment, {owner} by all but its last segment, {name} by its last segment,
	 * {within} and {collection} by parts of Azure DevOps' identifiers, {repositories} by GitHub's list for a user
	 * or an App, {start} by the number of the page's first item, and any other by the argument of that name.
	 */
	const char *path;
	json_t *(*body)(const json_t *arguments); /* NULL: no body */
	/* The result is an object with these members. If this and the readers are NULL, nothing is read. */
	const struct vcs_item *item;
	json_t *(*read_item)(const json_t *item); /* instead of `item`; NULL leaves the item out */
	const char *within, *unless; /* of an item of a list: the member that is read; the flag that leaves it out */
	/* The result is a list: the path of its array, unless the answer itself is the array. After a page with fewer
	 * items there is no other. Without `page`, the result is the item with the name of the argument `branch`. */
	const char *list;
	size_t page;
	const char *const *files;                         /* of a list: for vcs_read_files, instead of `item` */
	json_t *(*read)(const struct vcs_answer *answer); /* instead of all these */
	bool (*taken)(const struct vcs_answer *answer);   /* an error that counts as taken; or NULL */
};

/* For `page`: one answer has all items, or says whether it is the last ("isLastPage" of Bitbucket Data Center). */
#define VCS_ALL SIZE_MAX

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
void vcs_header_bitbucket(const struct vcs_api *api, json_t *headers);

/* ---- bodies ---- */

/* The argument `state` as both Bitbuckets name it; NULL for an unknown one. */
const char *vcs_bitbucket_state(const json_t *arguments);
/* GitHub's forms, which Gitea and GitLab share. */
json_t *vcs_github_status(const json_t *arguments);
json_t *vcs_github_comment(const json_t *arguments);

/* ---- readers; all return new references ---- */

/* Limits of texts, in bytes. */
enum {
	VCS_NAME_LIMIT = 1024,
	VCS_URL_LIMIT = 2048,
	VCS_TITLE_LIMIT = 1024,
	VCS_TEXT_LIMIT = 8192,
	VCS_PATH_LIMIT = 4096
};

/* The text, or null if it is NULL or longer than the limit. */
json_t *vcs_read_text(const char *text, size_t limit);
/* The same, cut off at the limit. */
json_t *vcs_read_cut(const char *text, size_t limit);
/* The result. NULL if the answer is not of the documented form. */
json_t *vcs_read_row(const struct vcs_answer *answer, const struct vcs_row *row);
/* {files, whole, next} of an array of objects with the changed path, and the path before a renaming, at these paths. */
json_t *vcs_read_files(const struct vcs_answer *answer, const json_t *array, size_t page, const char *const paths[2]);
/* The page of the request, from 1. */
long long vcs_page(const json_t *arguments);
/* For `taken` of a deletion: there is nothing left to delete. */
bool vcs_is_gone(const struct vcs_answer *answer);

/* {id}: of what a request made. */
extern const struct vcs_item vcs_made;
/* GitHub's forms, which Gitea (and GitLab) share. */
extern const struct vcs_item vcs_github_user, vcs_github_repository, vcs_github_commit, vcs_github_pull,
	vcs_github_comment_item, vcs_github_hook;

#endif
