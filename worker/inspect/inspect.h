/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_INSPECT_INSPECT_H
#define WORKER_INSPECT_INSPECT_H

/*
 * Describes a module of the registry by its files (common/terraform/module_description.h), for runyard-inspect, which
 * runs in the sandbox. The files are hostile: nothing of them is executed or written to disk, and the size of the
 * description is bounded.
 */

#include "common/json/json.h"

struct err;

enum {
	INSPECT_ENTRIES = 100 * 1000, /* of an archive */
	INSPECT_FILES = 5000,         /* of them, those that are read */
	INSPECT_FILE_BYTES = 1 << 20, /* of a file that is read */
	INSPECT_BYTES = 32 << 20,     /* of all of them */
	INSPECT_FOLDERS = 200         /* submodules, and as many examples */
};

struct inspected_file {
	char *path; /* relative, without "." and ".."; owned by the caller */
	char *text; /* owned by the caller */
	size_t len;
};

/* Whether a file of that path is read: a configuration or a README in one of the module's folders. Pure. */
bool inspect_reads(const char *path);
/* The description by those files, whose order does not matter. Never NULL. Pure. */
json_t *inspect_files(struct inspected_file *files, size_t count);
/* That of a module which can't be read, with the sentence. */
json_t *inspect_failed(const char *sentence);
/* The same by the tar.gz that the descriptor reads. ERR_INVALID if it can't be read. */
int inspect_archive(int fd, json_t **ret_description, struct err *err);

#endif
