/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_ACCOUNT_H
#define WORKER_RUNTIME_ACCOUNT_H

/*
 * Drops root privileges at start.
 *
 * A worker started by root becomes an unprivileged account before it opens anything. So no job runs as the machine's
 * root, with or without a sandbox. The account owns the data directory.
 */

struct err;

/* If this process runs as root, gives the data directory to the account and becomes the account. Root must own the
 * directory, and it must be empty or a worker's. Afterwards no process of any user gains privileges (no_new_privs).
 * ERR_INVALID if the account does not exist, is root, or the directory is not the worker's. The message says what to
 * do. */
int account_drop(const char *name, const char *data_dir, struct err *err);

#endif
