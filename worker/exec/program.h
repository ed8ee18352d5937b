/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_PROGRAM_H
#define WORKER_EXEC_PROGRAM_H

/* The program's absolute path, links resolved: `wanted` is a path, or a name that is looked for in PATH and then in
 * `folder` (or ""). NULL if it is not there. The caller frees it. */
char *program_find(const char *wanted, const char *folder);
/* The path of a program that stands beside this one. The caller frees it. */
char *program_beside(const char *name);

#endif
