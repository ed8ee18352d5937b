/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/json/json.h"
#include "common/log.h"
#include "common/loop/retry.h"
#include "proto/upload_batch.h"
#include "worker/metrics.h"

enum {
	TRANSFER_MS = 15 * 60 * 1000,
	LATER_MS = 80, /* the same as the pause of a log */
};

struct transfer {
	struct channel *channel;
	struct transfer_spec spec;         /* owns its texts and body */
	struct sent_batch *sent_batch;     /* the request that it is under way with, or NULL */
	struct upload_batch_answer answer; /* the answer to its part, until the callback gets it */
	int foreign_tries;                 /* counted answers of a proxy */
	unsigned long long accepted;       /* the scheduler's answers to this worker at the last counted try */
	bool given_up;                     /* ended because of too many answers of a proxy */
	struct backoff backoff;
	struct loop_timer timer; /* until the next try or the callback */
	transfer_fn fn;
	void *data;
	struct transfer *next;
};

/* One HTTP request, with one or several transfers. */
struct sent_batch {
	struct channel *channel;
	struct fetch *fetch;
	size_t count; /* of its transfers; more than one is sent as a batch (proto/upload_batch.h) */
	struct sent_batch *next;
};

static void transfer_due(void *data);

void channel_open(struct channel *channel, const struct channel_spec *spec)
{
	*channel = (struct channel){.loop = spec->loop, .fetcher = spec->fetcher};
	channel->base = mem_printf(
		"%s/api/worker/v1/%s/%s", spec->scheduler_url, spec->below ? spec->below : "jobs", spec->job);
	channel->token = mem_text(spec->token);
}

/* Removes the transfer from its channel's list. */
static void transfer_unlink(struct transfer *transfer)
{
	struct transfer **at = &transfer->channel->transfers;

	while (*at && *at != transfer)
		at = &(*at)->next;
	if (*at)
		*at = transfer->next;
}

/* Removes the request from its channel's list and detaches its transfers. */
static void sent_batch_free(struct sent_batch *sent_batch)
{
	struct sent_batch **at = &sent_batch->channel->sent_batches;

	while (*at != sent_batch)
		at = &(*at)->next;
	*at = sent_batch->next;
	for (struct transfer *transfer = sent_batch->channel->transfers; transfer; transfer = transfer->next)
		if (transfer->sent_batch == sent_batch)
			transfer->sent_batch = NULL;
	free(sent_batch);
}

/* Cancels all requests and timers. */
static void channel_halt(struct channel *channel)
{
	while (channel->sent_batches) {
		fetch_abort(channel->sent_batches->fetch);
		sent_batch_free(channel->sent_batches);
	}
	loop_timer_clear(channel->loop, &channel->batch_timer);
}

static void transfer_free(struct transfer *transfer)
{
	free((char *)transfer->spec.path);
	free((void *)transfer->spec.body);
	buf_release(&transfer->answer.body);
	if (transfer->spec.body_fd > 0)
		close(transfer->spec.body_fd);
	free(transfer);
}

