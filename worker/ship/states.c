/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/ship/states.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "proto/limits.h"
#include "worker/metrics.h"

static void states_go_on(struct states *states);

void states_init(struct states *states, struct loop *loop, struct channel *channel, const struct workdir *dir)
{
	struct err why = ERR_INIT;

	*states = (struct states){.loop = loop, .channel = channel, .dir = dir, .inotify = -1};
	leftover_compare(dir->top, NULL, NULL, &states->delivered, &why);
	delivered_write(dir->top, &states->delivered);
}

void states_release(struct states *states)
{
	if (states->inotify >= 0) {
		loop_unwatch(states->loop, states->inotify);
		close(states->inotify);
	}
	states->inotify = -1;
	states->settled = NULL;
}

/* ---- sending ---- */

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
	if (status == 0)
		text_copy(states->undelivered, sizeof(states->undelivered), why);
	log_error("the scheduler did not take a state; it is kept on this worker's disk", "url", states->channel->base,
		"why", why, NULL);
}

static void state_taken(struct states *states, int status, const struct buf *body)
{
	json_auto_t *answer = NULL;
	struct err err = ERR_INIT;

	states->refused = false;
	states->beside[0] = states->undelivered[0] = '\0';
	states->delivered = states->flight;
	delivered_write(states->dir->top, &states->delivered);
	metric_add(M_STATES_SENT, "", 1);
	if (status != 202)
		return;
	json_parse(buf_str(body), body->len, &answer, &err);
	text_copy(states->beside, sizeof(states->beside), text_or_empty(json_string_at(answer, "why")));
	log_warn("the scheduler keeps a state beside the workspace's", "url", states->channel->base, "why",
		states->beside, "state", json_string_at(answer, "kept-beside"), NULL);
}

static void state_answered(void *data, int status, const struct buf *body)
{
	struct states *states = data;

	states->busy = false;
	if (status >= 200 && status < 300)
		state_taken(states, status, body);
	else
		state_refused(states, status, body);
	states_go_on(states);
}

static void state_send(struct states *states, const struct buf *bytes)
{
	const struct transfer_spec spec = {
		.method = "PUT",
		.path = "state",
		.what = "state",
		.content_type = "application/json",
		.body = bytes->data,
		.body_len = bytes->len,
		.expects_refusal = true,
		.parcelled = IN_PARCEL,
	};

	states->busy = true;
	channel_send(states->channel, &spec, state_answered, states);
}

/* Sends what is in the file, unless the scheduler has it or has just refused it. */
static void state_check(struct states *states)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(MAX_STATE_BYTES);
	struct err why = ERR_INIT;
	struct state_facts now;

	if (leftover_compare(states->dir->top, states->delivered.digest, &bytes, &now, &why) != LEFTOVER_CHANGED ||
		(states->refused && text_equal(now.digest, states->flight.digest)))
		return;
	states->seen = true;
	states->flight = now;
	state_send(states, &bytes);
}

/* Reads the file if it changed and nothing is under way. */
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

void states_ended(struct states *states, const char *folder)
{
	leftover_errored(states->dir->top, folder);
}

/* ---- watching ---- */

static void folder_changed(void *data, int fd, unsigned events)
{
	struct states *states = data;
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	(void)events;
	while (read(fd, buffer, sizeof(buffer)) > 0)
		states->dirty = true;
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
