/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_VCS_REF_H
#define COMMON_VCS_REF_H

/*
 * Checks names of refs and commits from outside. A valid name can be an argument of git, after "--" or as part of a
 * refspec. Pure; each function accepts NULL.
 */

#include "common/base.h"

enum {
	VCS_REF_MAX = 1024, /* bytes of a full ref */
	VCS_SHA_MAX = 64,   /* digits; 40 with SHA-1 */
	VCS_FOLDER_MAX = 512,
};

/* True for a full name ("refs/heads/main") that `git check-ref-format` accepts and that is valid UTF-8. */
bool vcs_ref_valid(const char *ref);
/* True for a short name of a branch or tag: no leading "-", and refs/heads/<name> is valid. */
bool vcs_ref_name_valid(const char *name);
/* True for the clean path of a folder in a repository ("modules/network"): without empty parts, ".", "..", ".git" and
 * control characters. */
bool vcs_folder_valid(const char *path);
/* True for 40 or 64 hex digits in lower case. */
bool vcs_sha_valid(const char *sha);
/* True for a valid sha of zeros only, by which payloads say that there is no commit. */
bool vcs_sha_is_zero(const char *sha);
/* The short name within `ref`: "main" of refs/heads/main, "v1" of refs/tags/v1. NULL if it is not such a ref. */
const char *vcs_ref_branch(const char *ref);
const char *vcs_ref_tag(const char *ref);
/* The branch or the tag, or else `ref` itself; "" for NULL. */
const char *vcs_ref_short(const char *ref);

#endif
