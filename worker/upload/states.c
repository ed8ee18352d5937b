/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/states.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json/json.h"
#include "common/log.h"
#include "proto/limits.h"
#include "worker/metrics.h"
#include "worker/rescue/rescue.h"

enum { REFUSALS_MAX = 3, READS_MAX = 3 };

static void states_go_on(struct states *states);

void states_init(struct states *states, struct loop *loop, struct channel *channel, const struct workdir *dir)
{
	struct err why = ERR_INIT;

	*states = (struct states){.loop = loop,
		.channel = channel,
		.dir = dir,
		.inotify = -1,
		.bytes = BUF_INIT(MAX_STATE_BYTES),
		.base = STATE_BASE_INIT};
	leftover_compare(dir->top, NULL, NULL, &states->delivered, &why);
	delivered_write(dir->top, &states->delivered);
}

void states_differ(struct states *states)
{
	states->differences = REFUSALS_MAX;
}

void states_release(struct states *states)
{
	state_base_drop(&states->base);
	buf_release(&states->bytes);
	if (states->inotify >= 0) {
		loop_unwatch(states->loop, states->inotify);
		close(states->inotify);
	}
	states->inotify = -1;
	states->settled = NULL;
}

/* ---- sending ---- */

static void busy_set(struct states *states, bool busy)
{
	states->busy = busy;
	if (busy)
		rescue_wait(states->rescue);
	else
		rescue_rest(states->rescue);
}

static void check_settled(struct states *states)
{
	loop_work_fn fn = states->settled;

	if (!fn || states->busy || states->dirty)
		return;
	states->settled = NULL;
	fn(states->settled_data);
}

static void state_refused(struct states *states, int status, const struct buf *body)
{
	char why[300];

	answer_sentence(status, body, why, sizeof(why));
	states->refused = true;
	text_copy(states->undelivered, sizeof(states->undelivered), why);
	log_error("the scheduler did not take a state; it is kept on this worker's disk", "url", states->channel->base,
		"why", why, NULL);
}

static void state_taken(struct states *states, int status, const struct buf *body)
{
	json_auto_t *answer = NULL;
	struct err err = ERR_INIT;

	states->refused = false;
	states->detached_why[0] = states->undelivered[0] = '\0';
	metric_add(M_STATES_SENT, "", 1);
	states->delivered = states->flight;
	if (states->flight_base && status != 202) {
		state_base_set(&states->base, &states->bytes, &states->flight, clock_mono_ms());
		/* No file has this digest, so the last state is always sent whole. */
		text_copy(states->delivered.digest, sizeof(states->delivered.digest), "base");
	}
	delivered_write(states->dir->top, &states->delivered);
	if (status != 202)
		return;
	json_parse(buf_str(body), body->len, &answer, &err);
	text_copy(states->detached_why, sizeof(states->detached_why), text_or_empty(json_string_at(answer, "why")));
	log_warn("the scheduler stores a state as detached", "url", states->channel->base, "why", states->detached_why,
		"state", json_string_at(answer, "detached"), NULL);
}

static void state_answered(void *data, int status, const struct buf *body)
{
	struct states *states = data;

	busy_set(states, false);
	if (status >= 200 && status < 300)
		state_taken(states, status, body);
	else
		state_refused(states, status, body);
	states_go_on(states);
}

static void state_send(struct states *states, bool base)
{
	const struct transfer_spec spec = {
		.method = "PUT",
		.path = base ? "state?intermediate=true" : "state",
		.what = "state",
		.content_type = "application/json",
		.body = states->bytes.data,
		.body_len = states->bytes.len,
		.expects_refusal = true,
		.batched = IN_BATCH,
	};

	busy_set(states, true);
	states->flight_base = base;
	state_base_drop(&states->base);
	channel_send(states->channel, &spec, state_answered, states);
}

/* Sends the state in the file, unless the scheduler already has it or has just refused it. */
static void whole_check(struct states *states)
{
	struct err why = ERR_INIT;
	struct state_facts now;
	bool first = !states->seen;

	buf_reset(&states->bytes);
	if (leftover_compare(states->dir->top, states->delivered.digest, &states->bytes, &now, &why) !=
			LEFTOVER_CHANGED ||
		(states->refused && text_equal(now.digest, states->flight.digest)))
		return;
	states->seen = true;
	if (states->given_up)
		return;
	states->flight = now;
	state_send(states, states->differences > 0 && !first && !states->settled && state_base_fits(states->bytes.len));
}

