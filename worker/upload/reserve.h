/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_RESERVE_H
#define WORKER_UPLOAD_RESERVE_H

/*
 * Disk space for the last state of an apply, allocated before the apply starts.
 *
 * An engine that can't write its state because the disk is full writes errored.tfstate into its working directory. That
 * file exists from the start, is empty, and has blocks allocated, so the write succeeds on a full disk. The worker
 * copies it (upload/leftover.h); the file of the copy has blocks allocated too.
 */

#include "worker/exec/workdir.h"

/* Makes the empty errored.tfstate in `folder`, the working directory below the job's root. A plan has it too: functions
 * that list files must give the plan and the apply the same list. ERR_INTERNAL. */
int reserve_name(const struct workdir *dir, const char *folder, struct err *err);
enum { RESERVE_LEAST = 4 << 20 };

/* Allocates blocks for both files. Each gets RESERVE_LEAST plus twice the size of the state that the apply starts from,
 * but at most an eighth of `disk`, the job's limit in bytes (0: none). A filesystem that can't allocate gives none.
 * ERR_UNAVAILABLE: there is not that much space. ERR_INTERNAL. */
int reserve_allocate(const struct workdir *dir, const char *folder, int64_t disk, struct err *err);

#endif
