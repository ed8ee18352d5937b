/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Data that a worker sends to the scheduler: requests with retries, a log in order, states as they are written,
 * results until they are confirmed. A script replaces common/http/fetch.c: each request gets the next of its answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/fetch.h"
#include "common/loop/loop.h"
#include "proto/limits.h"
#include "worker/upload/channel.h"
#include "worker/upload/joblog.h"
#include "worker/upload/result_sink.h"
#include "worker/upload/states.h"
#include "worker/upload/unsent.h"

/* ---- the script ---- */

struct scripted {
	int status;
	const char *body;
};

static struct {
	struct loop *loop;
	const struct scripted *answers; /* the last one is repeated */
	size_t answer_count;
	size_t request_count;
	size_t running, max_running;
	char seen[1 << 20]; /* "PUT log?offset=0 text|..." */
} script;

struct fetch {
	struct loop_timer timer;
	fetch_fn fn;
	void *data;
	struct scripted answer;
};

static void script_begin(const struct scripted *answers, size_t count)
{
	memset(&script, 0, sizeof(script));
	script.loop = loop_new();
	script.answers = answers;
	script.answer_count = count;
}

#define SCRIPT(...)                                                                                                    \
	script_begin((const struct scripted[]){__VA_ARGS__}, ARRAY_LEN(((const struct scripted[]){__VA_ARGS__})))

static void fetch_answer(void *data)
{
	struct fetch *fetch = data;
	struct fetch_answer answer = {.status = fetch->answer.status, .body = BUF_INIT(4096)};

	if (fetch->answer.body)
		buf_text(&answer.body, fetch->answer.body);
	script.running--;
	fetch->fn(fetch->data, &answer);
	buf_release(&answer.body);
	free(fetch);
}

struct fetch *fetch_start(struct fetcher *fetcher, const struct fetch_request *request, fetch_fn fn, void *data)
{
	struct fetch *fetch = mem_new(1, sizeof(*fetch));
	size_t len = strlen(script.seen), at = script.request_count++;

	(void)fetcher;
	fetch->fn = fn;
	fetch->data = data;
	fetch->answer = script.answers[at < script.answer_count ? at : script.answer_count - 1];
	snprintf(script.seen + len, sizeof(script.seen) - len, "%s %s %.*s|", request->method,
		request->url + strlen("http://s/api/worker/v1/jobs/j/"), (int)request->body_len,
		request->body ? (const char *)request->body : "");
	if (++script.running > script.max_running)
		script.max_running = script.running;
	loop_timer_set(script.loop, &fetch->timer, 5, fetch_answer, fetch);
	return fetch;
}

void fetch_abort(struct fetch *fetch)
{
	if (!fetch)
		return;
	script.running--;
	loop_timer_clear(script.loop, &fetch->timer);
	free(fetch);
}

struct fetcher *fetcher_new(struct loop *loop)
{
	(void)loop;
	return NULL;
}

void fetcher_free(struct fetcher *fetcher)
{
	(void)fetcher;
}

static void stop(void *data)
{
	(void)data;
	loop_stop(script.loop);
}

static void run_ms(int64_t ms)
{
	struct loop_timer timer = {.due_ms = 0};

	loop_timer_set(script.loop, &timer, ms, stop, NULL);
	loop_run(script.loop);
	loop_timer_clear(script.loop, &timer);
}

/* ---- requests ---- */

struct received {
	int status;
	int calls;
	bool over_called_first; /* on_over was called before */
	struct channel channel;
};

static void receive_answer(void *data, int status, const struct buf *body)
{
	struct received *received = data;

	(void)body;
	received->status = status;
	received->calls++;
	loop_stop(script.loop);
}

static void receive_over(void *data)
{
	struct received *received = data;

	received->over_called_first = received->calls == 0;
}

static void send_one(struct received *received, bool expects_refusal)
{
	const struct transfer_spec spec = {.method = "PUT",
		.path = "plan",
		.what = "plan",
		.body = "x",
		.body_len = 1,
		.expects_refusal = expects_refusal};

	channel_open(&received->channel,
		&(struct channel_spec){.loop = script.loop, .scheduler_url = "http://s", .job = "j", .token = "t"});
	received->channel.on_over = receive_over;
	received->channel.data = received;
	channel_send(&received->channel, &spec, receive_answer, received);
}

static void transient_failures_are_retried(void **state)
{
	struct received received = {.status = -1};

	(void)state;
	SCRIPT({0, NULL}, {503, NULL}, {429, NULL}, {204, NULL});
	send_one(&received, false);
	loop_run(script.loop);
	assert_int_equal(received.status, 204);
	assert_string_equal(script.seen, "PUT plan x|PUT plan x|PUT plan x|PUT plan x|");
	channel_close(&received.channel);
	loop_free(script.loop);
}

static void a_refusal_ends_the_attempt(void **state)
{
	static const int refusals[] = {401, 404, 409};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		struct received received = {.status = -1};

		SCRIPT({refusals[i], NULL});
		send_one(&received, false);
		loop_run(script.loop);
		assert_true(received.channel.over && received.over_called_first);
		assert_int_equal(received.status, refusals[i]);
		channel_close(&received.channel);
		loop_free(script.loop);
	}
}

static void an_expected_refusal_does_not_end_the_attempt(void **state)
{
	struct received received = {.status = -1};

	(void)state;
	SCRIPT({409, NULL});
	send_one(&received, true);
	loop_run(script.loop);
	assert_false(received.channel.over);
	assert_int_equal(received.status, 409);
	channel_close(&received.channel);
	loop_free(script.loop);
}

static void giving_up_ends_all_requests(void **state)
{
	struct received received = {.status = -1};

	(void)state;
	SCRIPT({503, NULL});
	send_one(&received, false);
	run_ms(30);
	channel_give_up(&received.channel);
	assert_int_equal(received.status, 0);
	assert_int_equal(channel_busy(&received.channel), 0);
	channel_close(&received.channel);
	loop_free(script.loop);
}

static void an_error_message_has_status_and_detail(void **state)
{
	_cleanup_(buf_release) struct buf body = BUF_INIT(1000);
	char text[100];

	(void)state;
	buf_text(&body,
		"{\"errors\":[{\"status\":\"413\",\"title\":\"too large\",\"detail\":\"The plan is too large\"}]}");
	answer_sentence(413, &body, text, sizeof(text));
	assert_string_equal(text, "status 413, The plan is too large");
	buf_reset(&body);
	answer_sentence(413, &body, text, sizeof(text));
	assert_string_equal(text, "status 413");
}

/* ---- batches ---- */

enum { MAX_SENT = 20 };

struct sender {
	struct channel channel;
	int statuses[MAX_SENT]; /* -1: no answer yet */
	char bodies[MAX_SENT][64];
	size_t sent, answered;
	bool close_first; /* with the first answer */
};

struct sending {
	struct sender *sender;
	size_t number;
};

static void sender_begin(struct sender *sender)
{
	*sender = (struct sender){.sent = 0};
	channel_open(&sender->channel,
		&(struct channel_spec){.loop = script.loop, .scheduler_url = "http://s", .job = "j", .token = "t"});
	memset(sender->statuses, -1, sizeof(sender->statuses));
}

static void sending_answered(void *data, int status, const struct buf *body)
{
	struct sending sending = *(struct sending *)data;
	struct sender *sender = sending.sender;

	free(data);
	sender->statuses[sending.number] = status;
	text_copy(sender->bodies[sending.number], sizeof(sender->bodies[0]), buf_str(body));
	if (++sender->answered == sender->sent || sender->close_first)
		loop_stop(script.loop);
	if (sender->close_first)
		channel_close(&sender->channel);
}

static void send_spec(struct sender *sender, struct transfer_spec spec)
{
	struct sending *sending = mem_new(1, sizeof(*sending));

	*sending = (struct sending){sender, sender->sent++};
	spec.what = "x";
	channel_send(&sender->channel, &spec, sending_answered, sending);
}

static void send_text(struct sender *sender, const char *path, const char *text, enum batched batched)
{
	send_spec(sender,
		(struct transfer_spec){.method = "PUT",
			.path = path,
			.body = text,
			.body_len = strlen(text),
			.expects_refusal = text_starts(path, "log"),
			.batched = batched});
}

static void sender_end(struct sender *sender)
{
	channel_close(&sender->channel);
	loop_free(script.loop);
}

#define BATCH(head, bodies) "POST batch {\"parts\":[" head "]}\n" bodies "|"
#define PART(path, size)    "{\"path\":\"" path "\",\"size\":" size "}"

