/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ACCOUNT_H
#define WORKER_ACCOUNT_H

/*
 * A worker that root starts becomes an unprivileged account before it opens anything: no job runs as root of the
 * machine, with or without a sandbox. The account owns the data folder.
 */

struct err;

/* Becomes the account if this process is root's, after it gave the account the data folder: one that root owns and
 * that is empty or a worker's. No process of any user gains privileges afterwards (no_new_privs). ERR_INVALID with what
 * to do: there is no such account, it is root, or the folder is not the worker's. */
int account_drop(const char *name, const char *data_dir, struct err *err);

#endif
