/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

/*
 * Returns freed memory of a process with many threads to the system. glibc keeps freed blocks in the arena of their
 * thread. Once it has freed one block of up to 32 MiB, it allocates all later blocks of that size from arenas, too.
 * After a few requests with large bodies, each thread would keep as much as its largest body took.
 */

#include <stddef.h>

/* Blocks of 1 MiB and more are returned to the system when they are freed. Must be called before the first thread is
 * started. */
void memory_set_up(void);
/* Records that one request used that many bytes. From any thread. */
void memory_used(size_t bytes);
/* If a large request has ended since the last call, returns the free memory of all arenas to the system (a document
 * has many small blocks). Holds the arenas' locks for some milliseconds, so it is for a background thread. */
void memory_give_back(void);

#endif
