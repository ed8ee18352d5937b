/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_BENEATH_H
#define WORKER_EXEC_BENEATH_H

/*
 * File access below a folder with untrusted content. A job can leave links and pipes in place of its results, so these
 * functions never follow a link, leave the folder or block on a pipe.
 */

#include <dirent.h>
#include <sys/stat.h>

#include "common/buf.h"

struct err;

/* Opens `path` below the folder: a regular file or a folder (O_DIRECTORY). The caller closes it. -1 with errno; ELOOP
 * or EXDEV if the path leads through a link or out. */
int beneath_open(int folder, const char *path, int flags, mode_t mode);
/* The entries of a folder, for list_next: `_cleanup_(list_closep) DIR *list = ...;`. NULL with errno. */
DIR *beneath_list(int folder, const char *path);
void list_closep(DIR **list);
/* The name of the next entry but "." and "..", borrowed until the next call; NULL after the last one. */
const char *list_next(DIR *list);
/* Opens a folder of the worker's own (0700), and makes it if it is missing. `emptied`: it is removed and made anew. The
 * caller closes the descriptor. ERR_INTERNAL. */
int folder_make(const char *path, bool emptied, struct err *err);
/* Makes all missing folders of a path ("a/b/c": all three). -1 with errno. */
int beneath_mkdirs(int folder, const char *path);
/* Makes the missing parent folders of a path. */
int beneath_parents(int folder, const char *path);
/* Reads a whole file into an empty buffer. ERR_NOT_FOUND, ERR_TOO_LARGE or ERR_INTERNAL. */
int beneath_read(int folder, const char *path, struct buf *ret_bytes, struct err *err);
/* Creates or replaces a file. ERR_INTERNAL. */
int beneath_write(int folder, const char *path, mode_t mode, struct bytes bytes, struct err *err);
/* Removes a file or a whole tree; a missing one is fine. -1 if something is left. `name` is a single name, or a path
 * whose parent folders are known not to be links (beneath_parents). */
int beneath_remove(int folder, const char *name);
#endif
