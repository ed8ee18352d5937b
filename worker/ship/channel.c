/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/ship/channel.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fetch.h"
#include "common/json.h"
#include "common/loop.h"
#include "worker/metrics.h"
#include "worker/ship/backoff.h"

enum { TRANSFER_MS = 15 * 60 * 1000 };

struct transfer {
	struct channel *channel;
	struct transfer_spec spec; /* its texts and body are owned */
	struct fetch *fetch;
	struct backoff backoff;
	struct loop_timer timer;
	transfer_fn fn;
	void *data;
	struct transfer *next;
};

static void transfer_begin(void *data);

void channel_open(struct channel *channel, struct loop *loop, struct fetcher *fetcher, const char *scheduler_url,
	const char *job, const char *token)
{
	*channel = (struct channel){.loop = loop, .fetcher = fetcher};
	channel->base = mem_printf("%s/api/worker/v1/jobs/%s", scheduler_url, job);
	channel->token = mem_text(token);
}

static void transfer_stop(struct transfer *transfer)
{
	loop_timer_clear(transfer->channel->loop, &transfer->timer);
	fetch_abort(transfer->fetch);
	transfer->fetch = NULL;
}

/* Takes it out of its channel's list. */
static void transfer_unlink(struct transfer *transfer)
{
	struct transfer **at = &transfer->channel->transfers;

	while (*at && *at != transfer)
		at = &(*at)->next;
	if (*at)
		*at = transfer->next;
}

static void transfer_free(struct transfer *transfer)
{
	free((char *)transfer->spec.path);
	free((void *)transfer->spec.body);
	if (transfer->spec.body_fd > 0)
		close(transfer->spec.body_fd);
	free(transfer);
}

void channel_close(struct channel *channel)
{
	struct transfer *transfer;

	while ((transfer = channel->transfers)) {
		channel->transfers = transfer->next;
		transfer_stop(transfer);
		transfer_free(transfer);
	}
	free(channel->base);
	free(channel->token);
	*channel = (struct channel){.base = NULL};
}

size_t channel_busy(const struct channel *channel)
{
	size_t busy = 0;

	for (const struct transfer *transfer = channel->transfers; transfer; transfer = transfer->next)
		busy++;
	return busy;
}

/* ---- the answer ---- */

void answer_sentence(int status, const struct buf *body, char *ret_text, size_t size)
{
	struct err err = ERR_INIT;
	json_auto_t *value = NULL;
	const json_t *first;
	const char *detail;

	json_parse(buf_str(body), body->len, &value, &err);
	first = json_array_get(json_at(value, "errors"), 0);
	detail = json_string_at(first, "detail");
	if (!detail)
		detail = json_string_at(first, "title");
	if (status == 0)
		text_copy(ret_text, size, "no answer");
	else if (detail)
		snprintf(ret_text, size, "status %d, %s", status, detail);
	else
		snprintf(ret_text, size, "status %d", status);
}

static void count_bytes(const struct transfer *transfer)
{
	struct stat info = {.st_size = 0};

	if (transfer->spec.body_fd > 0)
		fstat(transfer->spec.body_fd, &info);
	metric_addf(M_UPLOAD_BYTES, (double)info.st_size + (double)transfer->spec.body_len, "what=\"%s\"",
		transfer->spec.what);
}

/* It is in no list any more. */
static void transfer_end(struct transfer *transfer, int status, const struct buf *body)
{
	struct channel *channel = transfer->channel;
	bool refused = status == 401 || ((status == 404 || status == 409) && !transfer->spec.expects_refusal);

	metric_addf(M_TRANSFERS, 1, "what=\"%s\",status=\"%d\"", transfer->spec.what, status);
	if (status >= 200 && status < 300 && !text_equal(transfer->spec.method, "GET"))
		count_bytes(transfer);
	transfer_stop(transfer);
	if (refused && !channel->over) {
		channel->over = true;
		if (channel->on_over)
			channel->on_over(channel->data);
	}
	transfer->fn(transfer->data, status, body);
	transfer_free(transfer);
}

static void answer_came(void *data, struct fetch_answer *answer)
{
	struct transfer *transfer = data;
	bool again = (answer->status == 0 && !answer->too_large) || answer->status == 429 || answer->status >= 500;

	transfer->fetch = NULL;
	if (!again) {
		transfer_unlink(transfer);
		transfer_end(transfer, answer->status, &answer->body);
		return;
	}
	metric_addf(M_TRANSFER_RETRIES, 1, "what=\"%s\"", transfer->spec.what);
	loop_timer_set(transfer->channel->loop, &transfer->timer, backoff_next(&transfer->backoff, answer->retry_after),
		transfer_begin, transfer);
}

void channel_give_up(struct channel *channel)
{
	const struct buf nothing = BUF_INIT(0);
	struct transfer *transfer = channel->transfers, *next;

	/* Their callbacks may start others, which are not touched here. */
	channel->transfers = NULL;
	for (; transfer; transfer = next) {
		next = transfer->next;
		transfer_end(transfer, 0, &nothing);
	}
}

/* ---- the request ---- */

static void transfer_begin(void *data)
{
	struct transfer *transfer = data;
	const struct transfer_spec *spec = &transfer->spec;
	_cleanup_(freep) char *url = mem_printf("%s/%s", transfer->channel->base, spec->path);
	const struct fetch_request request = {
		.method = spec->method,
		.url = url,
		.bearer = transfer->channel->token,
		.content_type = spec->content_type,
		.body = spec->body,
		.body_len = spec->body_len,
		.body_fd = spec->body_fd,
		.answer_fd = spec->answer_fd,
		.answer_limit = spec->answer_limit,
		.timeout_ms = TRANSFER_MS,
	};

	if (spec->answer_fd > 0 && (ftruncate(spec->answer_fd, 0) < 0 || lseek(spec->answer_fd, 0, SEEK_SET) < 0)) {
		transfer_unlink(transfer);
		transfer_end(transfer, 0, &(struct buf)BUF_INIT(1));
		return;
	}
	transfer->fetch = fetch_start(transfer->channel->fetcher, &request, answer_came, transfer);
}

static void *bytes_copy(const void *bytes, size_t len)
{
	struct buf copy = BUF_INIT(len + 1);

	buf_append(&copy, bytes, len);
	return buf_take(&copy);
}

void channel_send(struct channel *channel, const struct transfer_spec *spec, transfer_fn fn, void *data)
{
	struct transfer *transfer = mem_new(1, sizeof(*transfer));

	transfer->channel = channel;
	transfer->spec = *spec;
	transfer->spec.path = mem_text(spec->path);
	transfer->spec.body = spec->body ? bytes_copy(spec->body, spec->body_len) : NULL;
	transfer->fn = fn;
	transfer->data = data;
	transfer->next = channel->transfers;
	channel->transfers = transfer;
	transfer_begin(transfer);
}
