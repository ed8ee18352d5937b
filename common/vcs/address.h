/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_VCS_ADDRESS_H
#define COMMON_VCS_ADDRESS_H

/*
 * Addresses of repositories and of their pages. All parts of an address are percent-encoded, so that an identifier or
 * branch from outside can't change what it points to. The functions that return text return it to be freed, or NULL if
 * the dialect has no such address. Pure.
 */

#include "common/vcs/dialect.h"

struct err;

/* Where a repository is. Borrowed texts. */
struct vcs_place {
	enum vcs_dialect dialect;
	const char
		*http_url; /* of the connection, with or without a slash at its end: vcs_http_url_check accepted it */
	const char *identifier; /* vcs_identifier_check accepted it */
};

enum { VCS_IDENTIFIER_MAX = 512 };

/*
 * Checks a connection's http-url. It is https:// or http:// with a host and without user, query and fragment. With
 * VCS_GIT it may be ssh:// (with a user, without a password) or git:// too. -1 with ERR_INVALID: one sentence.
 */
int vcs_http_url_check(enum vcs_dialect dialect, const char *url, struct err *err);

/*
 * Checks a repository's identifier: "org/repo", in Azure DevOps "org/project/_git/repo", in GitLab of any depth from
 * two, of plain git a path without a slash at its start. -1 with ERR_INVALID: one sentence that names the form.
 */
int vcs_identifier_check(enum vcs_dialect dialect, const char *identifier, struct err *err);

/* The URL to clone from with user and password; of plain git, with its own scheme. It has no user but that of an ssh://
 * http-url. */
char *vcs_clone_url(const struct vcs_place *place);
/* The URL to clone from with a key: ssh://. NULL for plain git, unless its http-url is ssh://. */
char *vcs_clone_ssh_url(const struct vcs_place *place);

/* Pages for people. NULL for plain git. */
char *vcs_repository_url(const struct vcs_place *place);
char *vcs_commit_url(const struct vcs_place *place, const char *sha);

/* The user for a login over https whose password is the connection's token. `user` is the one that the connection has
 * (plain git: its key; else the owner of the token), or NULL. Borrowed. */
const char *vcs_login_user(enum vcs_dialect dialect, const char *user);

enum { VCS_PR_REF_SIZE = 64 };
/* The ref by which the repository itself has a pull request's head (Azure DevOps: its merge). False: there is none. */
bool vcs_pr_ref(enum vcs_dialect dialect, long long number, char ret_ref[VCS_PR_REF_SIZE]);
/* The pull request's number of such a ref; 0 for any other ref. */
long long vcs_pr_ref_number(enum vcs_dialect dialect, const char *ref);

#endif
