/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/bounded.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/err.h"
#include "common/loop/loop.h"
#include "worker/exec/child.h"
#include "worker/exec/sandbox.h"

enum { CHUNK = 64 * 1024 };

struct bounded;

/* One of the program's outputs. */
struct stream {
	struct bounded *bounded;
	int fd; /* read end, or -1 */
	struct buf bytes;
	enum bounded_end over;
};

struct bounded {
	struct loop *loop;
	struct child *child;
	struct stream out, errors;
	struct loop_timer timer;
	enum bounded_end end;
	struct bounded_spec spec;
};

static void bounded_kill(struct bounded *bounded, enum bounded_end why)
{
	if (bounded->end != BOUNDED_ENDED)
		return;
	bounded->end = why;
	if (bounded->child)
		child_kill(bounded->child);
}

static void stream_close(struct stream *stream)
{
	if (stream->fd < 0)
		return;
	loop_unwatch(stream->bounded->loop, stream->fd);
	closep(&stream->fd);
}

/* Keeps as many bytes as fit. False if there is nothing more to read now. */
static bool stream_read(struct stream *stream)
{
	char chunk[CHUNK];
	ssize_t got = read(stream->fd, chunk, sizeof(chunk));
	size_t room = stream->bytes.limit - stream->bytes.len;

	if (got <= 0) {
		if (got == 0)
			stream_close(stream);
		return false;
	}
	buf_append(&stream->bytes, chunk, (size_t)got < room ? (size_t)got : room);
	if ((size_t)got > room)
		bounded_kill(stream->bounded, stream->over);
	return true;
}

static void stream_came(void *data, int fd, unsigned events)
{
	(void)fd;
	(void)events;
	stream_read(data);
}

static void time_is_up(void *data)
{
	bounded_kill(data, BOUNDED_TIME);
}

static void bounded_free(struct bounded *bounded)
{
	loop_timer_clear(bounded->loop, &bounded->timer);
	stream_close(&bounded->out);
	stream_close(&bounded->errors);
	buf_release(&bounded->out.bytes);
	buf_release(&bounded->errors.bytes);
	free(bounded);
}

/* Runs when all processes are gone, so the pipes hold the rest of the output. */
static void bounded_ended(void *data, const struct keeper_report *report)
{
	struct bounded *bounded = data;
	struct stream *const streams[] = {&bounded->out, &bounded->errors};
	struct bounded_result result;

	bounded->child = NULL;
	for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
		while (bounded->end == BOUNDED_ENDED && streams[i]->fd >= 0 && stream_read(streams[i]))
			;
	}
	result = (struct bounded_result){.end = bounded->end,
		.status = report->status,
		.why = report->why,
		.out = &bounded->out.bytes,
		.errors = &bounded->errors.bytes};
	bounded->spec.done(bounded->spec.data, &result);
	bounded_free(bounded);
}

static int stream_open(
	struct stream *stream, struct bounded *bounded, size_t max, enum bounded_end over, int *ret_write)
{
	int pipe_fds[2];

	stream->bounded = bounded;
	stream->bytes = (struct buf)BUF_INIT(max);
	stream->over = over;
	stream->fd = -1;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -1;
	fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
	stream->fd = pipe_fds[0];
	*ret_write = pipe_fds[1];
	return 0;
}

static int start_child(struct bounded *bounded, int out, int errors, struct err *err)
{
	const struct sandbox_start *start = bounded->spec.start;
	const struct child_spec spec = {
		.ended = bounded_ended,
		.data = bounded,
		.argv = start->argv.items,
		.env = start->env.items ? start->env.items : (char *[]){NULL},
		.folder = start->folder,
		.fds = {bounded->spec.in > 0 ? bounded->spec.in : -1, out, errors, start->args_fd, start->second_fd},
		.network = bounded->spec.network,
		.terms = bounded->spec.terms,
	};

	return child_start(bounded->loop, &spec, &bounded->child, err);
}

int bounded_start(struct loop *loop, const struct bounded_spec *spec, struct child **ret_child, struct err *err)
{
	struct bounded *bounded = mem_new(1, sizeof(*bounded));
	_cleanup_(closep) int out = -1, errors = -1;

	*bounded = (struct bounded){.loop = loop, .spec = *spec};
	bounded->out.fd = bounded->errors.fd = -1;
	bounded->out.bounded = bounded->errors.bounded = bounded;
	if (stream_open(&bounded->out, bounded, spec->max_out, BOUNDED_OUT, &out) < 0 ||
		stream_open(&bounded->errors, bounded, spec->max_errors, BOUNDED_ERRORS, &errors) < 0) {
		err_errno(err, "pipe");
		bounded_free(bounded);
		return -1;
	}
	if (start_child(bounded, out, errors, err) < 0) {
		bounded_free(bounded);
		return -1;
	}
	loop_watch(loop, bounded->out.fd, EPOLLIN, stream_came, &bounded->out);
	loop_watch(loop, bounded->errors.fd, EPOLLIN, stream_came, &bounded->errors);
	loop_timer_set(loop, &bounded->timer, spec->max_ms, time_is_up, bounded);
	*ret_child = bounded->child;
	return 0;
}
