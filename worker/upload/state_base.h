/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_STATE_BASE_H
#define WORKER_UPLOAD_STATE_BASE_H

/*
 * Decides how each state of an apply is sent: as a difference to the last whole state that the scheduler has, the base
 * (common/terraform/difference.h), or whole. For an apply of n resources, differences alone would send n * n / 2
 * resources, and whole states n * n. A new base is sent when the differences add up to the size of a state, which keeps
 * both parts small. No I/O.
 */

#include <stdint.h>

#include "common/terraform/difference.h"
#include "proto/limits.h"
#include "worker/upload/leftover.h"

enum {
	STATE_BASE_MIN = 32 * 1024,        /* bytes; smaller states are sent whole */
	STATE_DIFFERENCE_MAX = 512 * 1024, /* bytes of one difference */
	STATE_BASE_MS = 60 * 1000,         /* maximum age of the outputs and resources of an intermediate state */
};

struct state_base {
	struct difference_base *bytes; /* NULL: there is none */
	struct state_facts facts;
	size_t sent;                /* total bytes of differences to it */
	int64_t since_ms;           /* when the scheduler received it, by clock_mono_ms */
	char last[SHA256_HEX_SIZE]; /* digest of the last difference; "": none was sent */
};

#define STATE_BASE_INIT                                                                                                \
	{                                                                                                              \
		.bytes = NULL, .sent = 0                                                                               \
	}

/* Removes the base. */
void state_base_drop(struct state_base *base);
/* Makes the state the base and copies it. If it can't be a base, there is none. */
void state_base_set(struct state_base *base, const struct buf *state, const struct state_facts *facts, int64_t now_ms);
/* Whether a state of `len` bytes can be a base. */
bool state_base_fits(size_t len);

enum state_text {
	STATE_TEXT_WHOLE,
	STATE_TEXT_TORN, /* the engine is writing it, or was killed while writing it */
	STATE_TEXT_OTHER /* not in the engines' form: only a parser can tell */
};

/* Reads serial and lineage of a state in the engines' indented form from its head only. The digest stays empty. */
enum state_text state_head_read(const struct buf *state, struct state_facts *ret_facts);

enum state_form { STATE_UNCHANGED, STATE_AS_DIFFERENCE, STATE_AS_WHOLE };

/* Decides how to send a state. `frame` (empty) gets the difference. If a difference is to be sent, `last` becomes
 * its digest. */
enum state_form state_base_compare(struct state_base *base, const struct buf *state, const struct state_facts *facts,
	int64_t now_ms, struct buf *frame);

#endif
