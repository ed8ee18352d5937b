/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_EVENTS_CHANNELS_H
#define SCHEDULER_EVENTS_CHANNELS_H

/* Subscribers by the id of the object that they watch. The cost to find those of one object does not depend on the
 * number of all. Pure. */

#include "common/ids.h"

struct channels;
struct event_stream;

#define CHANNEL_OF_SITE "*" /* the key of what concerns the whole site */

/* Embedded in an array of its stream. */
struct subscription {
	struct event_stream *stream;
	char key[ID_SIZE]; /* "": not subscribed */
	struct subscription *next, *previous;
};

struct channels *channels_new(void);
/* All subscriptions must have been removed. NULL-safe. */
void channels_free(struct channels *channels);
void channels_add(struct channels *channels, struct subscription *subscription, const char *key);
/* Nothing happens if it is not subscribed. */
void channels_remove(struct channels *channels, struct subscription *subscription);
/* The first subscriber of the key, or NULL. */
struct subscription *channels_first(const struct channels *channels, const char *key);

#endif
