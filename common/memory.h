/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

/*
 * Returns freed memory of a process with many threads to the system. glibc keeps freed blocks in the arena of their
 * thread. Once it has freed one block of up to 32 MiB, it allocates all later blocks of that size from arenas, too.
 * After a few requests with large bodies, each thread would keep as much as its largest body took.
 */

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Blocks of 1 MiB and more are returned to the system when they are freed. Must be called before the first thread is
 * started. */
void memory_set_up(void);
/* Records that one request used that many bytes. From any thread. */
void memory_used(size_t bytes);
/* If a large request has ended since the last call, returns the free memory of all arenas to the system (a document
 * has many small blocks). Holds the arenas' locks for some milliseconds, so it is for a background thread. */
void memory_give_back(void);

/*
 * The bound of what large requests hold: JSON documents as values (common/json/json.h), and contents while they are
 * read. The HTTP server bounds the memory for the bodies of requests and of answers.
 */

/* Bounds the memory of this process. Without a call, it is unlimited. Must be called before the first thread is
 * started. */
void memory_bound(size_t bytes);
/* Takes memory for as long as a request needs it. ERR_TOO_LARGE: it is more than the bound. ERR_UNAVAILABLE: other
 * requests use it. */
int memory_take(size_t bytes, struct err *err);
void memory_return(size_t bytes);
/* Whether memory_bound was called. */
bool memory_is_bounded(void);

#endif
