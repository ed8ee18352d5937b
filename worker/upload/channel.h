/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_CHANNEL_H
#define WORKER_UPLOAD_CHANNEL_H

/*
 * Delivers a job's requests to the scheduler: requests below /api/worker/v1/jobs/<job>, with the job's token.
 *
 *  - A request without an answer, or with a 429 or 5xx, is sent again with backoff while the channel is open.
 *  - 401, 404 and 409 mean that the attempt is over (proto/README), unless the request expects such an answer.
 *  - A transfer whose file can't be read or written ends at once.
 *  - An answer that does not come from the scheduler (common/http/origin.h) is ignored. If the channel is `bounded`,
 *    CHANNEL_FOREIGN_MAX of them end a transfer with status 0. A try counts only if the scheduler has answered another
 *    request of this worker since the last one. So an outage of the scheduler ends no transfer.
 *  - Small uploads that are sent in one turn of the loop share one request (proto/upload_batch.h). Each gets its own
 * answer.
 */

#include "common/buf.h"
#include "common/loop/loop.h"

struct fetcher;
struct sent_batch;
struct transfer;

enum { CHANNEL_FOREIGN_MAX = 12 };

struct channel {
	struct loop *loop;
	struct fetcher *fetcher;
	char *base;                      /* URL without the last slash; owned */
	char *token;                     /* owned */
	struct transfer *transfers;      /* pending transfers, the oldest first */
	struct sent_batch *sent_batches; /* requests under way */
	struct loop_timer batch_timer;   /* when the waiting batch is sent */
	bool bounded;                    /* limits the number of foreign answers to a transfer */
	bool over;                       /* the scheduler has ended the attempt */
	void (*on_over)(void *data);     /* called once when `over` is set, before the transfer's own callback */
	void *data;
};

enum batched {
	ALONE,          /* a request of its own */
	IN_BATCH,       /* a small upload is batched with the others of this turn of the loop */
	IN_PARCEL_LATER /* the same, but it may also wait a moment for other uploads */
};

struct transfer_spec {
	const char *method;
	const char *path; /* "plan"; may have a query */
	const char *what; /* label for metrics: "plan", "log", ...; a constant */
	const char *content_type;
	const void *body; /* copied */
	size_t body_len;
	int body_fd;   /* > 0: file with the body; the transfer takes and closes it */
	int answer_fd; /* > 0: file that receives the body of a 200; borrowed until the callback */
	size_t answer_limit;
	bool expects_refusal; /* 404 and 409 do not end the attempt */
	enum batched batched;
};

/* `status` is the answer's, or 0 if there will be none: the answer is too large, a proxy gave CHANNEL_FOREIGN_MAX
 * answers, or a file of this worker failed. `body` is the answer's body, which holds an error's message. With status
 * 0 it is the reason as text, or empty. Borrowed. */
typedef void (*transfer_fn)(void *data, int status, const struct buf *body);

/* The scheduler and the job of a channel. The texts are copied. */
struct channel_spec {
	struct loop *loop;
	struct fetcher *fetcher;
	const char *scheduler_url, *job, *token;
	const char *below; /* the path that has the job; NULL: "jobs" */
};

void channel_open(struct channel *channel, const struct channel_spec *spec);
/* Ends all transfers without calling their callbacks. */
void channel_close(struct channel *channel);
/* Ends all transfers now, with status 0. */
void channel_give_up(struct channel *channel);
/* Ends the transfers that write into a file, with status 0. */
void channel_give_up_downloads(struct channel *channel);
void channel_send(struct channel *channel, const struct transfer_spec *spec, transfer_fn fn, void *data);
/* Number of pending transfers. */
size_t channel_busy(const struct channel *channel);

/* The message of a JSON:API error, or "status 413" if there is none. */
void answer_sentence(int status, const struct buf *body, char *ret_text, size_t size);
/* Whether a final answer to a job's request means that the attempt is over: 401, 404 or 409 (proto/README). */
bool answer_ends_attempt(int status);

#endif