void channel_close(struct channel *channel)
{
	struct transfer *transfer;

	if (channel->loop)
		channel_halt(channel);
	while ((transfer = channel->transfers)) {
		channel->transfers = transfer->next;
		loop_timer_clear(channel->loop, &transfer->timer);
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
		text_copy(ret_text, size, body->len ? buf_str(body) : "no answer");
	else if (detail)
		snprintf(ret_text, size, "status %d, %s", status, detail);
	else
		snprintf(ret_text, size, "status %d", status);
}

bool answer_ends_attempt(int status)
{
	return status == 401 || status == 404 || status == 409;
}

static void count_bytes(const struct transfer *transfer)
{
	struct stat info = {.st_size = 0};

	if (transfer->spec.body_fd > 0)
		fstat(transfer->spec.body_fd, &info);
	metric_addf(M_UPLOAD_BYTES, (double)info.st_size + (double)transfer->spec.body_len, "what=\"%s\"",
		transfer->spec.what);
}

/* Ends a transfer that is in no list any more. */
static void transfer_end(struct transfer *transfer, int status, const struct buf *body)
{
	struct channel *channel = transfer->channel;
	bool refused = answer_ends_attempt(status) && (status == 401 || !transfer->spec.expects_refusal);

	metric_addf(M_TRANSFERS, 1, "what=\"%s\",status=\"%d\"", transfer->spec.what, status);
	if (status >= 200 && status < 300 && !text_equal(transfer->spec.method, "GET"))
		count_bytes(transfer);
	loop_timer_clear(channel->loop, &transfer->timer);
	if (refused && !channel->over) {
		channel->over = true;
		if (channel->on_over)
			channel->on_over(channel->data);
	}
	transfer->fn(transfer->data, status, body);
	transfer_free(transfer);
}

static bool is_final(int status)
{
	return status != 0 && status != 429 && status < 500;
}

static void transfer_again(struct transfer *transfer, int64_t wait_ms)
{
	metric_addf(M_TRANSFER_RETRIES, 1, "what=\"%s\"", transfer->spec.what);
	loop_timer_set(transfer->channel->loop, &transfer->timer, wait_ms, transfer_due, transfer);
}

static void part_tell(void *data)
{
	struct transfer *transfer = data;

	if (!is_final(transfer->answer.status) && !transfer->given_up) {
		transfer_again(transfer, backoff_next(&transfer->backoff, 0));
		return;
	}
	transfer_unlink(transfer);
	transfer_end(transfer, transfer->answer.status, &transfer->answer.body);
}

/* Calls back from a timer of its own, because the callback may end other transfers or the channel. */
static void part_answered(struct transfer *transfer, struct upload_batch_answer answer)
{
	buf_release(&transfer->answer.body);
	transfer->answer = answer;
	loop_timer_set(transfer->channel->loop, &transfer->timer, 0, part_tell, transfer);
}

/* Whether the transfer ends because proxies answered it too often. A proxy may refuse a request because of one part,
 * so the parts are sent separately from now on. */
static bool foreign_ends(struct transfer *transfer, const struct fetch_answer *answer)
{
	struct upload_batch_answer reason = {0, BUF_INIT(512)};

	if (!answer->foreign)
		return false;
	if (transfer->foreign_tries == 0)
		log_warn("a proxy answered in the scheduler's place; the request is sent again", "url",
			transfer->channel->base, "request", transfer->spec.what, "why", answer->error, NULL);
	if (transfer->foreign_tries == 0 || transfer->accepted != answer->accepted)
		transfer->foreign_tries++;
	transfer->accepted = answer->accepted;
	transfer->spec.batched = ALONE;
	if (!transfer->channel->bounded || transfer->foreign_tries < CHANNEL_FOREIGN_MAX)
		return false;
	transfer->given_up = true;
	buf_text(&reason.body, answer->error);
	part_answered(transfer, reason);
	return true;
}

/* Retries all transfers of the request, at the same time. */
static void sent_batch_return(struct sent_batch *sent_batch, const struct fetch_answer *answer)
{
	struct transfer *first = NULL;
	int64_t wait_ms = 0;

	for (struct transfer *transfer = sent_batch->channel->transfers; transfer; transfer = transfer->next) {
		if (transfer->sent_batch != sent_batch || foreign_ends(transfer, answer))
			continue;
		if (!first) {
			first = transfer;
			wait_ms = backoff_next(&first->backoff, answer->retry_after);
		}
		transfer->backoff = first->backoff;
		transfer_again(transfer, wait_ms);
	}
}

static void batch_answered(struct sent_batch *sent_batch, const struct fetch_answer *answer)
{
	struct upload_batch_answer parts[UPLOAD_BATCH_PARTS_MAX];
	size_t at = 0;

	if (answer->status == 200 &&
		upload_batch_answers_read(buf_str(&answer->body), answer->body.len, parts, sent_batch->count) < 0) {
		sent_batch_return(sent_batch, answer);
		return;
	}
	for (struct transfer *transfer = sent_batch->channel->transfers; transfer; transfer = transfer->next) {
		struct upload_batch_answer whole = {answer->status, BUF_INIT(SIZE_MAX / 2)};

		if (transfer->sent_batch != sent_batch)
			continue;
		if (answer->status != 200)
			buf_append(&whole.body, answer->body.data, answer->body.len);
		part_answered(transfer, answer->status == 200 ? parts[at++] : whole);
	}
}

static struct transfer *sent_batch_first(const struct sent_batch *sent_batch)
{
	struct transfer *transfer = sent_batch->channel->transfers;

	while (transfer->sent_batch != sent_batch)
		transfer = transfer->next;
	return transfer;
}

/* The file's error replaces the answer's body. */
static void transfer_end_file(struct transfer *transfer, int code)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(256);

	buf_text(&text, strerror(code));
	transfer_end(transfer, 0, &text);
}

