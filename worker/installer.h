/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_INSTALLER_H
#define WORKER_INSTALLER_H

/*
 * Verifies provider packages and writes the worker's shared store of them; nothing else does. For an address and a
 * version that a job installed, it runs the engine's init on a configuration of its own. The folder and the sandbox are
 * its own, too: it sees no file, variable or token of a job. The engine checks the registry's signed checksums, or the
 * index of --provider-mirror. So the store gets what the operator's source has, whatever the job installed.
 *
 * No job waits for it: one installation runs at a time, with a bound on its time, memory and disk. The queue is bounded
 * for all organizations and for each. After a failure it tries a package again in an hour at the earliest.
 */

#include "worker/exec/variables.h"

struct err;
struct installer;
struct job_host;

struct install_request {
	const char *engine;       /* path */
	const char *organization; /* id; organizations take turns */
	const char *address;      /* "registry.terraform.io/hashicorp/time" */
	const char *version;      /* "0.13.1" */
};

/* Empties <data-dir>/installer. The host is borrowed, and complete before the first request. ERR_INTERNAL. */
int installer_open(
	const struct job_host *host, const char *data_dir, struct installer **ret_installer, struct err *err);
/* Kills what runs, before the loop is freed; NULL is fine. */
void installer_stop(struct installer *installer);
/* After the loop, whose threads may still work for it. NULL is fine. */
void installer_free(struct installer *installer);

/* Asks for a package of this machine's platform; copies the request. */
void installer_request(struct installer *installer, const struct install_request *request);

/* The configuration that installs one package. -1: address or version are not plain names, so that they can't be told
 * from more configuration. Pure. */
int install_configuration(const char *address, const char *version, struct buf *out);

#endif