static void uploads_of_one_turn_are_sent_in_one_request(void **state)
{
	struct sender sender;

	(void)state;
	SCRIPT({204, NULL}, {200, "{\"parts\":[{\"status\":409,\"body\":{\"length\":3}},{\"status\":204}]}"});
	sender_begin(&sender);
	send_text(&sender, "log?offset=0", "one", IN_BATCH);
	send_text(&sender, "cost", "c", ALONE);
	send_text(&sender, "plan", "two", IN_BATCH);
	loop_run(script.loop);
	assert_string_equal(
		script.seen, "PUT cost c|" BATCH(PART("log?offset=0", "3") "," PART("plan", "3"), "onetwo"));
	assert_int_equal(sender.statuses[0], 409);
	assert_string_equal(sender.bodies[0], "{\"length\":3}");
	assert_int_equal(sender.statuses[2], 204);
	assert_false(sender.channel.over);
	assert_int_equal(channel_busy(&sender.channel), 0);
	sender_end(&sender);
}

static void deferred_uploads_join_a_batch_or_are_sent_later(void **state)
{
	struct sender sender;

	(void)state;
	SCRIPT({200, "{\"parts\":[{\"status\":204},{\"status\":204}]}"}, {204, NULL});
	sender_begin(&sender);
	send_text(&sender, "init", "i", IN_PARCEL_LATER);
	run_ms(1);
	assert_string_equal(script.seen, "");
	send_text(&sender, "plan", "p", IN_BATCH);
	loop_run(script.loop);
	assert_string_equal(script.seen, BATCH(PART("init", "1") "," PART("plan", "1"), "ip"));
	script.seen[0] = '\0';
	send_text(&sender, "init", "again", IN_PARCEL_LATER);
	loop_run(script.loop);
	assert_string_equal(script.seen, "PUT init again|");
	sender_end(&sender);
}

static void a_refused_part_ends_the_attempt(void **state)
{
	struct sender sender;

	(void)state;
	SCRIPT({200, "{\"parts\":[{\"status\":204},{\"status\":404},{\"status\":204}]}"});
	sender_begin(&sender);
	for (int i = 0; i < 3; i++)
		send_text(&sender, "plan", "p", IN_BATCH);
	loop_run(script.loop);
	assert_true(sender.channel.over);
	assert_int_equal(sender.statuses[0], 204);
	assert_int_equal(sender.statuses[1], 404);
	assert_int_equal(sender.statuses[2], 204);
	sender_end(&sender);
}

static void batches_and_parts_without_an_answer_are_retried(void **state)
{
	struct sender sender;

	(void)state;
	SCRIPT({0, NULL}, {200, "no answer of ours"}, {503, NULL},
		{200, "{\"parts\":[{\"status\":204},{\"status\":500}]}"}, {204, NULL});
	sender_begin(&sender);
	send_text(&sender, "log?offset=0", "l", IN_BATCH);
	send_text(&sender, "plan", "p", IN_BATCH);
	loop_run(script.loop);
	assert_int_equal(script.request_count, 5);
	assert_int_equal(sender.statuses[0], 204);
	assert_int_equal(sender.statuses[1], 204);
	assert_non_null(strstr(script.seen, "|PUT plan p|"));
	sender_end(&sender);
}

static void a_refused_batch_refuses_all_its_parts(void **state)
{
	struct sender sender;

	(void)state;
	SCRIPT({413, "{\"errors\":[]}"});
	sender_begin(&sender);
	send_text(&sender, "plan", "p", IN_BATCH);
	send_text(&sender, "init", "i", IN_BATCH);
	loop_run(script.loop);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sender.statuses[i], 413);
		assert_string_equal(sender.bodies[i], "{\"errors\":[]}");
	}
	sender_end(&sender);
}

static void large_or_many_uploads_are_sent_in_several_requests(void **state)
{
	_cleanup_(freep) char *large = mem_new(120 * 1024, 1);
	struct sender sender;

	(void)state;
	SCRIPT({204, NULL});
	sender_begin(&sender);
	memset(large, 'x', 120 * 1024 - 1);
	send_text(&sender, "plan", large, IN_BATCH);
	large[60 * 1024] = '\0';
	send_text(&sender, "plan", large, IN_BATCH);
	send_text(&sender, "init", large, IN_BATCH);
	loop_run(script.loop);
	assert_int_equal(script.request_count, 3);
	assert_int_equal(sender.answered, 3);
	sender_end(&sender);

	SCRIPT({400, NULL});
	sender_begin(&sender);
	while (sender.sent < 18)
		send_text(&sender, "plan", "p", IN_BATCH);
	loop_run(script.loop);
	assert_int_equal(script.request_count, 2);
	assert_int_equal(sender.answered, 18);
	sender_end(&sender);
}

static void a_small_file_is_part_of_a_batch(void **state)
{
	struct sender sender;
	int fds[2];

	(void)state;
	SCRIPT({200, "{\"parts\":[{\"status\":204},{\"status\":204}]}"});
	sender_begin(&sender);
	for (int i = 0; i < 2; i++) {
		fds[i] = open("/tmp", O_RDWR | O_TMPFILE, 0600);
		assert_int_equal(write(fds[i], i ? "two" : "one", 3), 3);
		send_spec(&sender,
			(struct transfer_spec){
				.method = "PUT", .path = "plan", .body_fd = fds[i], .batched = IN_BATCH});
	}
	loop_run(script.loop);
	assert_string_equal(script.seen, BATCH(PART("plan", "3") "," PART("plan", "3"), "onetwo"));
	assert_int_equal(fcntl(fds[0], F_GETFD), -1);
	sender_end(&sender);
}

static void the_channel_can_be_closed_by_an_answer(void **state)
{
	struct sender sender;

	(void)state;
	SCRIPT({200, "{\"parts\":[{\"status\":204},{\"status\":204}]}"});
	sender_begin(&sender);
	sender.close_first = true;
	send_text(&sender, "plan", "p", IN_BATCH);
	sender.sent--; /* the second request's data belongs to this test */
	struct sending left = {&sender, 1};
	channel_send(&sender.channel,
		&(struct transfer_spec){.method = "PUT", .path = "init", .what = "x", .batched = IN_BATCH},
		sending_answered, &left);
	loop_run(script.loop);
	assert_int_equal(sender.answered, 1);
	assert_int_equal(sender.statuses[1], -1);
	sender_end(&sender);
}

/* ---- the log ---- */

struct log_fixture {
	struct channel channel;
	struct redactor redactor;
	struct joblog log;
	bool flushed;
};

static void log_begin(struct log_fixture *fixture)
{
	*fixture = (struct log_fixture){.flushed = false};
	channel_open(&fixture->channel,
		&(struct channel_spec){.loop = script.loop, .scheduler_url = "http://s", .job = "j", .token = "t"});
	redactor_add(&fixture->redactor, "hunter22");
	joblog_init(&fixture->log, script.loop, &fixture->channel, &fixture->redactor);
}

static void flushed(void *data)
{
	((struct log_fixture *)data)->flushed = true;
	loop_stop(script.loop);
}

static void log_end(struct log_fixture *fixture)
{
	joblog_release(&fixture->log);
	channel_close(&fixture->channel);
	redactor_release(&fixture->redactor);
	loop_free(script.loop);
}

static void a_log_is_sent_in_order_and_redacted(void **state)
{
	struct log_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	log_begin(&fixture);
	joblog_write(&fixture.log, "the hunt");
	joblog_write(&fixture.log, "er hunter22\n");
	joblog_push(&fixture.log);
	joblog_write(&fixture.log, "more\n");
	joblog_push(&fixture.log);
	joblog_flush(&fixture.log, flushed, &fixture);
	loop_run(script.loop);
	assert_true(fixture.flushed);
	assert_int_equal(script.max_running, 1);
	assert_string_equal(script.seen, "PUT log?offset=0 the hunter (sensitive value)\n|PUT log?offset=29 more\n|");
	log_end(&fixture);
}

static void a_repeated_part_after_a_lost_answer_is_skipped(void **state)
{
	struct log_fixture fixture;

	(void)state;
	SCRIPT({503, NULL}, {409, "{\"length\":4}"}, {204, NULL});
	log_begin(&fixture);
	joblog_write(&fixture.log, "one\n");
	joblog_push(&fixture.log);
	joblog_write(&fixture.log, "two\n");
	joblog_flush(&fixture.log, flushed, &fixture);
	loop_run(script.loop);
	assert_string_equal(script.seen, "PUT log?offset=0 one\n|PUT log?offset=0 one\n|PUT log?offset=4 two\n|");
	log_end(&fixture);
}

#define GAP(bytes) "\n" bytes " bytes of the log are missing here: the scheduler does not have them any more.\n"