static void answer_came(void *data, struct fetch_answer *answer)
{
	struct sent_batch *sent_batch = data;
	struct transfer *alone = NULL;

	if (!is_final(answer->status) && !answer->too_large && !answer->file_error)
		sent_batch_return(sent_batch, answer);
	else if (sent_batch->count > 1)
		batch_answered(sent_batch, answer);
	else
		alone = sent_batch_first(sent_batch);
	sent_batch_free(sent_batch);
	if (!alone)
		return;
	transfer_unlink(alone);
	if (answer->file_error)
		transfer_end_file(alone, answer->file_error);
	else
		transfer_end(alone, answer->status, &answer->body);
}

void channel_give_up(struct channel *channel)
{
	const struct buf nothing = BUF_INIT(0);
	struct transfer *transfer = channel->transfers, *next;

	channel_halt(channel);
	/* Their callbacks may start other transfers, which stay. */
	channel->transfers = NULL;
	for (; transfer; transfer = next) {
		next = transfer->next;
		transfer_end(transfer, 0, &nothing);
	}
}

/* Downloads are sent alone, so ending the request ends no other transfer. */
static void download_give_up(struct transfer *transfer)
{
	const struct buf nothing = BUF_INIT(0);

	if (transfer->sent_batch) {
		fetch_abort(transfer->sent_batch->fetch);
		sent_batch_free(transfer->sent_batch);
	}
	transfer_unlink(transfer);
	transfer_end(transfer, 0, &nothing);
}

static struct transfer *download_first(const struct channel *channel)
{
	struct transfer *transfer = channel->transfers;

	while (transfer && transfer->spec.answer_fd <= 0)
		transfer = transfer->next;
	return transfer;
}

void channel_give_up_downloads(struct channel *channel)
{
	struct transfer *transfer;

	while ((transfer = download_first(channel)))
		download_give_up(transfer);
}

/* ---- the request ---- */

static struct sent_batch *sent_batch_new(struct channel *channel)
{
	struct sent_batch *sent_batch = mem_new(1, sizeof(*sent_batch));

	sent_batch->channel = channel;
	sent_batch->next = channel->sent_batches;
	channel->sent_batches = sent_batch;
	return sent_batch;
}

static void sent_batch_take(struct sent_batch *sent_batch, struct transfer *transfer)
{
	transfer->sent_batch = sent_batch;
	sent_batch->count++;
}

static void sent_batch_start(struct sent_batch *sent_batch, const char *path, struct fetch_request request)
{
	_cleanup_(freep) char *url = mem_printf("%s/%s", sent_batch->channel->base, path);

	request.url = url;
	request.bearer = sent_batch->channel->token;
	request.timeout_ms = TRANSFER_MS;
	sent_batch->fetch = fetch_start(sent_batch->channel->fetcher, &request, answer_came, sent_batch);
}

static void send_alone(struct sent_batch *sent_batch, struct transfer *transfer)
{
	const struct transfer_spec *spec = &transfer->spec;

	if (spec->answer_fd > 0 && (ftruncate(spec->answer_fd, 0) < 0 || lseek(spec->answer_fd, 0, SEEK_SET) < 0)) {
		int code = errno;

		sent_batch_free(sent_batch);
		transfer_unlink(transfer);
		transfer_end_file(transfer, code);
		return;
	}
	sent_batch_start(sent_batch, spec->path,
		(struct fetch_request){
			.method = spec->method,
			.content_type = spec->content_type,
			.body = spec->body,
			.body_len = spec->body_len,
			.body_fd = spec->body_fd,
			.answer_fd = spec->answer_fd,
			.answer_limit = spec->answer_limit,
		});
}

static void batch_send(struct sent_batch *sent_batch)
{
	_cleanup_(buf_release) struct buf body = BUF_INIT(UPLOAD_BATCH_HEAD_MAX + UPLOAD_BATCH_BYTES_MAX);
	struct upload_batch_part parts[UPLOAD_BATCH_PARTS_MAX];
	size_t count = 0;

	for (struct transfer *transfer = sent_batch->channel->transfers; transfer; transfer = transfer->next)
		if (transfer->sent_batch == sent_batch)
			parts[count++] = (struct upload_batch_part){
				transfer->spec.path, transfer->spec.body, transfer->spec.body_len};
	upload_batch_write(parts, count, &body);
	sent_batch_start(sent_batch, "batch",
		(struct fetch_request){.method = "POST",
			.content_type = "application/octet-stream",
			.body = body.data,
			.body_len = body.len});
}

