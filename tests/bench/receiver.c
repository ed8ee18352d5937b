/* SPDX-License-Identifier: MPL-2.0 */
/*
 * receiver COUNT DELAY_MS: a run-task service for the benchmark. It writes its port, and answers each request 200
 * after the delay. It sends the callback at once over a connection of its own. When COUNT callbacks were answered
 * 200, it prints the times of the events (seconds of CLOCK_MONOTONIC) and the number of repeated callbacks.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 16384, AGAIN_MS = 1000 };

/* A connection from or to the notifier. */
struct connection {
	int fd;
	bool out;
	char read[READ_SIZE];
	size_t len;
	char token[256], host[64], path[256]; /* the callback's destination */
	double due;
	struct connection *next; /* in the list of those that wait for their time */
};

static int epoll, listener;
static struct connection *first, **last = &first;
static double first_request, last_request, last_callback;
static long requests, called_back, again, wanted;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void watch(struct connection *connection, unsigned events, int what)
{
	struct epoll_event event = {.events = events, .data.ptr = connection};

	epoll_ctl(epoll, what, connection->fd, &event);
}

static void wait_for(struct connection *connection, double seconds)
{
	connection->due = now() + seconds;
	connection->next = NULL;
	*last = connection;
	last = &connection->next;
}

/* Copies the text after `name` up to `end`. */
static void find(const char *text, const char *name, char end, char *ret_value, size_t size)
{
	const char *at = strstr(text, name);
	const char *stop = at ? strchr(at + strlen(name), end) : NULL;

	ret_value[0] = '\0';
	if (stop && (size_t)(stop - at) < size + strlen(name))
		snprintf(ret_value, size, "%.*s", (int)(stop - at - (long)strlen(name)), at + strlen(name));
}

/* Returns the length of the whole message, or 0 if it is not complete. */
static size_t message(const struct connection *connection)
{
	const char *body = strstr(connection->read, "\r\n\r\n");
	const char *length = strcasestr(connection->read, "Content-Length:");
	size_t len = body ? (size_t)(body + 4 - connection->read) : 0;

	if (body && length)
		len += strtoul(length + 15, NULL, 10);
	return len && connection->len >= len ? len : 0;
}

/* ---- the callback ---- */

static void call_back(struct connection *connection)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	char *colon;

	connection->out = true;
	connection->len = 0;
	connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	colon = strchr(connection->host, ':');
	to.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	if (connect(connection->fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
		perror("connect");
	watch(connection, EPOLLOUT, EPOLL_CTL_ADD);
}

static void call_send(struct connection *connection)
{
	static const char body[] = "{\"data\":{\"type\":\"task-results\",\"attributes\":{\"status\":\"passed\","
				   "\"message\":\"4 passed\"}}}";
	char text[2048];
	int len = snprintf(text, sizeof(text),
		"PATCH %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: "
		"application/vnd.api+json\r\n"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		connection->path, connection->host, connection->token, strlen(body), body);

	if (write(connection->fd, text, (size_t)len) == len)
		watch(connection, EPOLLIN, EPOLL_CTL_MOD);
}

static void call_ended(struct connection *connection)
{
	bool taken = connection->len > 12 && memcmp(connection->read + 9, "200", 3) == 0;

	close(connection->fd);
	connection->fd = -1;
	if (!taken) {
		again++;
		wait_for(connection, AGAIN_MS / 1000.0);
		return;
	}
	last_callback = now();
	called_back++;
	free(connection);
}

/* ---- the request ---- */

static void request_came(struct connection *connection)
{
	char url[512];

	find(connection->read, "\"access_token\":\"", '"', connection->token, sizeof(connection->token));
	find(connection->read, "\"task_result_callback_url\":\"", '"', url, sizeof(url));
	find(url, "http://", '/', connection->host, sizeof(connection->host));
	snprintf(connection->path, sizeof(connection->path), "%s", strchr(url + 8, '/'));
	last_request = now();
	if (!requests++)
		first_request = last_request;
}

static void answer(struct connection *connection)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

	if (connection->fd >= 0) {
		if (write(connection->fd, text, strlen(text)) < 0)
			perror("answer");
		close(connection->fd);
	}
	call_back(connection);
}

static void readable(struct connection *connection, double delay)
{
	ssize_t got = read(connection->fd, connection->read + connection->len, READ_SIZE - 1 - connection->len);

	if (got > 0) {
		connection->len += (size_t)got;
		connection->read[connection->len] = '\0';
	}
	if (connection->out && (got <= 0 || message(connection))) {
		call_ended(connection);
	} else if (!connection->out && message(connection)) {
		watch(connection, 0, EPOLL_CTL_MOD);
		request_came(connection);
		wait_for(connection, delay);
	} else if (got <= 0) {
		close(connection->fd);
		free(connection);
	}
}

static void accept_all(void)
{
	struct connection *connection;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		connection = calloc(1, sizeof(*connection));
		connection->fd = fd;
		watch(connection, EPOLLIN, EPOLL_CTL_ADD);
	}
}

static void listen_on_any(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
	struct epoll_event event = {.events = EPOLLIN};
	socklen_t size = sizeof(at);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(listener, (struct sockaddr *)&at, size) < 0 || listen(listener, 4096) < 0)
		exit(1);
	getsockname(listener, (struct sockaddr *)&at, &size);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	printf("%d\n", ntohs(at.sin_port));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	double delay = argc > 2 ? strtod(argv[2], NULL) / 1000 : 2;
	struct rlimit limit;
	struct epoll_event events[256];

	wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 5000;
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	epoll = epoll_create1(0);
	listen_on_any();
	while (called_back < wanted) {
		double left = first ? first->due - now() : 1;
		int count = epoll_wait(epoll, events, 256, left > 0 ? (int)(left * 1000) + 1 : 0);

		for (int i = 0; i < count; i++) {
			struct connection *connection = events[i].data.ptr;

			if (!connection)
				accept_all();
			else if (connection->out && !(events[i].events & EPOLLIN) && connection->len == 0 &&
				(events[i].events & EPOLLOUT))
				call_send(connection);
			else
				readable(connection, delay);
		}
		while (first && first->due <= now()) {
			struct connection *connection = first;

			first = connection->next;
			if (!first)
				last = &first;
			answer(connection);
		}
	}
	printf("{\"requests\": %ld, \"again\": %ld, \"first\": %.6f, \"last\": %.6f, \"called-back\": %.6f}\n",
		requests, again, first_request, last_request, last_callback);
	return 0;
}