/* The scheduler's database has lost commits, or it refused a part. */
static void the_rest_of_a_log_follows_a_gap(void **state)
{
	struct log_fixture fixture;

	(void)state;
	SCRIPT({204, NULL}, {409, "{\"length\":1}"}, {204, NULL}, {409, "{\"length\":0}"}, {204, NULL});
	log_begin(&fixture);
	joblog_write(&fixture.log, "one\n");
	joblog_push(&fixture.log);
	joblog_write(&fixture.log, "two hunter22\n");
	while (script.request_count < 3 || script.running)
		run_ms(5);
	joblog_write(&fixture.log, "three\n");
	joblog_flush(&fixture.log, flushed, &fixture);
	loop_run(script.loop);
	assert_true(fixture.flushed);
	assert_string_equal(script.seen,
		"PUT log?offset=0 one\n|PUT log?offset=4 two (sensitive value)\n|PUT log?offset=1 " GAP(
			"3") "two (sensitive value)\n|PUT log?offset=104 three\n|PUT log?offset=0 " GAP("104") "three\n"
													       "|");
	log_end(&fixture);

	SCRIPT({413, NULL}, {409, "{\"length\":0}"}, {204, NULL});
	log_begin(&fixture);
	joblog_write(&fixture.log, "one\n");
	joblog_push(&fixture.log);
	joblog_write(&fixture.log, "two\n");
	joblog_flush(&fixture.log, flushed, &fixture);
	loop_run(script.loop);
	assert_string_equal(
		script.seen, "PUT log?offset=0 one\n|PUT log?offset=4 two\n|PUT log?offset=0 " GAP("4") "two\n|");
	log_end(&fixture);
}

/* No length, the same length, or more than was ever sent: no part can follow it. */
static void a_log_is_given_up_after_an_invalid_length(void **state)
{
	static const char *const answers[] = {
		"", "{}", "{\"length\":-4}", "{\"length\":0}", "{\"length\":5}", "{\"length\":9007199254740993}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct log_fixture fixture;

		SCRIPT({409, answers[i]});
		log_begin(&fixture);
		joblog_write(&fixture.log, "one\n");
		joblog_flush(&fixture.log, flushed, &fixture);
		loop_run(script.loop);
		assert_true(fixture.flushed);
		assert_int_equal(script.request_count, 1);
		log_end(&fixture);
	}
}

static void a_line_read_in_parts_is_redacted_as_a_whole(void **state)
{
	struct log_fixture fixture;
	int fds[2];

	(void)state;
	SCRIPT({204, NULL});
	log_begin(&fixture);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	joblog_attach(&fixture.log, fds[0], NULL, NULL);
	assert_int_equal(write(fds[1], "a hunt", 6), 6);
	run_ms(5);
	assert_int_equal(write(fds[1], "er22 b", 6), 6);
	close(fds[1]);
	run_ms(5);
	joblog_detach(&fixture.log);
	joblog_flush(&fixture.log, flushed, &fixture);
	loop_run(script.loop);
	assert_string_equal(script.seen, "PUT log?offset=0 a (sensitive value) b\n|");
	log_end(&fixture);
}

static void output_during_a_request_is_sent_in_the_next_one(void **state)
{
	struct log_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	log_begin(&fixture);
	joblog_write(&fixture.log, "one\n");
	joblog_push(&fixture.log);
	joblog_write(&fixture.log, "two\n");
	while (fixture.log.flight > 0)
		run_ms(1);
	assert_int_equal(script.request_count, 1);
	joblog_write(&fixture.log, "three\n");
	joblog_flush(&fixture.log, flushed, &fixture);
	loop_run(script.loop);
	assert_string_equal(script.seen, "PUT log?offset=0 one\n|PUT log?offset=4 two\nthree\n|");
	log_end(&fixture);
}

static void a_secret_across_the_border_of_two_parts_is_redacted(void **state)
{
	struct log_fixture fixture;
	char *text = mem_new(1024 * 1024 + 100, 1);

	(void)state;
	SCRIPT({204, NULL});
	log_begin(&fixture);
	memset(text, 'x', 1024 * 1024 + 50);
	memcpy(text + 1024 * 1024 - 4, "hunter22", 8);
	text[1024 * 1024 + 50] = '\n';
	joblog_write(&fixture.log, text);
	assert_null(memmem(fixture.log.pending.data, fixture.log.pending.len, "hunt", 4));
	assert_non_null(memmem(fixture.log.pending.data, fixture.log.pending.len, "x(sensitive value)x", 19));
	free(text);
	log_end(&fixture);
}

struct lines {
	size_t count;
	char last[64];
};

static void count_line(void *data, const char *line, size_t len)
{
	struct lines *lines = data;

	lines->count++;
	snprintf(lines->last, sizeof(lines->last), "%.*s", (int)len, line);
}

/* A one-line JSON text of so many bytes. */
static char *event_of(size_t len)
{
	char *text = mem_new(len + 2, 1);

	memset(text, 'x', len);
	memcpy(text, "{\"a\":\"", 6);
	memcpy(text + len - 2, "\"}\n", 3);
	return text;
}

static void a_long_line_is_complete(void **state)
{
	static const size_t sizes[] = {
		(1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 20) + 7, 3 << 20, (5 << 20) + 12345};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct log_fixture fixture;
		_cleanup_(freep) char *event = event_of(sizes[i]);
		_cleanup_(freep) char *expected = mem_printf("before\n%safter\n", event);
		struct lines lines = {0};

		SCRIPT({204, NULL});
		log_begin(&fixture);
		fixture.log.on_line = count_line;
		fixture.log.on_line_data = &lines;
		joblog_write(&fixture.log, "before\n");
		joblog_write(&fixture.log, event);
		joblog_write(&fixture.log, "after\n");
		assert_int_equal(fixture.log.pending.len, strlen(expected));
		assert_memory_equal(fixture.log.pending.data, expected, strlen(expected));
		assert_string_equal(lines.last, "after");
		assert_int_equal(lines.count, sizes[i] > 1 << 20 ? 2 : 3);
		log_end(&fixture);
	}
}

static void a_log_that_is_cut_within_a_line_ends_with_a_notice(void **state)
{
	_cleanup_(freep) char *event = event_of(3 << 20);
	struct log_fixture fixture;
	const char *last;

	(void)state;
	SCRIPT({204, NULL});
	log_begin(&fixture);
	fixture.log.max = 2 << 20;
	joblog_write(&fixture.log, event);
	joblog_write(&fixture.log, "after\n");
	assert_true(fixture.log.cut);
	last = strchr(buf_str(&fixture.log.pending), '\n');
	assert_string_equal(last, "\nThe log is too long: the rest of it is not kept.\n");
	log_end(&fixture);
}

/* ---- states ---- */

struct state_fixture {
	char path[64];
	struct workdir dir;
	struct channel channel;
	struct states states;
	struct err unreadable;
	bool settled;
};

