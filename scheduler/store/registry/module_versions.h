/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_MODULE_VERSIONS_H
#define SCHEDULER_STORE_REGISTRY_MODULE_VERSIONS_H

/*
 * Versions of private modules. A version is pending until its archive is uploaded, then ok, or reg_ingress_failed if
 * the archive was refused: it may be uploaded again. Content is never replaced once a download may have begun. Versions
 * from tags are described in module_tags.h. If the module requires tests, they come before ok
 * (runs/registry/version_tests.h): only a version that is ok is published.
 */

#include "scheduler/store/store.h"

enum { MAX_MODULE_VERSIONS = 1000, MAX_VERSION = 64 };

/* True for a semantic version: three numbers, and perhaps a prerelease and build metadata. Pure. */
bool module_version_valid(const char *version);
/* ERR_INVALID at the attribute `version` if it is none. */
int module_version_check(const char *version, struct err *err);

struct module_version_draft {
	const char *module_id, *version;
	const char *commit_sha; /* or NULL */
};
/* Adds a version without content. ERR_INVALID if it is no semantic version, if the module has it, or if the module has
 * MAX_MODULE_VERSIONS. */
int module_version_create(
	struct store *store, const struct module_version_draft *draft, struct id *ret_id, struct err *err);
/* The shape `module_version`. ERR_NOT_FOUND. */
int module_version_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int module_version_find(
	struct store *store, const char *module_id, const char *version, struct rows *ret_rows, struct err *err);

/* Stores the content. Nothing changes if the version has the same content already. ERR_CONFLICT if a download of
 * other content may have begun. */
int module_version_upload(struct store *store, const char *id, struct bytes archive, struct err *err);
/* Notes that a download may begin: from now on the content can't be replaced. */
int module_version_give(struct store *store, const char *id, struct err *err);
/* Notes the reason of a refused upload. */
int module_version_refuse(struct store *store, const char *id, const char *why, struct err *err);

/* Sets the deprecation ({reason, link}) and the revocation ({message, link}); NULL: none. A revoked version must be
 * deprecated, too. */
int module_version_mark(
	struct store *store, const char *id, const json_t *deprecation, const json_t *revocation, struct err *err);

struct module_version_row;
/* Deletes the version, and the module if it has no other version. */
int module_version_delete(struct store *store, const struct module_version_row *version, struct err *err);

#endif
