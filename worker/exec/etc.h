/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_ETC_H
#define WORKER_EXEC_ETC_H

/*
 * The /etc that jobs see: copies of the few files that name resolution, certificates and clocks need, in one folder,
 * since one mount costs a sandbox much less time than twenty. The copies follow their originals.
 */

#include <stddef.h>

struct err;
struct etc;

/* Makes <data-dir>/etc. ERR_INTERNAL. */
int etc_open(const char *data_dir, struct etc **ret_etc, struct err *err);
void etc_free(struct etc *etc);
/* From now on, resolv.conf is copied as an isolated network needs it (worker/network/plan.h). */
void etc_isolate(struct etc *etc);
/* Copies what has changed since the last time. */
void etc_refresh(struct etc *etc);
/* The folder's path. Borrowed. */
const char *etc_path(const struct etc *etc);
/* Folders of the machine's /etc that are to be shown as they are, each at its own place; there is an empty folder for
 * each. NULL-terminated. */
const char *const *etc_folders(void);

#endif