static void state_write(struct state_fixture *fixture, const char *text)
{
	_cleanup_(freep) char *path = mem_printf("%s/root/" WORKDIR_STATE, fixture->path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void states_begin(struct state_fixture *fixture, const char *initial)
{
	struct err err = ERR_INIT;

	*fixture = (struct state_fixture){.dir = WORKDIR_INIT};
	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-states-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	fixture->dir.path = mem_text(fixture->path);
	fixture->dir.top = open(fixture->path, O_RDONLY | O_DIRECTORY);
	mkdirat(fixture->dir.top, "root", 0700);
	mkdirat(fixture->dir.top, "root/state", 0700);
	fixture->dir.root = openat(fixture->dir.top, "root", O_RDONLY | O_DIRECTORY);
	if (initial)
		state_write(fixture, initial);
	channel_open(&fixture->channel,
		&(struct channel_spec){.loop = script.loop, .scheduler_url = "http://s", .job = "j", .token = "t"});
	states_init(&fixture->states, script.loop, &fixture->channel, &fixture->dir);
	assert_int_equal(states_watch(&fixture->states, &err), 0);
}

static void settled(void *data)
{
	((struct state_fixture *)data)->settled = true;
	loop_stop(script.loop);
}

static void states_end(struct state_fixture *fixture)
{
	states_release(&fixture->states);
	channel_close(&fixture->channel);
	workdir_release(&fixture->dir);
	beneath_remove(AT_FDCWD, fixture->path);
	loop_free(script.loop);
}

static void complete_states_are_sent_and_the_newest_last(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	states_begin(&fixture, "{\"serial\":1}");
	state_write(&fixture, "{\"serial\":2");
	run_ms(10);
	state_write(&fixture, "{\"serial\":2}");
	run_ms(2);
	state_write(&fixture, "{\"serial\":3}");
	state_write(&fixture, "{\"serial\":4}");
	run_ms(30);
	states_settle(&fixture.states, settled, &fixture);
	if (!fixture.settled)
		loop_run(script.loop);
	assert_string_equal(script.seen, "PUT state {\"serial\":2}|PUT state {\"serial\":4}|");
	assert_int_equal(script.max_running, 1);
	assert_false(states_behind(&fixture.states, &fixture.unreadable));
	states_end(&fixture);
}

static void an_unchanged_state_is_not_sent(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	states_begin(&fixture, "{\"serial\":1}");
	state_write(&fixture, "{\"serial\":1}");
	run_ms(10);
	states_settle(&fixture.states, settled, &fixture);
	assert_true(fixture.settled);
	assert_string_equal(script.seen, "");
	states_end(&fixture);
}

static void a_state_is_sent_until_it_is_accepted(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({0, NULL}, {503, NULL}, {204, NULL});
	states_begin(&fixture, NULL);
	state_write(&fixture, "{\"serial\":1}");
	states_settle(&fixture.states, settled, &fixture);
	assert_true(states_behind(&fixture.states, &fixture.unreadable));
	loop_run(script.loop);
	assert_int_equal(script.request_count, 3);
	assert_false(states_behind(&fixture.states, &fixture.unreadable));
	states_end(&fixture);
}

static void a_refused_state_counts_as_undelivered(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({409, NULL});
	states_begin(&fixture, NULL);
	state_write(&fixture, "{\"serial\":1}");
	states_settle(&fixture.states, settled, &fixture);
	loop_run(script.loop);
	assert_true(states_behind(&fixture.states, &fixture.unreadable));
	assert_string_equal(fixture.states.undelivered, "status 409");
	assert_false(fixture.channel.over);
	states_end(&fixture);
}

static void a_state_after_the_end_of_sending_counts_as_undelivered(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	states_begin(&fixture, NULL);
	states_give_up(&fixture.states);
	state_write(&fixture, "{\"serial\":1}");
	states_settle(&fixture.states, settled, &fixture);
	assert_true(fixture.settled && fixture.states.seen);
	assert_true(states_behind(&fixture.states, &fixture.unreadable));
	assert_string_equal(script.seen, "");
	states_end(&fixture);
}

static void an_unreadable_state_counts_as_undelivered(void **state)
{
	struct state_fixture fixture;
	int fd;

	(void)state;
	SCRIPT({204, NULL});
	states_begin(&fixture, "{\"serial\":1}");
	state_write(&fixture, "{\"serial\":2");
	states_settle(&fixture.states, settled, &fixture);
	assert_true(fixture.settled && states_behind(&fixture.states, &fixture.unreadable));
	assert_string_equal(fixture.unreadable.message, "the state's file holds no whole state");
	fd = openat(fixture.dir.root, WORKDIR_STATE, O_WRONLY);
	assert_int_equal(ftruncate(fd, (off_t)MAX_STATE_BYTES + 1), 0);
	close(fd);
	run_ms(10);
	assert_true(states_behind(&fixture.states, &fixture.unreadable));
	assert_non_null(strstr(fixture.unreadable.message, "256 MiB"));
	assert_string_equal(script.seen, "");
	states_end(&fixture);

	/* A state that came from the scheduler is not owed, whatever it contains. */
	SCRIPT({204, NULL});
	states_begin(&fixture, "a state of a format to come");
	state_write(&fixture, "a state of a format to come");
	run_ms(10);
	assert_false(states_behind(&fixture.states, &fixture.unreadable));
	states_end(&fixture);
}

/* ---- differences of states ---- */

/* In an engine's format, with so many resources of 100 bytes each. */
static char *large_state(int serial, int resources)
{
	struct buf text = BUF_INIT(1 << 20);

	buf_printf(&text, "{\n  \"version\": 4,\n  \"serial\": %d,\n  \"lineage\": \"l-1\",\n  \"outputs\": {},\n",
		serial);
	buf_text(&text, "  \"resources\": [\n");
	for (uint64_t i = 0; i < (uint64_t)resources; i++)
		buf_printf(&text, "    {\"name\": \"item_%05d\", \"id\": \"%016llx%016llx%032x\"},\n", (int)i,
			(unsigned long long)((i + 1) * 0x9e3779b97f4a7c15),
			(unsigned long long)((i + 7) * 0xbf58476d1ce4e5b9), 0);
	buf_text(&text, "    null\n  ]\n}\n");
	return buf_take(&text);
}

/* Writes the state, and waits until it was sent and answered. */
static void large_write(struct state_fixture *fixture, int serial, int resources)
{
	_cleanup_(freep) char *text = large_state(serial, resources);
	size_t request_count = script.request_count;

	state_write(fixture, text);
	while (script.request_count == request_count || fixture->states.busy)
		run_ms(1);
}

/* The requests sent, without bodies: "state|state?intermediate=true|". */
static const char *paths_seen(void)
{
	static char paths[8192];
	const char *at = script.seen;

	paths[0] = '\0';
	while ((at = strstr(at, "PUT state"))) {
		size_t len;

		at += strlen("PUT ");
		len = strcspn(at, " ");
		snprintf(paths + strlen(paths), sizeof(paths) - strlen(paths), "%.*s|", (int)len, at);
	}
	return paths;
}

static char *difference_path(int base_serial, int base_resources, int serial, int resources)
{
	_cleanup_(freep) char *base = large_state(base_serial, base_resources), *state = large_state(serial, resources);
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(base, strlen(base), digest);
	return mem_printf("state-difference?base=%s&serial=%d&size=%zu|", digest, serial, strlen(state));
}

static void differences_begin(struct state_fixture *fixture)
{
	states_begin(fixture, NULL);
	states_differ(&fixture->states);
	large_write(fixture, 1, 800);
	large_write(fixture, 2, 801);
	assert_string_equal(paths_seen(), "state|state?intermediate=true|");
}

static void settle(struct state_fixture *fixture)
{
	states_settle(&fixture->states, settled, fixture);
	if (!fixture->settled)
		loop_run(script.loop);
}

static void intermediate_states_are_sent_as_differences(void **state)
{
	_cleanup_(freep) char *one = difference_path(2, 801, 3, 802), *two = difference_path(2, 801, 4, 803);
	_cleanup_(freep) char *all = mem_printf("state|state?intermediate=true|%s%sstate|", one, two);
	_cleanup_(freep) char *text = large_state(4, 803);
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	differences_begin(&fixture);
	large_write(&fixture, 3, 802);
	large_write(&fixture, 4, 803);
	state_write(&fixture, text);
	run_ms(30);
	assert_true(states_behind(&fixture.states, &fixture.unreadable));
	settle(&fixture);
	assert_string_equal(paths_seen(), all);
	assert_int_equal(script.max_running, 1);
	assert_false(states_behind(&fixture.states, &fixture.unreadable));
	states_end(&fixture);
}

static void a_truncated_state_is_not_sent_as_a_difference(void **state)
{
	_cleanup_(freep) char *text = large_state(3, 802), *one = difference_path(2, 801, 3, 802);
	_cleanup_(freep) char *all = mem_printf("state|state?intermediate=true|%s", one);
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	differences_begin(&fixture);
	for (size_t cut = 0; cut < strlen(text); cut += 7919) {
		_cleanup_(freep) char *half = mem_printf("%.*s", (int)cut, text);

		state_write(&fixture, half);
		run_ms(2);
	}
	assert_string_equal(paths_seen(), "state|state?intermediate=true|");
	state_write(&fixture, text);
	while (script.request_count < 3 || fixture.states.busy)
		run_ms(1);
	assert_string_equal(paths_seen(), all);
	states_end(&fixture);
}

static void after_a_refused_difference_the_state_is_sent(void **state)
{
	_cleanup_(freep) char *one = difference_path(2, 801, 3, 802);
	_cleanup_(freep) char *all = mem_printf("state|state?intermediate=true|%sstate?intermediate=true|", one);
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL}, {204, NULL}, {409, NULL}, {204, NULL});
	differences_begin(&fixture);
	large_write(&fixture, 3, 802);
	assert_string_equal(paths_seen(), all);
	assert_false(fixture.channel.over);
	states_end(&fixture);
}

/* A scheduler of an earlier version answers like this. */
static void after_several_refused_differences_only_states_are_sent(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL}, {204, NULL}, {404, NULL}, {204, NULL}, {404, NULL}, {204, NULL}, {404, NULL}, {204, NULL});
	differences_begin(&fixture);
	for (int serial = 3; serial < 8; serial++)
		large_write(&fixture, serial, 800 + serial);
	script.seen[0] = '\0';
	large_write(&fixture, 9, 809);
	assert_string_equal(paths_seen(), "state|");
	settle(&fixture);
	assert_string_equal(paths_seen(), "state|");
	assert_false(states_behind(&fixture.states, &fixture.unreadable));
	states_end(&fixture);
}

