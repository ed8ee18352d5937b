/* SPDX-License-Identifier: MPL-2.0 */
#include "common/httpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "common/certificate.h"
#include "common/err.h"
#include "common/metrics.h"

enum { IDLE_SECONDS = 75, METRICS_LIMIT = 16 << 20, CONNECTION_MEMORY = 32 << 10, BACKLOG = 4096, SENDING_SECONDS = 5 };

struct httpd {
	struct httpd_spec spec;
	struct MHD_Daemon *daemon;
	int listener;
	int port;
	atomic_size_t body_bytes; /* of all requests */
	pthread_mutex_t mutex;
	pthread_cond_t sent;
	size_t later; /* requests whose answer came later, or comes, and is not sent yet */
};

/* One request from its headers to its end. The handler sees the request alone. */
struct http_pending {
	struct http_request request; /* first: what the handler is given points here */
	struct httpd *server;
	bool later; /* the answer comes by http_answer_now */
	struct http_answer answer;
};

const char *http_header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void http_address(const struct http_request *request, char *ret_address, size_t size)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr_in *from = info ? (const struct sockaddr_in *)(const void *)info->client_addr : NULL;

	*ret_address = '\0';
	if (from && from->sin_family == AF_INET)
		inet_ntop(AF_INET, &from->sin_addr, ret_address, (socklen_t)size);
}

const char *http_query(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct last_header {
	const char *name, *value;
};

static enum MHD_Result last_visit(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct last_header *last = cls;

	(void)kind;
	if (strcasecmp(name, last->name) == 0)
		last->value = value;
	return MHD_YES;
}

const char *http_header_last(const struct http_request *request, const char *name)
{
	struct last_header last = {.name = name};

	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, last_visit, &last);
	return last.value;
}

const char *http_cookie(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
}

enum { OWN_HEADERS_LIMIT = 16 << 10 };

void http_add_header(struct http_answer *answer, const char *name, const char *value)
{
	answer->own.limit = OWN_HEADERS_LIMIT;
	buf_printf(&answer->own, "%s\n%.*s\n", name, (int)strcspn(value, "\r\n"), value);
}

struct each_query {
	void (*each)(void *data, const char *name, const char *value);
	void *data;
};

static enum MHD_Result query_visit(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct each_query *visit = cls;

	(void)kind;
	visit->each(visit->data, name, text_or_empty(value));
	return MHD_YES;
}

void http_query_each(
	const struct http_request *request, void (*each)(void *data, const char *name, const char *value), void *data)
{
	struct each_query visit = {each, data};

	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, query_visit, &visit);
}

/* False for want of memory; a value that no header can have is left out. */
static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
	return !value || !*value || MHD_add_response_header(response, name, value) == MHD_YES ||
		strpbrk(value, "\t\r\n");
}

static bool add_own_headers(struct MHD_Response *response, struct http_answer *answer)
{
	_cleanup_(freep) char *text = buf_take(&answer->own);
	char *rest = text, *name, *value;

	while ((name = strsep(&rest, "\n")) && (value = strsep(&rest, "\n")))
		if (!add_header(response, name, value))
			return false;
	return true;
}

static bool add_headers(struct MHD_Response *response, struct http_answer *answer)
{
	for (size_t i = 0; answer->extra && answer->extra[i][0]; i++)
		if (!add_header(response, answer->extra[i][0], answer->extra[i][1]))
			return false;
	return add_header(response, "Content-Type", answer->content_type) &&
		add_header(response, "Location", answer->location) &&
		add_header(response, "Retry-After", answer->retry_after) && add_own_headers(response, answer);
}

static enum MHD_Result answer_send(struct MHD_Connection *connection, struct http_answer *answer)
{
	size_t len = answer->body.len;
	char *bytes = buf_take(&answer->body);
	struct MHD_Response *response = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result = MHD_NO; /* the connection ends without an answer */

