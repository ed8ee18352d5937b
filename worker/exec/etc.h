/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_ETC_H
#define WORKER_EXEC_ETC_H

/*
 * The /etc that jobs see: a folder with copies of the few files that name resolution, certificates and clocks need.
 * One mount of a folder costs a sandbox much less time than twenty mounts of files. etc_refresh updates the copies.
 */

#include <stddef.h>

struct err;
struct etc;

/* Makes <data-dir>/etc. ERR_INTERNAL. */
int etc_open(const char *data_dir, struct etc **ret_etc, struct err *err);
void etc_free(struct etc *etc);
/* From now on, resolv.conf is copied in the form for isolated networks (worker/network/plan.h). */
void etc_isolate(struct etc *etc);
/* Copies the files that have changed since the last call. */
void etc_refresh(struct etc *etc);
/* The folder's path. Borrowed. */
const char *etc_path(const struct etc *etc);
/* Folders of the machine's /etc to mount unchanged, each at its own path; the folder has an empty mount point for
 * each. NULL-terminated. */
const char *const *etc_folders(void);

#endif
