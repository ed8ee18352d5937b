/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/httpd.h"
#include "common/memory.h"

enum { LARGE = 16 << 20 };

/* The handler of /slow says that it was entered, and waits for leave to go on. */
struct slow {
	sem_t entered, may_go_on;
};

static void handle(void *data, const struct http_request *request, struct http_answer *answer)
{
	struct slow *slow = data;

	if (strcmp(request->path, "/large") == 0 || strcmp(request->path, "/job") == 0) {
		_cleanup_(freep) char *text = mem_new(LARGE, 1);

		buf_append(&answer->body, text, LARGE);
		return;
	}
	if (strcmp(request->path, "/slow") == 0) {
		sem_post(&slow->entered);
		sem_wait(&slow->may_go_on);
	}
	buf_text(&answer->body, "done");
}

static int connection_open(int port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* `line` is "GET /path". */
static void request_send(int fd, const char *line)
{
	_cleanup_(freep) char *text = mem_printf("%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", line);

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* The status of the answer; 0: the connection ended without one. Closes the connection. */
static int answer_status(int fd)
{
	char text[1024] = "";
	size_t len = 0;
	ssize_t got;
	int status = 0;

	while ((got = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0)
		len += (size_t)got;
	close(fd);
	return sscanf(text, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/* 0 if there is no connection or no answer. */
static int status_of(int port, const char *line)
{
	int fd = connection_open(port);

	if (fd < 0)
		return 0;
	request_send(fd, line);
	return answer_status(fd);
}

static void *server_stop(void *server)
{
	httpd_stop(server);
	return NULL;
}

static void a_handled_request_is_answered_while_the_server_stops(void **state)
{
	struct slow slow;
	const struct httpd_spec spec = {
		.address = "127.0.0.1:0", .threads = 2, .max_connections = 10, .handle = handle, .data = &slow};
	struct httpd *server = NULL;
	struct err err = ERR_INIT;
	pthread_t stopper;
	int port, fd;

	(void)state;
	sem_init(&slow.entered, 0, 0);
	sem_init(&slow.may_go_on, 0, 0);
	assert_int_equal(httpd_start(&spec, &server, &err), 0);
	port = httpd_port(server);
	fd = connection_open(port);
	request_send(fd, "GET /slow");
	sem_wait(&slow.entered);
	assert_int_equal(pthread_create(&stopper, NULL, server_stop, server), 0);
	while (status_of(port, "GET /other") == 200)
		;
	sem_post(&slow.may_go_on);
	assert_int_equal(answer_status(fd), 200);
	pthread_join(stopper, NULL);
}

static enum http_budget answer_budget(const struct http_request *request)
{
	return strcmp(request->path, "/job") == 0 ? HTTP_BUDGET_JOBS : HTTP_BUDGET_ANSWERS;
}

/* An answer stays in memory until its client has read it. */
static void large_answers_have_a_budget(void **state)
{
	const struct httpd_spec spec = {.address = "127.0.0.1:0",
		.threads = 2,
		.max_connections = 10,
		.budgets = {[HTTP_BUDGET_ANSWERS] = 4 * LARGE},
		.answer_budget = answer_budget,
		.handle = handle};
	struct httpd *server = NULL;
	struct err err = ERR_INIT;
	int waiting[2], port, status;

	(void)state;
	assert_int_equal(httpd_start(&spec, &server, &err), 0);
	port = httpd_port(server);
	for (size_t i = 0; i < ARRAY_LEN(waiting); i++) {
		char first;

		waiting[i] = connection_open(port);
		request_send(waiting[i], "GET /large");
		assert_int_equal(recv(waiting[i], &first, 1, MSG_PEEK), 1);
	}
	assert_int_equal(status_of(port, "GET /large"), 503);
	assert_int_equal(status_of(port, "GET /other"), 200);
	assert_int_equal(status_of(port, "GET /job"), 200);
	assert_int_equal(status_of(port, "POST /large"), 200); /* what it did is done */
	assert_int_equal(answer_status(waiting[0]), 200);
	while ((status = status_of(port, "GET /large")) == 503)
		; /* the connection's end is noticed a moment later */
	assert_int_equal(status, 200);
	close(waiting[1]);
	httpd_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handled_request_is_answered_while_the_server_stops),
		cmocka_unit_test(large_answers_have_a_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