/* ---- differences ---- */

/* If the scheduler has another base or does not support differences, the state is sent whole. */
static void difference_answered(void *data, int status, const struct buf *body)
{
	struct states *states = data;

	(void)body;
	busy_set(states, false);
	if (status >= 200 && status < 300) {
		states->refused = false;
		metric_add(M_STATES_SENT, "", 1);
	} else {
		state_base_drop(&states->base);
		states->differences--;
		states->dirty = states->dirty || status != 0;
	}
	states_go_on(states);
}

static void difference_send(struct states *states, const struct state_facts *facts, const struct buf *frame)
{
	_cleanup_(freep) char *path = mem_printf("state-difference?base=%s&serial=%lld&size=%zu",
		states->base.facts.digest, facts->serial, states->bytes.len);
	const struct transfer_spec spec = {
		.method = "PUT",
		.path = path,
		.what = "state-difference",
		.content_type = "application/octet-stream",
		.body = frame->data,
		.body_len = frame->len,
		.expects_refusal = true,
	};

	busy_set(states, true);
	channel_send(states->channel, &spec, difference_answered, states);
}

static bool changes_read(struct states *states)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool any = false;

	while (read(states->inotify, buffer, sizeof(buffer)) > 0)
		any = true;
	return any;
}

/* Reads the file without parsing it. The kernel reports a truncation before new bytes are written. So if there was
 * no report, all bytes belong to one state. */
static enum state_text file_read_still(struct states *states, struct state_facts *ret_facts)
{
	for (int reads = 0; reads < READS_MAX; reads++) {
		enum state_text text;

		buf_reset(&states->bytes);
		if (leftover_bytes(states->dir->top, &states->bytes) < 0)
			return STATE_TEXT_OTHER;
		text = state_head_read(&states->bytes, ret_facts);
		if (!changes_read(states))
			return text;
	}
	return STATE_TEXT_OTHER;
}

/* False if the state must be sent whole. */
static bool difference_check(struct states *states)
{
	_cleanup_(buf_release) struct buf frame = BUF_INIT(2 * (size_t)DIFFERENCE_STATE_MAX);
	enum state_form form;
	enum state_text text;
	struct state_facts now;

	if (states->settled || !states->base.bytes)
		return false;
	text = file_read_still(states, &now);
	if (text != STATE_TEXT_WHOLE)
		return text == STATE_TEXT_TORN; /* the end of the write will be reported too */
	form = state_base_compare(&states->base, &states->bytes, &now, clock_mono_ms(), &frame);
	if (form == STATE_AS_DIFFERENCE)
		difference_send(states, &now, &frame);
	return form != STATE_AS_WHOLE;
}

static void state_check(struct states *states)
{
	if (states->given_up || !difference_check(states))
		whole_check(states);
}

/* Reads the file if it has changed and no request is under way. */
static void states_go_on(struct states *states)
{
	if (states->busy)
		return;
	if (states->dirty) {
		states->dirty = false;
		state_check(states);
	}
	check_settled(states);
}

bool states_behind(const struct states *states, struct err *ret_unreadable)
{
	struct state_facts now;
	enum leftover found = leftover_compare(states->dir->top, states->delivered.digest, NULL, &now, ret_unreadable);

	return found == LEFTOVER_CHANGED || found == LEFTOVER_UNREADABLE;
}

void states_give_up(struct states *states)
{
	states->given_up = true;
}

void states_ended(struct states *states, const char *folder)
{
	leftover_errored(states->dir->top, folder);
}

/* ---- watching ---- */

static void folder_changed(void *data, int fd, unsigned events)
{
	struct states *states = data;

	(void)fd;
	(void)events;
	states->dirty = changes_read(states) || states->dirty;
	states_go_on(states);
}

int states_watch(struct states *states, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/root/state", states->dir->path);

	states->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (states->inotify < 0)
		return err_errno(err, "inotify");
	if (inotify_add_watch(states->inotify, path, IN_MODIFY | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ONLYDIR) < 0)
		return err_errno(err, path);
	loop_watch(states->loop, states->inotify, EPOLLIN, folder_changed, states);
	return 0;
}

void states_settle(struct states *states, loop_work_fn fn, void *data)
{
	states->settled = fn;
	states->settled_data = data;
	states->dirty = true;
	states_go_on(states);
}
