/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HELPER_CONFINE_H
#define SCHEDULER_HELPER_CONFINE_H

struct err;

/*
 * Takes from this process all that it does not need to read and write its open descriptors: memory, files, the network,
 * other programs, other processes. Call it after the libraries have been initialized. The account and a
 * network namespace of its own are optional, since the system may not allow them. The system call filter and the limits
 * must succeed.
 */
int confine(const char *account, struct err *err);

#endif
