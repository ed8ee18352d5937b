/* SPDX-License-Identifier: MPL-2.0 */
#include "common/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { BLOCK = 1 << 20, LARGE = 2 << 20 };

static atomic_bool large_ended;

void memory_set_up(void)
{
	mallopt(M_MMAP_THRESHOLD, BLOCK);
	mallopt(M_TRIM_THRESHOLD, BLOCK);
}

void memory_used(size_t bytes)
{
	if (bytes >= LARGE)
		atomic_store(&large_ended, true);
}

void memory_give_back(void)
{
	if (atomic_exchange(&large_ended, false))
		malloc_trim(0);
}
