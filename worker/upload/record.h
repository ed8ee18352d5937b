/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_RECORD_H
#define WORKER_UPLOAD_RECORD_H

/*
 * The engine's output during an apply, unmodified, in the job's folder (WORKDIR_OUTPUT). The worker appends the output
 * that it reads. After the worker's death, the keeper appends it (keeper/keeper.h). So the next worker that uses the
 * folder finds the output that the scheduler's log lacks.
 *
 * Worker and keeper share one open file, which is locked (flock). While the lock is held, the job is not over.
 */

#include <stdbool.h>

struct err;

/* Creates or replaces the file in the job's folder `top`, and locks it. The caller closes it. ERR_INTERNAL. */
int record_open(int top, int *ret_fd, struct err *err);
/* True if an earlier worker's keeper still has the file open. */
bool record_is_open(int top);

#endif
