/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_CHANNEL_H
#define WORKER_SHIP_CHANNEL_H

/*
 * A job's way to the scheduler: requests below /api/worker/v1/jobs/<job> with the job's token. What gets no answer, or
 * 429 or 5xx, is sent again with backoff for as long as the channel is open. 401, 404 and 409 mean that the attempt is
 * over (proto/README), unless the request says that it expects such an answer. A transfer whose file can't be read or
 * written ends at once.
 *
 * An answer that does not come from the scheduler (common/origin.h) is no answer. A channel that is `bounded` ends a
 * transfer with status 0 after CHANNEL_FOREIGN_MAX of them. A try counts if the scheduler has answered another request
 * of this worker since the last one, so that an outage of the scheduler ends no transfer.
 *
 * Small uploads that are sent in one turn of the loop go in one request (proto/parcel.h), each with its own answer.
 */

#include "common/buf.h"
#include "common/loop.h"

struct fetcher;
struct shipment;
struct transfer;

enum { CHANNEL_FOREIGN_MAX = 12 };

struct channel {
	struct loop *loop;
	struct fetcher *fetcher;
	char *base;                  /* URL without the last slash; owned */
	char *token;                 /* owned */
	struct transfer *transfers;  /* that have not ended, the oldest first */
	struct shipment *shipments;  /* requests under way */
	struct loop_timer departure; /* of what waits */
	bool bounded;                /* in the number of foreign answers to a transfer */
	bool over;                   /* the attempt is over for the scheduler */
	void (*on_over)(void *data); /* once, when that turned out; before the transfer's own callback */
	void *data;
};

enum parcelled {
	ALONE,          /* it is a request */
	IN_PARCEL,      /* if it is small, it goes at the end of the loop's turn, with what else goes then */
	IN_PARCEL_LATER /* the same, or with what goes within a moment */
};

struct transfer_spec {
	const char *method;
	const char *path; /* "plan"; with a query if need be */
	const char *what; /* for metrics: "plan", "log", ...; a constant */
	const char *content_type;
	const void *body; /* copied */
	size_t body_len;
	int body_fd;   /* > 0: the body; the transfer takes and closes it */
	int answer_fd; /* > 0: gets the body of a 200; borrowed until the callback */
	size_t answer_limit;
	bool expects_refusal; /* 404 and 409 are answers like others */
	enum parcelled parcelled;
};

/* status: the answer's; 0 if it can't be had at all (too large, CHANNEL_FOREIGN_MAX answers of a proxy, a file of this
 * worker's). `body` is the answer's, with an error's sentence if it is one; with status 0 the reason as text, or empty.
 * Borrowed. */
typedef void (*transfer_fn)(void *data, int status, const struct buf *body);

void channel_open(struct channel *channel, struct loop *loop, struct fetcher *fetcher, const char *scheduler_url,
	const char *job, const char *token);
/* Ends all transfers without their callbacks. */
void channel_close(struct channel *channel);
/* Ends all transfers now, with status 0. */
void channel_give_up(struct channel *channel);
/* The same for those that write into a file. */
void channel_give_up_downloads(struct channel *channel);
void channel_send(struct channel *channel, const struct transfer_spec *spec, transfer_fn fn, void *data);
/* Transfers that have not ended. */
size_t channel_busy(const struct channel *channel);

/* The sentence of a JSON:API error, or "status 413" if there is none. */
void answer_sentence(int status, const struct buf *body, char *ret_text, size_t size);
/* Whether a final answer to a job's request means that the attempt is over: 401, 404 or 409 (proto/README). */
bool answer_ends_attempt(int status);

#endif
