/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_POINTERS_H
#define WORKER_GIT_POINTERS_H

/* Pointers of Git LFS: small files that stand for files which are not in the repository itself. */

#include "common/base.h"

struct err;

/* True if a file begins with these bytes of a pointer. */
bool pointer_begins(const char *bytes, size_t len);
/* ERR_INVALID, with a sentence that names the file, if one below the folder `name` of `parent` is a pointer. */
int pointers_refuse(int parent, const char *name, struct err *err);

#endif