/* Each difference to the base of 801 resources has a sixth of the size of the state. */
static void a_new_base_is_sent_when_differences_add_up_to_its_size(void **state)
{
	_cleanup_(freep) char *next = NULL;
	struct state_fixture fixture;
	int serial = 2;

	(void)state;
	SCRIPT({204, NULL});
	differences_begin(&fixture);
	do {
		serial++;
		script.seen[0] = '\0';
		large_write(&fixture, serial, 8000 + serial);
	} while (serial < 20 && !text_equal(paths_seen(), "state?intermediate=true|"));
	assert_in_range(serial, 6, 12);
	script.seen[0] = '\0';
	large_write(&fixture, serial + 1, 8001 + serial);
	next = difference_path(serial, 8000 + serial, serial + 1, 8001 + serial);
	assert_string_equal(paths_seen(), next);
	states_end(&fixture);
}

static void an_earlier_state_that_recurs_is_sent_at_the_end(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL});
	differences_begin(&fixture);
	large_write(&fixture, 1, 800);
	assert_true(states_behind(&fixture.states, &fixture.unreadable));
	script.seen[0] = '\0';
	settle(&fixture);
	assert_string_equal(paths_seen(), "state|");
	assert_false(states_behind(&fixture.states, &fixture.unreadable));
	states_end(&fixture);
}

static void a_detached_state_is_no_base(void **state)
{
	struct state_fixture fixture;

	(void)state;
	SCRIPT({204, NULL}, {202, "{\"detached\":\"sv-1\",\"why\":\"because\"}"});
	differences_begin(&fixture);
	large_write(&fixture, 3, 802);
	assert_string_equal(paths_seen(), "state|state?intermediate=true|state?intermediate=true|");
	states_end(&fixture);
}

static void the_head_of_a_state_has_its_serial_and_lineage(void **state)
{
	_cleanup_(freep) char *text = large_state(7, 3);
	struct buf whole = BUF_INIT(1 << 20), other = BUF_INIT(100);
	struct state_facts facts;

	(void)state;
	buf_text(&whole, text);
	assert_int_equal(state_head_read(&whole, &facts), STATE_TEXT_WHOLE);
	assert_int_equal(facts.serial, 7);
	assert_string_equal(facts.lineage, "l-1");
	buf_cut(&whole, whole.len - 1);
	assert_int_equal(state_head_read(&whole, &facts), STATE_TEXT_TORN);
	buf_reset(&whole);
	assert_int_equal(state_head_read(&whole, &facts), STATE_TEXT_TORN);
	buf_text(&other, "{\"serial\":1,\"lineage\":\"l-1\"}");
	assert_int_equal(state_head_read(&other, &facts), STATE_TEXT_OTHER);
	buf_reset(&other);
	buf_text(&other, "{\n  \"serial\": 1,\n  \"resources\": []\n}\n");
	assert_int_equal(state_head_read(&other, &facts), STATE_TEXT_OTHER);
	buf_release(&whole);
	buf_release(&other);
}

/* ---- results ---- */

static void count_delivered(void *data)
{
	(*(int *)data)++;
	loop_stop(script.loop);
}

static void results_are_sent_until_they_are_accepted(void **state)
{
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1, .outcome = OUTCOME_PASSED};
	int taken = 0;
	struct result_sink *results;

	(void)state;
	SCRIPT({503, NULL}, {204, NULL});
	results = result_sink_new(&(struct result_sink_spec){
		.loop = script.loop, .scheduler_url = "http://s", .delivered = count_delivered, .data = &taken});
	result_sink_add(results, &result, "t", false);
	assert_int_equal(result_sink_undelivered(results), 1);
	assert_true(result_sink_heard(results, "j", 1, true, false));
	assert_false(result_sink_heard(results, "j", 2, true, false));
	loop_run(script.loop);
	assert_int_equal(taken, 1);
	assert_int_equal(result_sink_kept(results), 0);
	assert_int_equal(script.request_count, 2);
	result_sink_free(results);
	loop_free(script.loop);
}

static void a_confirmed_result_is_deleted(void **state)
{
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1, .outcome = OUTCOME_PASSED};
	struct result_sink *results;

	(void)state;
	SCRIPT({503, NULL});
	results = result_sink_new(&(struct result_sink_spec){.loop = script.loop, .scheduler_url = "http://s"});
	result_sink_add(results, &result, "t", false);
	assert_true(result_sink_heard(results, "j", 1, false, false));
	assert_int_equal(result_sink_kept(results), 0);
	run_ms(10);
	assert_int_equal(script.running, 0);
	result_sink_free(results);
	loop_free(script.loop);
}

static void a_refused_result_is_kept_and_retried(void **state)
{
	static const int refusals[] = {400, 403, 413, 422};
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1, .outcome = OUTCOME_PASSED};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		int taken = 0;
		struct result_sink *results;

		SCRIPT({refusals[i], NULL}, {refusals[i], NULL}, {204, NULL});
		results = result_sink_new(&(struct result_sink_spec){.loop = script.loop,
			.scheduler_url = "http://s",
			.delivered = count_delivered,
			.data = &taken});
		result_sink_add(results, &result, "t", false);
		for (size_t times = 1; times <= 2; times++) {
			while (script.running)
				run_ms(2);
			assert_int_equal(script.request_count, times);
			assert_int_equal(result_sink_kept(results), 1);
			assert_int_equal(result_sink_undelivered(results), 1);
			assert_true(result_sink_heard(results, "j", 1, true, false));
		}
		loop_run(script.loop);
		assert_int_equal(taken, 1);
		assert_int_equal(result_sink_kept(results), 0);
		result_sink_free(results);
		loop_free(script.loop);
	}
}

static void a_result_of_an_ended_attempt_is_not_retried(void **state)
{
	static const int over[] = {401, 404, 409};
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1, .outcome = OUTCOME_PASSED};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(over); i++) {
		int taken = 0;
		struct result_sink *results;

		SCRIPT({over[i], NULL});
		results = result_sink_new(&(struct result_sink_spec){.loop = script.loop,
			.scheduler_url = "http://s",
			.delivered = count_delivered,
			.data = &taken});
		result_sink_add(results, &result, "t", false);
		loop_run(script.loop);
		assert_int_equal(result_sink_kept(results), 0);
		assert_false(result_sink_heard(results, "j", 1, true, false));
		result_sink_free(results);
		loop_free(script.loop);
	}
}

/* ---- leftovers of an apply ---- */

struct left {
	char path[64];
	int data, jobs;
	struct workdir dir;
	struct unsent *unsent;
};

static void leftover_put(const struct left *left, const char *path, const char *text)
{
	struct err err = ERR_INIT;

	assert_int_equal(beneath_write(left->dir.top, path, 0600, text_bytes(text), &err), 0);
}

/* A file that can't be removed, or NULL. */
static const char *stuck;
/* Whether the state's note existed when the state last left its place. */
static bool was_noted;

static void state_leaves(int folder, const char *name)
{
	if (text_equal(name, "j-1.tfstate"))
		was_noted = faccessat(folder, "j-1.json", F_OK, 0) == 0;
}

