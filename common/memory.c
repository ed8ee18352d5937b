/* SPDX-License-Identifier: MPL-2.0 */
#include "common/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"

enum { BLOCK = 1 << 20, LARGE = 2 << 20 };

#define UNBOUNDED (SIZE_MAX / 2)

static atomic_bool large_ended;
static size_t bound = UNBOUNDED;
static atomic_size_t in_use;

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

/* ---- the bound ---- */

void memory_bound(size_t bytes)
{
	bound = bytes;
}

int memory_take(size_t bytes, struct err *err)
{
	size_t used = atomic_load(&in_use);

	if (bytes > bound)
		return err_set(err, ERR_TOO_LARGE, "this takes %zu MiB of memory, and the limit is %zu MiB",
			bytes >> 20, bound >> 20);
	/* Never adds more than fits, not even for a moment: smaller requests would be refused meanwhile. */
	do {
		if (used > bound - bytes)
			return err_set(err, ERR_UNAVAILABLE, "too many large requests are being answered: try again");
	} while (!atomic_compare_exchange_weak(&in_use, &used, used + bytes));
	return 0;
}

void memory_return(size_t bytes)
{
	atomic_fetch_sub(&in_use, bytes);
}

bool memory_is_bounded(void)
{
	return bound != UNBOUNDED;
}
