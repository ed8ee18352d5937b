/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_INSTALLER_H
#define WORKER_PACKAGES_INSTALLER_H

/*
 * Verifies provider packages and is the only writer of the worker's shared provider store.
 *
 * For an address and a version that a job installed, it runs the engine's init on a generated configuration. It uses a
 * folder and a sandbox of its own, without any file, variable or token of a job. The engine checks the registry's
 * signed checksums, or the index of the mirror. So the store gets the package that the operator's source has,
 * whatever the job installed.
 *
 * No job waits for it. One installation runs at a time, with limits on its time, memory and disk. The queue is bounded
 * in total and for each organization. A package that failed is tried again after an hour at the earliest.
 */

#include "worker/engine/variables.h"

struct err;
struct installer;
struct job_host;

struct install_request {
	const char *engine;       /* path */
	const char *mirror;       /* folder, URL or "" for the registries */
	const char *organization; /* id; the organizations take turns */
	const char *address;      /* "registry.terraform.io/hashicorp/time" */
	const char *version;      /* "0.13.1" */
};

/* Empties <data-dir>/installer. Borrows the host, which must be complete before the first request. ERR_INTERNAL. */
int installer_open(
	const struct job_host *host, const char *data_dir, struct installer **ret_installer, struct err *err);
/* Kills the running installation. To be called before the loop is freed; NULL is fine. */
void installer_stop(struct installer *installer);
/* To be called after the loop is freed, because its threads may use the installer until then. NULL is fine. */
void installer_free(struct installer *installer);

/* Requests a package for this machine's platform. Copies the request. */
void installer_request(struct installer *installer, const struct install_request *request);

/* Writes the configuration that installs one package. Returns -1 if address or version contain characters that could
 * inject other configuration. Pure. */
int install_configuration(const char *address, const char *version, struct buf *out);

#endif