int renameat(int from, const char *name, int to, const char *to_name)
{
	state_leaves(from, name);
	return (int)syscall(SYS_renameat2, from, name, to, to_name, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
	state_leaves(folder, name);
	if (text_equal(name, stuck)) {
		errno = EBUSY;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, folder, name, flags);
}

static void leftover_settled(void *data)
{
	(void)data;
}

/* An organization's apply whose note is written, just before it starts with this state; NULL: without a state. */
static void leftover_begin_of(struct left *left, const char *organization, const char *state)
{
	struct unsent_job job = {
		.job = "j", .token = "t", .run = "run-1", .organization = organization, .folder = "config"};
	struct state_facts facts = {.serial = 0};
	struct err err = ERR_INIT;

	*left = (struct left){.dir = WORKDIR_INIT};
	snprintf(left->path, sizeof(left->path), "/tmp/runyard-left-XXXXXX");
	assert_non_null(mkdtemp(left->path));
	left->data = open(left->path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(beneath_mkdirs(left->data, "jobs/j-1/root/state"), 0);
	left->jobs = openat(left->data, "jobs", O_RDONLY | O_DIRECTORY);
	left->dir = (struct workdir){.jobs = left->jobs,
		.name = mem_text("j-1"),
		.top = openat(left->jobs, "j-1", O_RDONLY | O_DIRECTORY),
		.root = openat(left->jobs, "j-1/root", O_RDONLY | O_DIRECTORY)};
	if (state) {
		leftover_put(left, "root/" WORKDIR_STATE, state);
		assert_int_equal(leftover_read(left->dir.top, NULL, &facts), 0);
		delivered_write(left->dir.top, &facts);
	}
	job.digest = facts.digest;
	assert_int_equal(unsent_open(&(struct unsent_spec){.loop = script.loop,
					     .scheduler_url = "http://s",
					     .data_dir = left->path,
					     .settled = leftover_settled},
				 &left->unsent, &err),
		0);
	assert_int_equal(unsent_note(left->unsent, &left->dir, &job, &err), 0);
}

static void leftover_begin(struct left *left, const char *state)
{
	leftover_begin_of(left, "org-1", state);
}

/* Starts the next worker. Returns the requests that it sends, `count` of them. */
static const char *leftover_requests(struct left *left, size_t count)
{
	size_t before = script.request_count;
	struct err err = ERR_INIT;

	unsent_free(left->unsent);
	assert_int_equal(unsent_open(&(struct unsent_spec){.loop = script.loop,
					     .scheduler_url = "http://s",
					     .data_dir = left->path,
					     .settled = leftover_settled},
				 &left->unsent, &err),
		0);
	unsent_recover(left->unsent, left->jobs);
	assert_int_equal(faccessat(left->jobs, "j-1", F_OK, 0), -1);
	while (script.request_count - before < count || script.running)
		run_ms(5);
	return script.seen;
}

static void leftover_end(struct left *left)
{
	unsent_free(left->unsent);
	workdir_release(&left->dir);
	close(left->jobs);
	close(left->data);
	loop_free(script.loop);
	assert_int_equal(beneath_remove(AT_FDCWD, left->path), 0);
}

static void the_next_worker_delivers_the_state_of_a_killed_one(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_false(leftover_undelivered(left.dir.top));
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	assert_true(leftover_undelivered(left.dir.top));
	assert_string_equal(leftover_requests(&left, 2), "PUT state |POST last-state |");
	script.seen[0] = '\0';
	assert_string_equal(leftover_requests(&left, 0), "");
	leftover_end(&left);
}

/* No state has the changes, so the worker must not report that the last state was sent. */
static void the_next_worker_does_not_report_changes_without_a_state(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	unsent_changed(&left.dir);
	assert_string_equal(leftover_requests(&left, 0), "");
	run_ms(20);
	assert_string_equal(script.seen, "");
	leftover_end(&left);
}

static void the_next_worker_reports_the_last_state_if_it_has_the_changes(void **state)
{
	struct left left;
	struct state_facts facts;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	unsent_changed(&left.dir);
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	assert_int_equal(leftover_read(left.dir.top, NULL, &facts), 0);
	delivered_write(left.dir.top, &facts);
	assert_string_equal(leftover_requests(&left, 1), "POST last-state |");
	leftover_end(&left);
}

static void a_missing_state_is_reported_as_delivered(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_int_equal(unlinkat(left.dir.root, WORKDIR_STATE, 0), 0);
	assert_false(leftover_undelivered(left.dir.top));
	assert_string_equal(leftover_requests(&left, 1), "POST last-state |");
	leftover_end(&left);
}

/* The engine creates the file before it has a state. If it is killed then, there is no state, unless something
 * changed. */
static void an_empty_file_is_no_state_without_an_earlier_one(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, NULL);
	leftover_put(&left, "root/" WORKDIR_STATE, "");
	assert_false(leftover_undelivered(left.dir.top));
	assert_string_equal(leftover_requests(&left, 1), "POST last-state |");
	leftover_end(&left);

	SCRIPT({204, NULL});
	leftover_begin(&left, NULL);
	unsent_changed(&left.dir);
	leftover_put(&left, "root/" WORKDIR_STATE, "");
	assert_string_equal(leftover_requests(&left, 0), "");
	run_ms(20);
	assert_string_equal(script.seen, "");
	leftover_end(&left);
}

/* An entry in place of the state: a file of that size if it has no text. */
struct unreadable {
	const char *text;
	off_t size;
	mode_t kind; /* S_IFREG, S_IFDIR, S_IFIFO or S_IFLNK */
	bool sent;   /* to the scheduler */
	off_t kept;  /* size of the file that is kept */
};

static const struct unreadable unreadables[] = {
	{"", 0, S_IFREG, true, 0},                /* as errored.tfstate, this is the reserve (upload/reserve.h) */
	{"{\"serial\":2,", 0, S_IFREG, true, 12}, /* a truncated state */
	{"{\"serial\":\"2\"}", 0, S_IFREG, true, 14},
	{NULL, (off_t)MAX_STATE_BYTES + 1, S_IFREG, false, (off_t)MAX_STATE_BYTES + 1},
	{NULL, (off_t)MAX_STATE_BYTES * 8, S_IFREG, true, 0}, /* a job must not be able to fill the disk with it */
	{NULL, 0, S_IFDIR, true, 0},
	{NULL, 0, S_IFIFO, true, 0},
	{NULL, 0, S_IFLNK, true, 0},
};

static void unreadable_put(int folder, const char *path, const struct unreadable *unreadable)
{
	struct err err = ERR_INIT;
	int fd;

	assert_int_equal(beneath_remove(folder, path), 0);
	if (unreadable->kind == S_IFDIR) {
		assert_int_equal(mkdirat(folder, path, 0700), 0);
	} else if (unreadable->kind == S_IFIFO) {
		assert_int_equal(mkfifoat(folder, path, 0600), 0);
	} else if (unreadable->kind == S_IFLNK) {
		assert_int_equal(symlinkat("/etc/hostname", folder, path), 0);
	} else if (unreadable->text) {
		assert_int_equal(beneath_write(folder, path, 0600, text_bytes(unreadable->text), &err), 0);
	} else {
		fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_int_equal(ftruncate(fd, unreadable->size), 0); /* sparse */
		close(fd);
	}
}

/* The scheduler refuses it, and the file is kept for a user. The worker does not send last-state. */
static void unreadable_is_kept(struct left *left, const struct unreadable *unreadable)
{
	struct stat info;

	assert_true(leftover_undelivered(left->dir.top));
	assert_string_equal(leftover_requests(left, unreadable->sent), unreadable->sent ? "PUT state |" : "");
	assert_int_equal(fstatat(left->data, "unsent/j-1.org-1.refused", &info, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(info.st_mode));
	assert_int_equal(info.st_size, unreadable->kept);
	assert_int_equal(faccessat(left->data, "unsent/j-1.json", F_OK, 0), -1);
	leftover_end(left);
}

/* Tests each of them, from `first` on, at a path below the job's root. */
static void each_unreadable(const char *path, size_t first)
{
	for (size_t i = first; i < ARRAY_LEN(unreadables); i++) {
		struct left left;

		SCRIPT({422, NULL});
		leftover_begin(&left, "{\"serial\":1}");
		assert_int_equal(beneath_parents(left.dir.root, path), 0);
		unreadable_put(left.dir.root, path, &unreadables[i]);
		leftover_errored(left.dir.top, "config");
		unreadable_is_kept(&left, &unreadables[i]);
	}
}

static void an_unreadable_state_is_kept_for_a_user(void **state)
{
	(void)state;
	each_unreadable(WORKDIR_STATE, 0);
}

static void an_unreadable_errored_state_is_kept_for_a_user(void **state)
{
	(void)state;
	each_unreadable("config/errored.tfstate", 1);
}

static void the_next_worker_delivers_the_result_of_a_killed_one(void **state)
{
	const struct job_result result = {
		.job = {"j"}, .run = {"r"}, .attempt = 1, .outcome = OUTCOME_FAILED, .error = "why"};
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_int_equal(unsent_ended(left.unsent, &left.dir, &(struct unsent_end){.result = &result}), 0);
	run_ms(20);
	assert_string_equal(script.seen, "");
	assert_true(text_starts(leftover_requests(&left, 2), "POST result {"));
	assert_non_null(strstr(script.seen, "\"outcome\":\"failed\""));
	assert_non_null(strstr(script.seen, "}|POST last-state |"));
	leftover_end(&left);
}

/* No last-state follows: that would end the attempt as lost. The next worker sends the result again. */
static void a_refused_result_of_an_earlier_apply_is_kept(void **state)
{
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1, .outcome = OUTCOME_PASSED};
	struct left left;

	(void)state;
	SCRIPT({422, NULL}, {204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_int_equal(unsent_ended(left.unsent, &left.dir, &(struct unsent_end){.result = &result}), 0);
	assert_true(text_starts(leftover_requests(&left, 1), "POST result {"));
	run_ms(30);
	assert_int_equal(script.request_count, 1);
	assert_int_equal(faccessat(left.data, "unsent/j-1.json", F_OK, 0), 0);
	script.seen[0] = '\0';
	assert_true(text_starts(leftover_requests(&left, 2), "POST result {"));
	assert_non_null(strstr(script.seen, "}|POST last-state |"));
	leftover_end(&left);
}

static void a_confirmed_result_is_not_sent_by_the_next_worker(void **state)
{
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1};
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_int_equal(unsent_ended(left.unsent, &left.dir, &(struct unsent_end){.result = &result}), 0);
	assert_int_equal(beneath_remove(left.jobs, "j-1"), 0);
	unsent_confirmed(left.unsent, "j", 1, false);
	assert_string_equal(leftover_requests(&left, 0), "");
	leftover_end(&left);
}

/* The worker was stopped until the lease had ended, and terraform ended meanwhile. The state is complete, only late. */
static void an_apply_whose_result_came_too_late_ends_its_hold(void **state)
{
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1};
	struct left left;

	(void)state;
	SCRIPT({409, NULL}, {204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_int_equal(unsent_ended(left.unsent, &left.dir, &(struct unsent_end){.result = &result}), 0);
	unsent_confirmed(left.unsent, "j", 1, true);
	unsent_confirmed(left.unsent, "j", 1, true);
	while (script.request_count < 2 || script.running)
		run_ms(5);
	assert_non_null(strstr(script.seen, "}|POST last-state |"));
	assert_int_equal(faccessat(left.data, "unsent/j-1.json", F_OK, 0), -1);
	unsent_confirmed(left.unsent, "j", 1, true);
	run_ms(20);
	assert_int_equal(script.request_count, 2);
	leftover_end(&left);
}

static void confirmed(void *data, const char *job, int attempt, bool awaited)
{
	(void)job;
	(void)attempt;
	*(bool *)data = awaited;
	loop_stop(script.loop);
}

static void a_late_result_is_followed_by_a_last_state(void **state)
{
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1};
	bool awaited = false;
	struct result_sink *results;

	(void)state;
	SCRIPT({409, NULL});
	results = result_sink_new(&(struct result_sink_spec){
		.loop = script.loop, .scheduler_url = "http://s", .confirmed = confirmed, .data = &awaited});
	result_sink_add(results, &result, "t", false);
	loop_run(script.loop);
	assert_true(awaited);
	result_sink_free(results);
	loop_free(script.loop);
}

static void the_state_of_a_lost_apply_is_sent_until_it_is_accepted(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({0, NULL}, {503, NULL}, {202, "{\"detached\":\"sv-1\",\"why\":\"w\"}"}, {404, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	assert_int_equal(unsent_ended(left.unsent, &left.dir, &(struct unsent_end){.owed = true}), 0);
	while (script.request_count < 4 || script.running)
		run_ms(5);
	assert_string_equal(script.seen, "PUT state |PUT state |PUT state |POST last-state |");
	assert_int_equal(faccessat(left.data, "unsent/j-1.tfstate", F_OK, 0), -1);
	assert_int_equal(faccessat(left.data, "unsent/j-1.json", F_OK, 0), -1);
	leftover_end(&left);
}

/* The folder may have an earlier state while it is removed. */
static void a_kept_state_is_not_replaced_by_an_earlier_one(void **state)
{
	_cleanup_(buf_release) struct buf kept = BUF_INIT(1000);
	struct err err = ERR_INIT;
	struct left left;

	(void)state;
	SCRIPT({0, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	leftover_put(&left, LEFTOVER_ERRORED, "{\"serial\":3}");
	assert_int_equal(unsent_ended(left.unsent, &left.dir, &(struct unsent_end){.owed = true}), 0);
	assert_int_equal(beneath_remove(left.dir.top, "delivered"), 0);
	assert_true(leftover_undelivered(left.dir.top));
	leftover_requests(&left, 1);
	assert_int_equal(beneath_read(left.data, "unsent/j-1.tfstate", &kept, &err), 0);
	assert_string_equal(buf_str(&kept), "{\"serial\":3}");
	leftover_end(&left);
}

#define REPORT "aws_vpc.a: Creation complete after 1s [id=i-1]\naws_vpc.b: Creation complete after 1s [id=i-2]\n"

static void unrecorded_resources_are_sent_before_the_last_state(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	leftover_put(&left, WORKDIR_OUTPUT, REPORT "aws_vpc.c: Creation complete after 1s [id=i-3]");
	leftover_put(&left, "root/" WORKDIR_STATE,
		"{\"serial\":2,\"resources\":[{\"mode\":\"managed\",\"type\":\"aws_vpc\",\"name\":\"a\",\"instances\":["
		"{"
		"\"attributes\":{\"id\":\"i-1\"}}]}]}");
	assert_string_equal(leftover_requests(&left, 3),
		"PUT unrecorded-resources {\"resources\":[{\"action\":\"create\",\"address\":\"aws_vpc.b\",\"type\":"
		"\"aws_vpc\",\"provider\":\"aws\",\"id\":\"i-2\"}]}|PUT state |POST last-state |");
	leftover_end(&left);
}

static void unrecorded_resources_are_sent_after_the_result(void **state)
{
	const struct job_result result = {.job = {"j"}, .run = {"r"}, .attempt = 1, .state_owed = true};
	json_auto_t *unrecorded = json_pack("[{ss}]", "address", "aws_vpc.a");
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_int_equal(
		unsent_ended(left.unsent, &left.dir, &(struct unsent_end){.result = &result, .unrecorded = unrecorded}),
		0);
	while (script.request_count < 3 || script.running)
		run_ms(5);
	assert_non_null(strstr(script.seen,
		"}|PUT unrecorded-resources {\"resources\":[{\"address\":\"aws_vpc.a\"}]}|POST last-state |"));
	leftover_end(&left);
}

static void a_refused_state_is_kept_for_a_user(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({422, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	assert_string_equal(leftover_requests(&left, 1), "PUT state |");
	assert_int_equal(faccessat(left.data, "unsent/j-1.org-1.refused", F_OK, 0), 0);
	leftover_end(&left);
}

/* Only an empty file remains of a state that exceeds the limit of its organization's refused states. A note of an
 * earlier version has no organization. */
static void the_bytes_of_refused_states_are_bounded(void **state)
{
	static const struct {
		const char *organization, *other, *refused;
		off_t before, kept;
	} rows[] = {
		{"org-1", "j-0.org-1.refused", "unsent/j-1.org-1.refused", LEFTOVER_MAX - 12, 12},
		{"org-1", "j-0.org-1.refused", "unsent/j-1.org-1.refused", LEFTOVER_MAX - 11, 0},
		{"org-1", "j-0.org-11.refused", "unsent/j-1.org-1.refused", 4 * LEFTOVER_MAX, 12},
		{"org-1", "j-0.refused", "unsent/j-1.org-1.refused", 4 * LEFTOVER_MAX, 12},
		{"", "j-0.refused", "unsent/j-1.refused", LEFTOVER_MAX - 11, 0},
		{"", "j-0.org-1.refused", "unsent/j-1.refused", 4 * LEFTOVER_MAX, 12},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct unreadable before = {NULL, rows[i].before, S_IFREG, true, 0};
		_cleanup_(freep) char *other = mem_printf("unsent/%s", rows[i].other);
		struct left left;
		struct stat info;

		SCRIPT({422, NULL});
		leftover_begin_of(&left, rows[i].organization, "{\"serial\":1}");
		unreadable_put(left.data, other, &before);
		leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
		assert_string_equal(leftover_requests(&left, 1), "PUT state |");
		assert_int_equal(fstatat(left.data, rows[i].refused, &info, AT_SYMLINK_NOFOLLOW), 0);
		assert_int_equal(info.st_size, rows[i].kept);
		assert_int_equal(faccessat(left.data, other, F_OK, 0), 0);
		assert_int_equal(faccessat(left.data, "unsent/j-1.tfstate", F_OK, 0), -1);
		leftover_end(&left);
	}
}

static void a_refused_state_stays_if_the_empty_file_can_not_be_written(void **state)
{
	const struct unreadable before = {NULL, LEFTOVER_MAX, S_IFREG, true, 0};
	struct left left;

	(void)state;
	SCRIPT({422, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	unreadable_put(left.data, "unsent/j-0.org-1.refused", &before);
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	stuck = "j-1.org-1.refused";
	assert_string_equal(leftover_requests(&left, 1), "PUT state |");
	stuck = NULL;
	assert_int_equal(faccessat(left.data, "unsent/j-1.tfstate", F_OK, 0), 0);
	leftover_end(&left);
}

/* After a restart, a note without a state would end the hold of the workspace. */
static void a_refused_state_leaves_its_place_after_its_note(void **state)
{
	static const off_t others[] = {0, LEFTOVER_MAX}; /* with and without room for the state */

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const struct unreadable before = {NULL, others[i], S_IFREG, true, 0};
		struct left left;

		SCRIPT({422, NULL});
		leftover_begin(&left, "{\"serial\":1}");
		unreadable_put(left.data, "unsent/j-0.org-1.refused", &before);
		leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
		was_noted = true;
		assert_string_equal(leftover_requests(&left, 1), "PUT state |");
		assert_int_equal(faccessat(left.data, "unsent/j-1.tfstate", F_OK, 0), -1);
		assert_false(was_noted);
		leftover_end(&left);
	}
}

static void a_state_without_a_note_is_neither_sent_nor_removed(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	assert_int_equal(beneath_remove(left.jobs, "j-1"), 0);
	unreadable_put(
		left.data, "unsent/j-1.tfstate", &(struct unreadable){.text = "{\"serial\":2}", .kind = S_IFREG});
	assert_string_equal(leftover_requests(&left, 0), "");
	run_ms(20);
	assert_string_equal(script.seen, "");
	assert_int_equal(faccessat(left.data, "unsent/j-1.tfstate", F_OK, 0), 0);
	leftover_end(&left);
}

/* The folder has an earlier state, and stays when its last state has been delivered. */
static void a_recovered_apply_is_not_recovered_again(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	leftover_put(&left, LEFTOVER_ERRORED, "{\"serial\":3}");
	stuck = "j-1";
	unsent_recover(left.unsent, left.jobs);
	while (script.request_count < 2 || script.running)
		run_ms(5);
	stuck = NULL;
	assert_string_equal(script.seen, "PUT state |POST last-state |");
	assert_int_equal(faccessat(left.jobs, "j-1", F_OK, 0), 0);
	script.seen[0] = '\0';
	assert_string_equal(leftover_requests(&left, 0), "");
	run_ms(20);
	assert_string_equal(script.seen, "");
	leftover_end(&left);
}

/* It may be readable later, and the folder may have the only state. */
static void a_folder_whose_note_can_not_be_read_stays(void **state)
{
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":1}");
	leftover_put(&left, "root/" WORKDIR_STATE, "{\"serial\":2}");
	assert_int_equal(renameat(left.dir.top, "job.json", left.dir.top, "earlier.json"), 0);
	assert_int_equal(mkdirat(left.dir.top, "job.json", 0700), 0);
	unsent_recover(left.unsent, left.jobs);
	assert_int_equal(faccessat(left.jobs, "j-1", F_OK, 0), 0);
	assert_int_equal(beneath_remove(left.dir.top, "job.json"), 0);
	assert_int_equal(renameat(left.dir.top, "earlier.json", left.dir.top, "job.json"), 0);
	assert_string_equal(leftover_requests(&left, 2), "PUT state |POST last-state |");
	leftover_end(&left);
}

static void an_errored_state_gets_the_next_serial_and_the_lineage(void **state)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(4096);
	struct state_facts facts;
	struct left left;

	(void)state;
	SCRIPT({204, NULL});
	leftover_begin(&left, "{\"serial\":4,\"lineage\":\"line\"}");
	leftover_errored(left.dir.top, "config");
	assert_false(leftover_undelivered(left.dir.top));
	leftover_put(&left, "root/config/errored.tfstate", "{\"serial\":0,\"lineage\":\"\",\"n\":1e9}");
	leftover_put(&left, "root/" WORKDIR_STATE, "");
	leftover_errored(left.dir.top, "config");
	assert_int_equal(leftover_read(left.dir.top, &bytes, &facts), 0);
	assert_string_equal(buf_str(&bytes), "{\"serial\":5,\"lineage\":\"line\",\"n\":1e9}");
	assert_string_equal(leftover_requests(&left, 2), "PUT state |POST last-state |");
	leftover_end(&left);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transient_failures_are_retried),
		cmocka_unit_test(a_refusal_ends_the_attempt),
		cmocka_unit_test(an_expected_refusal_does_not_end_the_attempt),
		cmocka_unit_test(giving_up_ends_all_requests),
		cmocka_unit_test(an_error_message_has_status_and_detail),
		cmocka_unit_test(uploads_of_one_turn_are_sent_in_one_request),
		cmocka_unit_test(deferred_uploads_join_a_batch_or_are_sent_later),
		cmocka_unit_test(a_refused_part_ends_the_attempt),
		cmocka_unit_test(batches_and_parts_without_an_answer_are_retried),
		cmocka_unit_test(a_refused_batch_refuses_all_its_parts),
		cmocka_unit_test(large_or_many_uploads_are_sent_in_several_requests),
		cmocka_unit_test(a_small_file_is_part_of_a_batch),
		cmocka_unit_test(the_channel_can_be_closed_by_an_answer),
		cmocka_unit_test(a_log_is_sent_in_order_and_redacted),
		cmocka_unit_test(output_during_a_request_is_sent_in_the_next_one),
		cmocka_unit_test(a_secret_across_the_border_of_two_parts_is_redacted),
		cmocka_unit_test(a_long_line_is_complete),
		cmocka_unit_test(a_log_that_is_cut_within_a_line_ends_with_a_notice),
		cmocka_unit_test(a_repeated_part_after_a_lost_answer_is_skipped),
		cmocka_unit_test(the_rest_of_a_log_follows_a_gap),
		cmocka_unit_test(a_log_is_given_up_after_an_invalid_length),
		cmocka_unit_test(a_line_read_in_parts_is_redacted_as_a_whole),
		cmocka_unit_test(complete_states_are_sent_and_the_newest_last),
		cmocka_unit_test(an_unchanged_state_is_not_sent),
		cmocka_unit_test(a_state_is_sent_until_it_is_accepted),
		cmocka_unit_test(a_refused_state_counts_as_undelivered),
		cmocka_unit_test(a_state_after_the_end_of_sending_counts_as_undelivered),
		cmocka_unit_test(an_unreadable_state_counts_as_undelivered),
		cmocka_unit_test(intermediate_states_are_sent_as_differences),
		cmocka_unit_test(a_truncated_state_is_not_sent_as_a_difference),
		cmocka_unit_test(after_a_refused_difference_the_state_is_sent),
		cmocka_unit_test(after_several_refused_differences_only_states_are_sent),
		cmocka_unit_test(a_new_base_is_sent_when_differences_add_up_to_its_size),
		cmocka_unit_test(an_earlier_state_that_recurs_is_sent_at_the_end),
		cmocka_unit_test(a_detached_state_is_no_base),
		cmocka_unit_test(the_head_of_a_state_has_its_serial_and_lineage),
		cmocka_unit_test(results_are_sent_until_they_are_accepted),
		cmocka_unit_test(a_confirmed_result_is_deleted),
		cmocka_unit_test(a_refused_result_is_kept_and_retried),
		cmocka_unit_test(a_result_of_an_ended_attempt_is_not_retried),
		cmocka_unit_test(a_late_result_is_followed_by_a_last_state),
		cmocka_unit_test(an_apply_whose_result_came_too_late_ends_its_hold),
		cmocka_unit_test(the_next_worker_delivers_the_state_of_a_killed_one),
		cmocka_unit_test(a_missing_state_is_reported_as_delivered),
		cmocka_unit_test(an_empty_file_is_no_state_without_an_earlier_one),
		cmocka_unit_test(the_next_worker_does_not_report_changes_without_a_state),
		cmocka_unit_test(the_next_worker_reports_the_last_state_if_it_has_the_changes),
		cmocka_unit_test(an_unreadable_state_is_kept_for_a_user),
		cmocka_unit_test(an_unreadable_errored_state_is_kept_for_a_user),
		cmocka_unit_test(the_next_worker_delivers_the_result_of_a_killed_one),
		cmocka_unit_test(a_refused_result_of_an_earlier_apply_is_kept),
		cmocka_unit_test(a_confirmed_result_is_not_sent_by_the_next_worker),
		cmocka_unit_test(the_state_of_a_lost_apply_is_sent_until_it_is_accepted),
		cmocka_unit_test(a_kept_state_is_not_replaced_by_an_earlier_one),
		cmocka_unit_test(unrecorded_resources_are_sent_before_the_last_state),
		cmocka_unit_test(unrecorded_resources_are_sent_after_the_result),
		cmocka_unit_test(a_refused_state_is_kept_for_a_user),
		cmocka_unit_test(the_bytes_of_refused_states_are_bounded),
		cmocka_unit_test(a_refused_state_stays_if_the_empty_file_can_not_be_written),
		cmocka_unit_test(a_refused_state_leaves_its_place_after_its_note),
		cmocka_unit_test(a_state_without_a_note_is_neither_sent_nor_removed),
		cmocka_unit_test(a_recovered_apply_is_not_recovered_again),
		cmocka_unit_test(a_folder_whose_note_can_not_be_read_stays),
		cmocka_unit_test(an_errored_state_gets_the_next_serial_and_the_lineage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