static void sent_batch_send(struct sent_batch *sent_batch)
{
	if (sent_batch->count > 1)
		batch_send(sent_batch);
	else
		send_alone(sent_batch, sent_batch_first(sent_batch));
}

/* ---- batching ---- */

static bool transfer_waits(const struct transfer *transfer)
{
	return transfer->spec.batched != ALONE && !transfer->sent_batch && transfer->timer.due_ms == 0;
}

static void depart(void *data)
{
	struct channel *channel = data;
	struct sent_batch *sent_batch = NULL;
	size_t bytes = 0;

	for (struct transfer *transfer = channel->transfers; transfer; transfer = transfer->next) {
		if (!transfer_waits(transfer))
			continue;
		bytes += transfer->spec.body_len;
		if (sent_batch && (sent_batch->count == UPLOAD_BATCH_PARTS_MAX || bytes > UPLOAD_BATCH_BYTES_MAX)) {
			sent_batch_send(sent_batch);
			sent_batch = NULL;
		}
		if (!sent_batch) {
			sent_batch = sent_batch_new(channel);
			bytes = transfer->spec.body_len;
		}
		sent_batch_take(sent_batch, transfer);
	}
	if (sent_batch)
		sent_batch_send(sent_batch);
}

static void depart_within(struct channel *channel, int64_t ms)
{
	int64_t due_ms = channel->batch_timer.due_ms;

	if (due_ms == 0 || due_ms > clock_mono_ms() + ms)
		loop_timer_set(channel->loop, &channel->batch_timer, ms, depart, channel);
}

static void transfer_due(void *data)
{
	struct transfer *transfer = data;
	struct sent_batch *sent_batch;

	if (transfer->spec.batched != ALONE) {
		depart_within(transfer->channel, 0);
		return;
	}
	sent_batch = sent_batch_new(transfer->channel);
	sent_batch_take(sent_batch, transfer);
	sent_batch_send(sent_batch);
}

static void *bytes_copy(const void *bytes, size_t len)
{
	struct buf copy = BUF_INIT(len + 1);

	buf_append(&copy, bytes, len);
	return buf_take(&copy);
}

/* Reads a small file. NULL if it is large or can't be read. */
static char *small_file(int fd, size_t *ret_len)
{
	struct stat info;
	char *bytes;

	if (fstat(fd, &info) < 0 || info.st_size > UPLOAD_BATCH_BYTES_MAX)
		return NULL;
	*ret_len = (size_t)info.st_size;
	bytes = mem_new(*ret_len + 1, 1);
	if (pread(fd, bytes, *ret_len, 0) == (ssize_t)*ret_len)
		return bytes;
	free(bytes);
	return NULL;
}

/* Sends large bodies alone. */
static void spec_settle(struct transfer_spec *spec)
{
	char *bytes = spec->body_fd > 0 ? small_file(spec->body_fd, &spec->body_len) : NULL;

	if (bytes) {
		close(spec->body_fd);
		spec->body_fd = -1;
		spec->body = bytes;
	}
	if (spec->body_fd > 0 || spec->body_len > UPLOAD_BATCH_BYTES_MAX)
		spec->batched = ALONE;
}

void channel_send(struct channel *channel, const struct transfer_spec *spec, transfer_fn fn, void *data)
{
	struct transfer *transfer = mem_new(1, sizeof(*transfer)), **last = &channel->transfers;

	transfer->channel = channel;
	transfer->spec = *spec;
	transfer->spec.path = mem_text(spec->path);
	transfer->spec.body = spec->body ? bytes_copy(spec->body, spec->body_len) : NULL;
	transfer->fn = fn;
	transfer->data = data;
	while (*last)
		last = &(*last)->next;
	*last = transfer;
	if (spec->batched != ALONE)
		spec_settle(&transfer->spec);
	if (transfer->spec.batched == IN_PARCEL_LATER)
		depart_within(channel, LATER_MS);
	else
		transfer_due(transfer);
}
