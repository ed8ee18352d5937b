/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/events/event_ring.h"

#include <string.h>

struct kept {
	int partition;
	int64_t offset;
	struct event *event; /* NULL: the message has none */
};

struct event_ring {
	struct kept *items;
	size_t max, first, count;
	size_t bytes, max_bytes;
	struct cursor start, end; /* before the oldest message and after the newest one */
};

struct event_ring *event_ring_new(size_t max_events, size_t max_bytes)
{
	struct event_ring *ring = mem_new(1, sizeof(*ring));

	ring->items = mem_new(max_events, sizeof(*ring->items));
	ring->max = max_events;
	ring->max_bytes = max_bytes;
	return ring;
}

static size_t kept_bytes(const struct kept *kept)
{
	return sizeof(*kept) + (kept->event ? event_bytes(kept->event) : 0);
}

static void oldest_drop(struct event_ring *ring)
{
	struct kept *oldest = &ring->items[ring->first];

	ring->start.next[oldest->partition] = oldest->offset + 1;
	ring->bytes -= kept_bytes(oldest);
	event_free(oldest->event);
	ring->first = (ring->first + 1) % ring->max;
	ring->count--;
}

void event_ring_free(struct event_ring *ring)
{
	if (!ring)
		return;
	while (ring->count)
		oldest_drop(ring);
	free(ring->items);
	free(ring);
}

void event_ring_begin(struct event_ring *ring, const struct cursor *start)
{
	while (ring->count)
		oldest_drop(ring);
	ring->start = ring->end = *start;
}

const struct event *event_ring_add(struct event_ring *ring, int partition, int64_t offset, struct event *event)
{
	struct kept kept = {partition, offset, event};

	if (ring->count == ring->max)
		oldest_drop(ring);
	ring->items[(ring->first + ring->count++) % ring->max] = kept;
	ring->bytes += kept_bytes(&kept);
	ring->end.next[partition] = offset + 1;
	while (ring->count > 1 && ring->bytes > ring->max_bytes)
		oldest_drop(ring);
	return event;
}

const struct cursor *event_ring_end(const struct event_ring *ring)
{
	return &ring->end;
}

/* Whether the ring has all messages after the position. A position after the ring's end is of a scheduler that has read
 * more. */
static bool has_all(const struct event_ring *ring, const struct cursor *since)
{
	if (since->count != ring->end.count)
		return false;
	for (int i = 0; i < since->count; i++)
		if (since->next[i] < ring->start.next[i])
			return false;
	return true;
}

bool event_ring_replay(const struct event_ring *ring, const struct cursor *since,
	void (*each)(void *data, const struct event *event, const struct cursor *after), void *data)
{
	struct cursor after = *since;

	if (!has_all(ring, since))
		return false;
	for (size_t i = 0; i < ring->count; i++) {
		const struct kept *kept = &ring->items[(ring->first + i) % ring->max];

		if (kept->offset < since->next[kept->partition])
			continue;
		after.next[kept->partition] = kept->offset + 1;
		if (kept->event)
			each(data, kept->event, &after);
	}
	return true;
}