	if (!response) {
		free(bytes);
		return MHD_NO;
	}
	/* One without its headers would be another answer: no place to go on at, no word of when to ask again. */
	if (add_headers(response, answer))
		result = MHD_queue_response(connection, (unsigned int)answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static void later_count(struct httpd *server, int by)
{
	pthread_mutex_lock(&server->mutex);
	server->later += (size_t)by;
	if (server->later == 0)
		pthread_cond_signal(&server->sent);
	pthread_mutex_unlock(&server->mutex);
}

struct http_pending *http_later(const struct http_request *request)
{
	struct http_pending *pending = (struct http_pending *)(uintptr_t)request;

	pending->later = true;
	later_count(pending->server, 1);
	MHD_suspend_connection(request->connection);
	return pending;
}

void http_answer_now(struct http_pending *pending, struct http_answer *answer)
{
	pending->answer = *answer;
	MHD_resume_connection(pending->request.connection);
}

static struct http_pending *request_begin(
	struct httpd *server, struct MHD_Connection *connection, const char *path, const char *method)
{
	struct http_pending *pending = mem_new(1, sizeof(*pending));
	struct http_request *request = &pending->request;
	const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
	long long announced = -1;

	pending->server = server;
	/* MHD itself refuses a Content-Length that is no number. */
	text_number(length, 0, INT64_MAX, &announced);
	request->connection = connection;
	request->method = method;
	request->path = path;
	if (server->spec.body_limit)
		request->body.limit = server->spec.body_limit(server->spec.data, request, announced);
	if (announced > 0 && (size_t)announced > request->body.limit)
		request->body_refused = "too large";
	return pending;
}

/* What is refused is read and dropped, so that the client gets to read the answer. */
static void body_take(struct httpd *server, struct http_request *request, const char *bytes, size_t len)
{
	size_t most = server->spec.most_body_bytes;

	if (request->body_refused)
		return;
	if (most && atomic_load(&server->body_bytes) + len > most)
		request->body_refused = "busy";
	else if (buf_append(&request->body, bytes, len) < 0)
		request->body_refused = "too large";
	else
		atomic_fetch_add(&server->body_bytes, len);
}

static enum MHD_Result request_access(void *cls, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *bytes, size_t *len, void **state)
{
	struct httpd *server = cls;
	struct http_pending *pending = *state;
	struct http_answer answer = {.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};

	(void)version;
	if (!pending) {
		*state = request_begin(server, connection, path, method);
		return MHD_YES;
	}
	if (pending->later)
		return answer_send(connection, &pending->answer);
	if (*len) {
		body_take(server, &pending->request, bytes, *len);
		*len = 0;
		return MHD_YES;
	}
	pending->request.method = method;
	pending->request.path = path;
	server->spec.handle(server->spec.data, &pending->request, &answer);
	if (pending->later) {
		buf_release(&answer.body);
		buf_release(&answer.own);
		return MHD_YES;
	}
	return answer_send(connection, &answer);
}

static void request_completed(
	void *cls, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
	struct http_pending *pending = *state;

	(void)cls;
	(void)connection;
	(void)code;
	if (!pending)
		return;
	atomic_fetch_sub(&pending->server->body_bytes, pending->request.body.len);
	if (pending->later)
		later_count(pending->server, -1);
	buf_release(&pending->request.body);
	buf_release(&pending->answer.body);
	buf_release(&pending->answer.own);
	free(pending);
	*state = NULL;
}

static int listener_open(const char *address, int *ret_port, struct err *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof(at);
	char host[64] = "";
	const char *colon = strrchr(address, ':');
	long long port;
	int yes = 1;
	int fd;

	if (!colon || (size_t)(colon - address) >= sizeof(host) || text_number(colon + 1, 0, 65535, &port) < 0)
		return err_set(err, ERR_INVALID, "'%s' is no address: host:port is needed", address);
	text_copy(host, (size_t)(colon - address) + 1, address);
	if (inet_pton(AF_INET, host, &at.sin_addr) != 1)
		return err_set(err, ERR_INVALID, "'%s' is no IPv4 address", host);
	at.sin_port = htons((uint16_t)port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(err, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, BACKLOG) < 0 ||
		getsockname(fd, (struct sockaddr *)&at, &size) < 0) {
		err_errno(err, address);
		closep(&fd);
		return -1;
	}
	*ret_port = ntohs(at.sin_port);
	return fd;
}

/* NULL if libmicrohttpd does not say why it can't. */
static struct MHD_Daemon *daemon_start(struct httpd *server)
{
	const struct httpd_spec *spec = &server->spec;
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)certificate_priorities},
		{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, certificate_callback()},
		{MHD_OPTION_END, 0, NULL},
	};
	unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME;

	return MHD_start_daemon(spec->tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, request_access, server,
		MHD_OPTION_LISTEN_SOCKET, server->listener, MHD_OPTION_THREAD_POOL_SIZE, (unsigned int)spec->threads,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)spec->most_connections, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		spec->connection_memory ? spec->connection_memory : (size_t)CONNECTION_MEMORY,
		MHD_OPTION_NOTIFY_COMPLETED, request_completed, server, MHD_OPTION_ARRAY,
		spec->tls ? tls : &tls[ARRAY_LEN(tls) - 1], MHD_OPTION_END);
}

