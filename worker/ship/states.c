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
#include "worker/metrics.h"

enum { STATE_LIMIT = 512 * 1024 * 1024 };

static void states_go_on(struct states *states);

bool state_complete(const char *bytes, size_t len)
{
	json_auto_t *value = NULL;

	while (len > 0 && strchr(" \t\r\n", bytes[len - 1]))
		len--;
	if (len == 0 || bytes[len - 1] != '}') /* the usual half of one: no need to read it all */
		return false;
	value = json_loadb(bytes, len, 0, NULL);
	return json_is_object(value) && json_is_integer(json_object_get(value, "serial"));
}

static int state_read(const struct states *states, struct buf *ret_bytes)
{
	struct err err = ERR_INIT;

	return beneath_read(states->dir->root, WORKDIR_STATE, ret_bytes, &err);
}

/* ---- what was delivered, for a worker that is started again (ship/unsent) ---- */

static void delivered_record(const struct states *states)
{
	struct err err = ERR_INIT;

	if (beneath_write(states->dir->top, "delivered", 0600, states->delivered, strlen(states->delivered), &err) < 0)
		log_warn("what was delivered can't be noted", "why", err.message, NULL);
}

void states_init(struct states *states, struct loop *loop, struct channel *channel, const struct workdir *dir)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(STATE_LIMIT);

	*states = (struct states){.loop = loop, .channel = channel, .dir = dir, .inotify = -1};
	if (state_read(states, &bytes) == 0)
		crypto_sha256_hex(bytes.data, bytes.len, states->delivered);
	delivered_record(states);
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
	log_error("the scheduler refused a state; it is kept on this worker's disk", "url", states->channel->base,
		"why", why, NULL);
}

static void state_answered(void *data, int status, const struct buf *body)
{
	struct states *states = data;

	states->busy = false;
	if (status >= 200 && status < 300) {
		states->refused = false;
		memcpy(states->delivered, states->flight, sizeof(states->delivered));
		delivered_record(states);
		metric_add(M_STATES_SENT, "", 1);
	} else {
		state_refused(states, status, body);
	}
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
	};

	states->busy = true;
	channel_send(states->channel, &spec, state_answered, states);
}

/* Sends what is in the file, unless the scheduler has it or has just refused it. */
static void state_check(struct states *states)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(STATE_LIMIT);
	char now[SHA256_HEX_SIZE];

	if (state_read(states, &bytes) < 0 || !state_complete(buf_str(&bytes), bytes.len))
		return;
	crypto_sha256_hex(bytes.data, bytes.len, now);
	if (text_equal(now, states->delivered) || (states->refused && text_equal(now, states->flight)))
		return;
	memcpy(states->flight, now, sizeof(now));
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

bool states_behind(const struct states *states)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(STATE_LIMIT);
	char now[SHA256_HEX_SIZE];

	if (state_read(states, &bytes) < 0 || !state_complete(buf_str(&bytes), bytes.len))
		return false;
	crypto_sha256_hex(bytes.data, bytes.len, now);
	return !text_equal(now, states->delivered);
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
