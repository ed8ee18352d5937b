/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_PROCESS_H
#define COMMON_PROCESS_H

/* The start of a process: its limits, its protection, and the file that names its port. */

struct err;

/* Raises the limit of open descriptors (RLIMIT_NOFILE) to `wanted`, or as far as this process may. *ret_limit is the
 * new limit. ERR_INVALID if it is below `least`. */
int descriptors_raise(
	unsigned long long least, unsigned long long wanted, unsigned long long *ret_limit, struct err *err);

/* Writes a server's port to a file atomically, so that readers never see a part of it. "" is no file. */
int port_file_write(const char *path, int port, struct err *err);

/* The path of a helper program: in the folder of this program, as in a build, or else in libexec/runyard beside that
 * folder, as in an installation. It need not exist. The caller frees it. */
char *process_helper(const char *name);

/* Protects the secrets in this process. It writes no core file. Other processes of its user can't trace it or read
 * its memory and environment in /proc. The setting is lost when the process changes its user. */
void process_protect(void);

#endif
