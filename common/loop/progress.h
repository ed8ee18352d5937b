/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_PROGRESS_H
#define COMMON_LOOP_PROGRESS_H

/*
 * Whether the threads of this process make progress, for /healthz. A thread says when it begins to work, and when it
 * waits for the next piece of work. One that works for too long hangs: on a lock, or in an endless loop. Waits for
 * servers do not count, so a server that is away does not make this process unhealthy.
 *
 * Threads that are made for slow work do not take part. The calls cost a few nanoseconds and never block.
 */

#include "common/buf.h"

enum { PROGRESS_LIMIT_MS = 30 * 1000 };

/* The calling thread begins a piece of work. `thread` names it, and is a constant. */
void progress_busy(const char *thread);
/* It has ended the piece. */
void progress_idle(void);
/* Around a wait for a server within the work; they do nothing in a thread that is not busy. */
void progress_wait(void);
void progress_go_on(void);
/* Returns false, and appends the names, if threads have been busy for longer than that. */
bool progress_check(int64_t limit_ms, struct buf *why);

#endif
