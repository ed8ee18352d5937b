/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/due.h"

static void put(struct due_heap *heap, size_t place, struct due *due)
{
	heap->items[place] = due;
	due->place = place;
}

static void rise(struct due_heap *heap, size_t place)
{
	struct due *due = heap->items[place];

	for (; place > 0 && heap->items[(place - 1) / 2]->at_ms > due->at_ms; place = (place - 1) / 2)
		put(heap, place, heap->items[(place - 1) / 2]);
	put(heap, place, due);
}

static void sink(struct due_heap *heap, size_t place)
{
	struct due *due = heap->items[place];
	size_t child;

	for (; (child = 2 * place + 1) < heap->count; place = child) {
		if (child + 1 < heap->count && heap->items[child + 1]->at_ms < heap->items[child]->at_ms)
			child++;
		if (heap->items[child]->at_ms >= due->at_ms)
			break;
		put(heap, place, heap->items[child]);
	}
	put(heap, place, due);
}

void due_set(struct due_heap *heap, struct due *due, int64_t at_ms)
{
	due_clear(heap, due);
	if (heap->count == heap->room) {
		heap->room = heap->room ? heap->room * 2 : 64;
		heap->items = mem_resize(heap->items, heap->room, sizeof(struct due *));
	}
	due->at_ms = at_ms > 0 ? at_ms : 1;
	put(heap, heap->count++, due);
	rise(heap, due->place);
}

void due_clear(struct due_heap *heap, struct due *due)
{
	size_t place = due->place;

	if (!due->at_ms)
		return;
	*due = (struct due){0};
	if (place == --heap->count)
		return;
	put(heap, place, heap->items[heap->count]);
	sink(heap, place);
	rise(heap, place);
}

struct due *due_take(struct due_heap *heap, int64_t now_ms)
{
	struct due *due = heap->count ? heap->items[0] : NULL;

	if (!due || due->at_ms > now_ms)
		return NULL;
	due_clear(heap, due);
	return due;
}

int64_t due_next(const struct due_heap *heap)
{
	return heap->count ? heap->items[0]->at_ms : -1;
}

void due_release(struct due_heap *heap)
{
	free(heap->items);
	*heap = (struct due_heap){0};
}
