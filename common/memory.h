/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

/*
 * Gives the memory of a process with many threads back to the system. glibc keeps freed blocks in the arena of their
 * thread. After it has freed one block of up to 32 MiB, it takes all later ones of that size from arenas, too. After a
 * few requests with large bodies, each thread would keep the size of the largest one.
 */

#include <stddef.h>

/* Blocks from 1 MiB on are the system's again when they are freed. Before the first thread is started. */
void memory_set_up(void);
/* So many bytes were used for one request. From any thread. */
void memory_used(size_t bytes);
/* If a large request ended since the last call, the free memory of all arenas is given back (a document has many small
 * blocks). It holds the arenas' locks for some milliseconds: for a thread for which nobody waits. */
void memory_give_back(void);

#endif