int httpd_start(const struct httpd_spec *spec, struct httpd **ret_server, struct err *err)
{
	struct httpd *server = mem_new(1, sizeof(*server));

	server->spec = *spec;
	pthread_mutex_init(&server->mutex, NULL);
	pthread_cond_init(&server->sent, NULL);
	server->listener = listener_open(spec->address, &server->port, err);
	if (server->listener < 0) {
		free(server);
		return -1;
	}
	server->daemon = daemon_start(server);
	if (!server->daemon) {
		closep(&server->listener);
		free(server);
		return err_set(err, ERR_INTERNAL, "the HTTP server does not start on %s", spec->address);
	}
	*ret_server = server;
	return 0;
}

int httpd_port(const struct httpd *server)
{
	return server->port;
}

int httpd_write_port(const struct httpd *server, const char *path, struct err *err)
{
	_cleanup_(freep) char *draft = mem_printf("%s.new", path);
	FILE *file = fopen(draft, "we");
	bool written;

	if (!file)
		return err_errno(err, draft);
	written = fprintf(file, "%d\n", server->port) > 0;
	written = fclose(file) == 0 && written;
	if (!written || rename(draft, path) < 0)
		return err_errno(err, path);
	return 0;
}

/* Stopping closes connections with what was not sent on them: an answer that just came has a moment for that. */
static void later_wait(struct httpd *server)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SENDING_SECONDS;
	pthread_mutex_lock(&server->mutex);
	while (server->later > 0 && pthread_cond_timedwait(&server->sent, &server->mutex, &until) == 0)
		;
	pthread_mutex_unlock(&server->mutex);
}

void httpd_stop(struct httpd *server)
{
	if (!server)
		return;
	later_wait(server);
	MHD_stop_daemon(server->daemon); /* closes the listener too */
	pthread_cond_destroy(&server->sent);
	pthread_mutex_destroy(&server->mutex);
	free(server);
}

bool httpd_observe(const struct http_request *request, bool (*ready)(void *data, struct buf *why), void *data,
	struct http_answer *answer)
{
	struct buf text = BUF_INIT(METRICS_LIMIT);

	if (text_equal(request->path, "/healthz")) {
		buf_text(&text, "ok\n");
	} else if (text_equal(request->path, "/readyz")) {
		if (ready && !ready(data, &text))
			answer->status = 503;
		else
			buf_text(&text, "ready\n");
	} else if (text_equal(request->path, "/metrics")) {
		metrics_write(&text);
	} else {
		return false;
	}
	answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
	answer->body = text;
	return true;
}
