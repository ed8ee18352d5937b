/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_EVENTS_EVENT_RING_H
#define SCHEDULER_EVENTS_EVENT_RING_H

/* The most recent messages of runyard.events in the order in which this scheduler read them, bounded by their number
 * and by their bytes. From them a stream that was interrupted is resumed. Pure. */

#include "scheduler/events/cursor.h"
#include "scheduler/events/event.h"

struct event_ring;

struct event_ring *event_ring_new(size_t max_events, size_t max_bytes);
/* NULL-safe. */
void event_ring_free(struct event_ring *ring);
/* Begins at this position, without messages. */
void event_ring_begin(struct event_ring *ring, const struct cursor *start);
/* Adds the message at that offset, and takes the event, which is NULL if the message has none. Drops the oldest ones.
 * Returns the event as the ring keeps it, which is valid until the next call. */
const struct event *event_ring_add(struct event_ring *ring, int partition, int64_t offset, struct event *event);
/* The position after the last message. */
const struct cursor *event_ring_end(const struct event_ring *ring);
/* Calls `each` for every event after the position, with the position after it. Returns false, without a call, if the
 * ring no longer has all of them, or if the position is not of this topic. */
bool event_ring_replay(const struct event_ring *ring, const struct cursor *since,
	void (*each)(void *data, const struct event *event, const struct cursor *after), void *data);

#endif
