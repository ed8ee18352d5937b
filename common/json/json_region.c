/* SPDX-License-Identifier: MPL-2.0 */
#include "common/json/json_region.h"

#include <stdatomic.h>

#include "common/json/json.h"

enum { BLOCK_SIZE = 512 << 10, LARGEST = 1 << 10 };

/* The thread that fills a block counts in `made`, without the cost of an atomic operation for each value. When the
 * block is full, `made` is added to `live`. */
struct block {
	size_t made;        /* values made, less those that the filling thread has freed */
	atomic_size_t live; /* less those that other threads have freed; once the block is full, the values in it */
	size_t used;
	char bytes[BLOCK_SIZE];
};

/* Precedes each value: the block of the value, or NULL. */
struct head {
	struct block *block;
};

static _Thread_local bool entered;
static _Thread_local struct block *filling;

static void block_filled(struct block *block)
{
	if (block && atomic_fetch_add(&block->live, block->made) + block->made == 0)
		free(block);
}

static struct block *block_with(size_t size)
{
	if (filling && filling->made + atomic_load(&filling->live) == 0)
		filling->used = 0;
	if (filling && filling->used + size <= BLOCK_SIZE)
		return filling;
	block_filled(filling);
	filling = mem_resize(NULL, sizeof(*filling), 1);
	filling->made = filling->used = 0;
	atomic_init(&filling->live, 0);
	return filling;
}

static void *region_get(size_t size)
{
	size_t whole = (size + sizeof(struct head) + 7) & ~(size_t)7;
	struct block *block = NULL;
	struct head *head;

	if (!entered || size > LARGEST) {
		head = mem_resize(NULL, whole, 1);
	} else {
		block = block_with(whole);
		head = (struct head *)(void *)(block->bytes + block->used);
		block->used += whole;
		block->made++;
	}
	head->block = block;
	return head + 1;
}

static void region_put(void *value)
{
	struct head *head = (struct head *)value - 1;

	if (!value)
		return;
	if (!head->block)
		free(head);
	else if (head->block == filling)
		filling->made--;
	else if (atomic_fetch_sub(&head->block->live, 1) == 1)
		free(head->block);
}

void json_regions_use(void)
{
	json_set_alloc_funcs(region_get, region_put);
}

void json_region_enter(void)
{
	entered = true;
}
