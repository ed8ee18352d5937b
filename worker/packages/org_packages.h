/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_ORG_PACKAGES_H
#define WORKER_PACKAGES_ORG_PACKAGES_H

/*
 * Unverified provider packages that the jobs of an organization installed:
 * <data-dir>/organization-packages/<organization>/<hex>/. A package is named after the hash of its files. Only jobs of
 * that organization see its folder, read-only. There is no index by version: a job gets a package only if a lock file
 * names its hash. So one workspace can't choose the provider of another.
 *
 * The worker empties the folder at start. Its size is limited in total and for each organization. The least recently
 * used package is removed first, except packages that a running job may use. All calls are thread-safe.
 */

#include "common/base.h"

struct err;
struct org_packages;
/* A job of an organization. The packages that it used are kept until it leaves. */
struct org_user;

/* Empties the folder. `max_bytes` is the limit in total; each organization may have half of it. ERR_INTERNAL. */
int org_packages_open(const char *data_dir, long long max_bytes, struct org_packages **ret_packages, struct err *err);
/* To be called after the last user has left. NULL is fine. */
void org_packages_free(struct org_packages *packages);

/* `organization` is its id. ERR_INTERNAL. */
int org_packages_enter(
	struct org_packages *packages, const char *organization, struct org_user **ret_user, struct err *err);
/* Frees the user. NULL is fine. */
void org_packages_leave(struct org_packages *packages, struct org_user *user);
/* The organization's folder on the machine. Borrowed from the user. */
const char *org_user_path(const struct org_user *user);

/* True if the organization has that package. It is then kept until the user leaves. */
bool org_packages_use(struct org_packages *packages, const struct org_user *user, const char *hex);
/* Copies a package from the folder of a job. -1 if there is no room, or if the copy has another hash. */
int org_packages_add(struct org_packages *packages, const struct org_user *user, int package, const char *hex);

#endif
