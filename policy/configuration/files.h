/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_FILES_H
#define POLICY_CONFIGURATION_FILES_H

/*
 * The files that a policy's run reads: policies, modules, mocks, configurations, static data.
 *
 * With a root, the kernel resolves each path beneath it: `..` above the root, absolute paths and symbolic links are
 * refused. Without a root, a path is relative to the process's working directory.
 *
 * The contents live as long as the run; what is read counts as its memory. run_release closes the descriptor of a
 * function that failed.
 */

#include <stddef.h>

#include "policy/configuration/reader.h"

struct files {
	const char *root_path; /* of -root, or NULL */
	int root;              /* its descriptor; -1 without a root */
};

/* 0, or -1 with errno. `path` is borrowed; NULL is no root. */
int files_open(struct files *files, const char *path);
void files_close(struct files *files);

/* The path from the root of a file that the command line names; without a root the path itself. Fails if the file's
 * folder is not beneath the root. */
const char *files_beneath(struct run *run, const struct files *files, const char *path);
/* `path` as seen from the folder, without "." and, where possible, "..". "" is the working directory or the root. */
const char *files_join(struct run *run, const char *folder, const char *path);
/* The path's folder, "" if it has none. */
const char *files_folder(struct run *run, const char *path);

/* Reads a source of a configuration in `folder`: a relative path, perhaps with "?checksum=sha256:HEX" behind it. Fails
 * if it is remote, absolute, missing, no regular file, larger than `max`, or if its checksum differs. */
struct file source_read(struct run *run, const struct files *files, const char *folder, const char *source,
	const struct reader *reader);
/* The path of such a source, as messages name the file. */
const char *source_path(struct run *run, const char *folder, const char *source);
/* The same for data, up to MAX_DATA bytes. The file is mapped; if it is truncated during the run, the process ends by
 * SIGBUS. */
struct file source_map(struct run *run, const struct files *files, const char *folder, const char *source,
	const struct reader *reader);

/* Reads a file whose path is from the root; at most MAX_CONFIGURATION bytes. */
struct file file_read(struct run *run, const struct files *files, const char *path, const struct reader *reader);
/* Maps such a file; at most MAX_DATA bytes. */
struct file file_map(struct run *run, const struct files *files, const char *path, const struct reader *reader);

enum { MAX_CONFIGURATION = 16 << 20 };
#define MAX_DATA ((size_t)2 << 30)

#endif
