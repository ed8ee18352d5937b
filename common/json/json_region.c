/* SPDX-License-Identifier: MPL-2.0 */
#include "common/json/json_region.h"

#include <stdatomic.h>

#include "common/json/json.h"

enum { BLOCK_SIZE = 512 << 10, LARGEST = 1 << 10 };

/* Who fills a block counts by itself, without the price of an atomic operation for each value; the two are one number
 * once it is full. */
struct block {
	size_t made;        /* values, less those that who fills it has let go of */
	atomic_size_t live; /* less those that others have let go of; when it is full, the values in it */
	size_t used;
	char bytes[BLOCK_SIZE];
};

/* What stands before each value: the block that it is in, or NULL. */
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
