/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_PROGRAM_H
#define WORKER_EXEC_PROGRAM_H

struct err;

/* Resolves a program to its absolute path, without links. `wanted` is a path, or a name that is searched in PATH and
 * then in `folder` (or ""). NULL if it is not found. The caller frees it. */
char *program_find(const char *wanted, const char *folder);

/* Descriptors that become 2, 3 and 4 of a program. -1: /dev/null as 2; 3 and 4 closed. If both `third` and `fourth` are
 * given, they must be above 4. */
struct program_fds {
	int errors, third, fourth;
};

/* Starts argv[0] with an empty environment, no input, no output, and no other descriptor. Returns its pid. */
int program_spawn(char *const *argv, struct program_fds fds, struct err *err);

#endif
