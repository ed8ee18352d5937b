/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_PROVIDERS_H
#define WORKER_PACKAGES_PROVIDERS_H

/*
 * Provider packages, and which of them a job may use. The worker's shared store has the verified packages:
 *
 *     <data-dir>/providers/store/<hex>/         a package, named after the hash of its files
 *     <data-dir>/providers/store/<hex>.hashes   the checksums under which lock files know it, one a line
 *     <data-dir>/providers/mirror/<host>/<namespace>/<type>/<version>/<os>_<arch>   a link into the store
 *
 * Only the worker's installer (worker/installer) writes to it. A package that a job installed is copied to the folder
 * of the job's organization (exec/org_packages). Jobs see both read-only. The engine's CLI configuration names mirror/
 * as the first source, and the engine links the packages that it finds there.
 */

#include "common/buf.h"
#include "worker/engine/variables.h"
#include "worker/packages/org_packages.h"
#include "worker/packages/packages.h"

struct err;

/* The shared store. */
struct providers {
	char *path; /* absolute; owned */
	int folder;
};

/* The packages that one job may use, and their paths in the job's view. All borrowed. */
struct package_view {
	const struct providers *verified;
	const char *verified_seen;
	struct org_packages *own;
	const struct org_user *user;
	const char *own_seen;
	const char *mirror; /* --provider-mirror: a folder, a URL, or "" for the providers' own registries */
};

struct package_list {
	struct package *items; /* owned */
	size_t count;
};

/* "linux_amd64": the platform of this machine's packages. */
const char *providers_platform(void);

/* Makes the folders. Empties a store of an older worker. ERR_INTERNAL. */
int providers_open(const char *data_dir, struct providers *ret_providers, struct err *err);
void providers_release(struct providers *providers);

/* The engine's sources of packages, in this order. Paths are as the engine sees them. */
struct install_sources {
	const char *store;        /* the shared store, or NULL */
	const struct texts *skip; /* addresses whose package in the store must not be used; or NULL */
	const char *own;          /* a folder of links to the organization's packages (providers_offer_own), or NULL */
	const char *mirror;
	const char *direct; /* a host whose providers never come from a network mirror, or NULL */
};

/* Appends the engine's CLI configuration. -1: over the limit. */
int providers_cli_config(const struct install_sources *sources, struct buf *out);

/*
 * Adapts the configuration's lock file to the store before init. A lock file that was made on another platform may
 * have only the zip's checksum of a package, which can't be compared with an unpacked package. If the store knows that
 * both are the same package, this function adds the missing line. `skip` gets the packages that the lock file does
 * not allow.
 */
int providers_fit_lockfile(const struct providers *providers, int folder, struct texts *skip, struct err *err);

/* Makes links to the organization's packages whose hash is in the lock file of `folder`, in the folder `offers` below
 * `root`. Makes that folder with the first link. Returns how many. */
int providers_offer_own(const struct package_view *view, int folder, int root, const char *offers);

/* Replaces the packages that a job's init installed below `folder` by links. A link leads to the shared store if the
 * same package is there, otherwise to the organization's packages, which get a copy. A package stays unchanged if there
 * is no room for it, or if the job's lock file does not name its hash. Packages that the shared store lacks, by address
 * and version, are added to the list. */
void providers_keep(const struct package_view *view, int folder, struct package_list *ret_unverified);
void package_list_release(struct package_list *list);

/* Moves the packages that the worker's own init installed below `folder` into the shared store. Returns how many. No
 * job may have had access to the folder. */
int providers_adopt(const struct providers *providers, int folder);

/* Makes the link for a package that another init used. False if no package that the job may use has the hash in the
 * lock file of `folder`: init must run then. */
bool providers_link(const struct package_view *view, int folder, const char *path);

#endif
