/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_PROGRAM_H
#define WORKER_EXEC_PROGRAM_H

/* Resolves a program to its absolute path, without links. `wanted` is a path, or a name that is searched in PATH and
 * then in `folder` (or ""). NULL if it is not found. The caller frees it. */
char *program_find(const char *wanted, const char *folder);
/* The path of a program in the folder of this program. The caller frees it. */
char *program_beside(const char *name);

#endif
