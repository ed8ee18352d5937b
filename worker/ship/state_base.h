/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_STATE_BASE_H
#define WORKER_SHIP_STATE_BASE_H

/*
 * The last whole state that the scheduler has of an apply, and when the next one is sent as a difference to it
 * (common/difference.h) and when as a whole. With differences alone an apply of n resources would send n * n / 2 of
 * them; with whole states n of n. A new base once the differences add up to the size of a state keeps both parts
 * small. Decisions without I/O.
 */

#include <stdint.h>

#include "common/difference.h"
#include "proto/limits.h"
#include "worker/ship/leftover.h"

enum {
	STATE_BASE_MIN = 32 * 1024,        /* bytes; smaller states are sent whole */
	STATE_DIFFERENCE_MAX = 512 * 1024, /* bytes of a frame */
	STATE_BASE_MS = 60 * 1000,         /* outputs and resources of an intermediate state are at most so old */
};

struct state_base {
	struct difference_base *bytes; /* NULL: there is none */
	struct state_facts facts;
	size_t sent;                /* bytes of differences to it */
	int64_t since_ms;           /* when the scheduler got it, by clock_mono_ms */
	char last[SHA256_HEX_SIZE]; /* of the last frame; "": none was sent */
};

#define STATE_BASE_INIT                                                                                                \
	{                                                                                                              \
		.bytes = NULL, .sent = 0                                                                               \
	}

/* There is none any more. */
void state_base_drop(struct state_base *base);
/* Copies the state. If it can't be a base, there is none. */
void state_base_set(struct state_base *base, const struct buf *state, const struct state_facts *facts, int64_t now_ms);
/* Whether a state of so many bytes can be a base. */
bool state_base_fits(size_t len);

enum state_text {
	STATE_TEXT_WHOLE,
	STATE_TEXT_TORN, /* the engine is writing it, or was killed while it did */
	STATE_TEXT_OTHER /* it has another form than the engines': only a parser knows */
};

/* Serial and lineage of a state that is indented as the engines write it, from its head alone. The digest stays empty.
 */
enum state_text state_head_read(const struct buf *state, struct state_facts *ret_facts);

enum state_form { STATE_UNCHANGED, STATE_AS_DIFFERENCE, STATE_AS_WHOLE };

/* What to send of a state. `frame` (empty) gets the difference; if it is to be sent, `last` is its digest from now on.
 */
enum state_form state_base_compare(struct state_base *base, const struct buf *state, const struct state_facts *facts,
	int64_t now_ms, struct buf *frame);

#endif
