/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/helper/serve.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/process.h"
#include "scheduler/helper/confine.h"
#include "scheduler/helper/wire.h"

/* ---- one request ---- */

static json_t *failure_of(const struct err *err)
{
	return json_pack("{ss}", err->kind == ERR_INVALID ? "refused" : "failed", err->message);
}

static json_t *answer_make(const struct helper_operation *operations, const json_t *request)
{
	const char *name = text_or_empty(json_string_at(request, "do"));
	json_auto_t *answer = json_object();
	struct err err = ERR_INIT;

	for (const struct helper_operation *operation = operations; operation->name; operation++) {
		if (!text_equal(name, operation->name))
			continue;
		if (operation->run(request, answer, &err) == 0)
			return json_pack("{sO}", "answer", answer);
		return failure_of(&err);
	}
	err_set(&err, ERR_INTERNAL, "there is no operation \"%.40s\"", name);
	return failure_of(&err);
}

/* ---- the connection ---- */

/* Returns 1; 0 if the other end is closed; -1 with errno. */
static int read_fully(int fd, void *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t count = read(fd, (char *)bytes + at, len - at);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return (int)count;
		at += (size_t)count;
	}
	return 1;
}

static int message_read(int fd, json_t **ret_request)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(WIRE_MAX);
	char head[WIRE_HEAD];
	struct err ignored = ERR_INIT;
	int result = read_fully(fd, head, sizeof(head));
	size_t len;

	if (result <= 0)
		return result;
	len = wire_head_read(head);
	if (buf_grow(&text, len) < 0)
		return -1;
	result = read_fully(fd, text.data, len);
	if (result <= 0)
		return result;
	return json_parse(text.data, len, ret_request, &ignored) < 0 ? -1 : 1;
}

static int message_write(int fd, const json_t *answer)
{
	size_t len = 0;
	_cleanup_(freep) char *text = json_text_len(answer, &len);
	char head[WIRE_HEAD];

	wire_head_write(head, len);
	return len <= WIRE_MAX && write_fully(fd, head, sizeof(head)) == 0 ? write_fully(fd, text, len) : -1;
}

/* Returns 0 when the other end is closed, and -1 if a message has not the form of wire.h. */
static int serve(int fd, const struct helper_operation *operations)
{
	for (;;) {
		json_auto_t *request = NULL, *answer = NULL;
		int result = message_read(fd, &request);

		if (result <= 0)
			return result;
		answer = answer_make(operations, request);
		if (message_write(fd, answer) < 0)
			return -1;
	}
}

/* ---- the program ---- */

#ifdef __SANITIZE_ADDRESS__
/* The search for leaks needs ptrace, which the system call filter refuses. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

void helper_main(const struct helper_program *program)
{
	struct err err = ERR_INIT;

	if (program->init() < 0)
		err_set(&err, ERR_INTERNAL, "its library can't be initialized");
	else
		confine(program->name, &err);
	if (err.kind != ERR_NONE) {
		fprintf(stderr, "%s: %s\n", program->name, err.message);
		_exit(1);
	}
	_exit(serve(STDIN_FILENO, program->operations) < 0 ? 1 : 0); /* without the libraries' clean-up */
}
