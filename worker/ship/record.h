/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_RECORD_H
#define WORKER_SHIP_RECORD_H

/*
 * The engine's output during an apply, as it was written, in the job's folder (WORKDIR_OUTPUT). The worker appends what
 * it reads. When the worker is gone, the keeper does (keeper/keeper.h). So the next worker of the folder finds there
 * what the scheduler's log lacks.
 *
 * Worker and keeper share one open file, which is locked (flock): while the lock is held, the job is not over.
 */

#include <stdbool.h>

struct err;

/* Makes the file anew in the job's folder `top`, and locks it. The caller closes it. ERR_INTERNAL. */
int record_open(int top, int *ret_fd, struct err *err);
/* True if an earlier worker's keeper still has the file. */
bool record_is_open(int top);

#endif
