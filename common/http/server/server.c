/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/server/pending.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/http/certificate.h"
#include "common/http/guard.h"
#include "common/http/http_head.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "common/memory.h"
#include "common/metrics.h"

enum {
	IDLE_SECONDS = 75,
	REQUEST_SECONDS = 30,
	BYTES_PER_SECOND = 8 << 10, /* the minimum rate of a body and of an answer */
	WATCH_MS = 500,
	METRICS_LIMIT = 64 << 20,
	CONNECTION_MEMORY = 32 << 10,
	BACKLOG = 4096,
	SENDING_SECONDS = 5,
};

/* Of the library's parser, where it has a choice (http_head.h). */
#if MHD_VERSION >= 0x01000000
static const struct MHD_OptionItem strictness = {MHD_OPTION_CLIENT_DISCIPLINE_LVL, 2, NULL};
#else
static const struct MHD_OptionItem strictness = {MHD_OPTION_END, 0, NULL};
#endif

static void budget_return(struct http_pending *pending)
{
	if (!pending->budget_bytes)
		return;
	atomic_fetch_sub(&pending->server->body_bytes[pending->budget], pending->budget_bytes);
	http_share_return(pending->share, pending->budget, pending->budget_bytes);
	pending->budget_bytes = 0;
}

bool httpd_budget_take(struct http_pending *pending, size_t bytes)
{
	size_t max = pending->server->spec.budgets[pending->budget];
	atomic_size_t *used = &pending->server->body_bytes[pending->budget];

	if (!http_share_take(pending->share, pending->budget, bytes, max ? max / 2 : SIZE_MAX / 2))
		return false;
	if (atomic_fetch_add(used, bytes) + bytes > (max ? max : SIZE_MAX / 2)) {
		atomic_fetch_sub(used, bytes);
		http_share_return(pending->share, pending->budget, bytes);
		return false;
	}
	pending->budget_bytes += bytes;
	return true;
}

void httpd_body_release(struct http_pending *pending)
{
	memory_used(pending->request.body.len);
	buf_release(&pending->request.body);
	budget_return(pending);
}

int64_t httpd_time_for(const struct httpd *server, size_t bytes)
{
	return ((int64_t)server->spec.request_seconds + (int64_t)(bytes / BYTES_PER_SECOND)) * 1000;
}

/* Counts the request until its answer is sent. False: the server stops, so the request is not handled. */
static bool unsent_add(struct http_pending *pending)
{
	struct httpd *server = pending->server;

	pthread_mutex_lock(&server->mutex);
	pending->counted = !server->stops;
	server->unsent += pending->counted;
	pthread_mutex_unlock(&server->mutex);
	return pending->counted;
}

static void unsent_remove(struct httpd *server)
{
	pthread_mutex_lock(&server->mutex);
	if (--server->unsent == 0)
		pthread_cond_signal(&server->sent);
	pthread_mutex_unlock(&server->mutex);
}

/* ---- a request's header ---- */

static bool is_proxy(const struct httpd *server, const char *address)
{
	return server->spec.proxies && guard_allows(server->spec.proxies, address);
}

static struct http_client *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* The request line was read. The rest of the header gets a deadline of its own. */
static void *request_line(void *cls, const char *target, struct MHD_Connection *connection)
{
	struct http_pending *pending = mem_new(1, sizeof(*pending));
	int64_t now = clock_mono_ms();

	pending->server = cls;
	pending->client = client_of(connection);
	pending->request.connection = connection;
	pending->target = target;
	pending->target_size = strlen(target);
	pending->request.raw_query = strchr(target, '?') ? mem_text(strchr(target, '?') + 1) : NULL;
	pending->target_wrong = http_target_wrong(target);
	http_client_phase(pending->client, HTTP_HEAD, now, now + httpd_time_for(pending->server, 0));
	return pending;
}

static enum MHD_Result head_field(
	void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value, size_t value_size)
{
	(void)kind;
	http_head_field(cls, name, name_size, text_or_empty(value), value_size);
	return MHD_YES;
}

/* Returns why the header is refused, or NULL. */
static const char *head_check(struct http_pending *pending, const char *method, const char *version)
{
	struct MHD_Connection *connection = pending->request.connection;
	size_t size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
	const char *why;
	struct http_head head;

	http_head_begin(&head, method, pending->target, pending->target_size, version);
	head.trims = strictness.option != MHD_OPTION_END;
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, head_field, &head);
	why = http_head_end(&head, method + size);
	/* libmicrohttpd parses the lines between chunks leniently, so bytes after a chunked body are not read as a
	 * request. */
	pending->ends_connection = http_head_chunked(&head);
	return why ? why : pending->target_wrong;
}

static void refuse_in_text(int status, const char *why, struct http_answer *answer)
{
	answer->status = status;
	answer->content_type = "text/plain";
	buf_printf(&answer->body, "%s\n", why);
}

void httpd_refusal_fill(const struct httpd *server, int status, const char *why, struct http_answer *answer)
{
	*answer = (struct http_answer){.status = status, .body = BUF_INIT(SIZE_MAX / 2)};
	(server->spec.refuse ? server->spec.refuse : refuse_in_text)(status, why, answer);
	if (status == 503)
		text_copy(answer->retry_after, sizeof(answer->retry_after), "1");
}

static enum MHD_Result request_refuse(struct http_pending *pending, int status, const char *why)
{
	struct http_answer answer;

	httpd_refusal_fill(pending->server, status, why, &answer);
	pending->ends_connection = true;
	return httpd_answer_send(pending, &answer);
}

/* Finds the client's address and its share. False if the client behind the proxy has too many requests in flight. */
static bool client_find(struct http_pending *pending)
{
	const struct httpd *server = pending->server;
	struct http_request *request = &pending->request;

	text_copy(request->address, sizeof(request->address), http_client_address(pending->client));
	pending->share = http_client_share(pending->client);
	if (pending->share)
		return true;
	http_forwarded_address(request, server->spec.proxies, request->address);
	if (is_proxy(server, request->address))
		return true;
	pending->share = http_share_enter(server->clients, request->address);
	pending->in_flight = pending->share != NULL;
	return pending->in_flight;
}

/* ---- the body ---- */

/* The server reads and drops the rest of a refused body until the body's current deadline, so that the client can
 * read the answer. */
static void body_judge(struct http_pending *pending, enum http_body_refusal why)
{
	pending->request.body_refused = why;
	if (why)
		httpd_body_release(pending);
}

/* Moves the body to the budget of its kind. */
static enum http_body_refusal body_admit(struct http_pending *pending)
{
	const struct httpd_spec *spec = &pending->server->spec;
	int budget = spec->body_admit ? spec->body_admit(spec->data, &pending->request) : HTTP_BUDGET_CLIENTS;
	size_t bytes = pending->budget_bytes;

	if (budget < 0)
		return HTTP_BODY_NOT_ADMITTED;
	budget_return(pending);
	pending->budget = (enum http_budget)budget;
	return httpd_budget_take(pending, bytes) ? HTTP_BODY_TAKEN : HTTP_BODY_BUSY;
}

static void body_begin(struct http_pending *pending)
{
	const struct httpd_spec *spec = &pending->server->spec;
	struct http_request *request = &pending->request;
	const char *length = http_header(request, "Content-Length");
	long long announced = -1;

	/* libmicrohttpd refuses a Content-Length that is not a number. */
	text_number(length, 0, INT64_MAX, &announced);
	if (spec->body_limit)
		request->body.limit = spec->body_limit(spec->data, request);
	pending->body_since = clock_mono_ms();
	http_client_phase(pending->client, HTTP_BODY, pending->body_since,
		pending->body_since + httpd_time_for(pending->server, 0));
	if (announced > 0 && (size_t)announced > request->body.limit)
		body_judge(pending, HTTP_BODY_TOO_LARGE);
	else if (announced > HTTP_BODY_UNKNOWN)
		body_judge(pending, body_admit(pending));
}

/* Decides whether the next bytes of the body are kept. */
static enum http_body_refusal body_check(struct http_pending *pending, size_t len)
{
	enum http_body_refusal why = HTTP_BODY_TAKEN;

	if (pending->received > pending->request.body.limit)
		return HTTP_BODY_TOO_LARGE;
	if (pending->budget == HTTP_BUDGET_SMALL && pending->received > HTTP_BODY_UNKNOWN)
		why = body_admit(pending);
	return why || httpd_budget_take(pending, len) ? why : HTTP_BODY_BUSY;
}

static void body_take(struct http_pending *pending, const char *bytes, size_t len)
{
	if (pending->request.body_refused)
		return;
	pending->received += len;
	http_client_deadline(pending->client, pending->body_since + httpd_time_for(pending->server, pending->received));
	body_judge(pending, body_check(pending, len));
	if (!pending->request.body_refused)
		buf_append(&pending->request.body, bytes, len);
}

/* ---- from the header to the answer ---- */

static enum MHD_Result request_begin(
	struct http_pending *pending, const char *path, const char *method, const char *version)
{
	const char *why = head_check(pending, method, version);

	pending->begun = true;
	http_request_id_set(&pending->request);
	pending->request.method = method;
	pending->request.path = path;
	if (why)
		return request_refuse(pending, 400, why);
	if (!client_find(pending))
		return request_refuse(pending, 503, "this address has too many requests in flight");
	body_begin(pending);
	return MHD_YES;
}

static enum MHD_Result request_access(void *cls, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *bytes, size_t *len, void **state)
{
	struct httpd *server = cls;
	struct http_pending *pending = *state;
	struct http_answer answer = {.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};

	(void)connection;
	if (!pending->begun)
		return request_begin(pending, path, method, version);
	if (pending->later)
		return httpd_answer_send(pending, &pending->answer);
	if (*len) {
		body_take(pending, bytes, *len);
		*len = 0;
		return MHD_YES;
	}
	if (!unsent_add(pending))
		return request_refuse(pending, 503, "this process is stopping");
	http_client_phase(pending->client, HTTP_ANSWER, 0, HTTP_NO_DEADLINE);
	progress_busy("request");
	server->spec.handle(server->spec.data, &pending->request, &answer);
	progress_idle();
	if (pending->later) {
		buf_release(&answer.body);
		buf_release(&answer.own);
		return MHD_YES;
	}
	return httpd_answer_send(pending, &answer);
}

static void request_completed(
	void *cls, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
	struct http_pending *pending = *state;
	struct httpd *server = cls;
	int64_t now = clock_mono_ms();

	(void)connection;
	(void)code;
	if (!pending)
		return;
	http_client_phase(pending->client, HTTP_IDLE, now, now + IDLE_SECONDS * 1000 + httpd_time_for(server, 0));
	httpd_body_release(pending);
	if (pending->in_flight)
		http_share_leave(server->clients, pending->share);
	if (pending->stream)
		httpd_stream_end(pending);
	if (pending->counted)
		unsent_remove(server);
	buf_release(&pending->answer.body);
	buf_release(&pending->answer.own);
	http_source_release(&pending->answer.source);
	free(pending->request.raw_query);
	free(pending);
	*state = NULL;
}

/* ---- connections ---- */

static void address_text(const struct sockaddr *address, char ret_text[HTTP_ADDRESS_SIZE])
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;

	*ret_text = '\0';
	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &four->sin_addr, ret_text, HTTP_ADDRESS_SIZE);
}

/* A refused connection is closed without an answer, so only this process can say why. */
static void refusal_note(enum http_refusal refusal, const char *address)
{
	static const char *const reasons[][2] = {
		[HTTP_ADDRESS_FULL] = {"reason=\"address\"",
			"its address has the limit of --connections-per-address: raise it if many clients share the "
			"address"},
		[HTTP_ALL_FULL] = {"reason=\"all\"",
			"all connections are in use: add a process, or raise its limit of descriptors"},
	};

	metric_add(M_CONNECTIONS_REFUSED, reasons[refusal][0], 1);
	log_warn("a connection is refused", "why", reasons[refusal][1], "address", address, NULL);
}

static enum MHD_Result connection_accept(void *cls, const struct sockaddr *from, socklen_t size)
{
	struct httpd *server = cls;
	char address[HTTP_ADDRESS_SIZE];
	enum http_refusal refusal;

	(void)size;
	address_text(from, address);
	refusal = http_clients_admit(server->clients, address, is_proxy(server, address), clock_mono_ms());
	if (refusal == HTTP_ADMITTED)
		return MHD_YES;
	refusal_note(refusal, address);
	return MHD_NO;
}

static void connection_notify(
	void *cls, struct MHD_Connection *connection, void **client, enum MHD_ConnectionNotificationCode code)
{
	struct httpd *server = cls;
	int64_t now = clock_mono_ms();
	char address[HTTP_ADDRESS_SIZE];
	struct http_peer peer = {.address = address};

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		http_client_close(server->clients, *client);
		return;
	}
	address_text(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr, address);
	peer.fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	peer.is_proxy = is_proxy(server, address);
	*client = http_client_open(server->clients, peer, now, now + httpd_time_for(server, 0));
}

static void *connections_watch(void *data)
{
	struct httpd *server = data;
	struct timespec until;

	pthread_mutex_lock(&server->mutex);
	while (!server->stops) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += WATCH_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&server->stopped, &server->mutex, &until);
		http_clients_expire(server->clients, clock_mono_ms());
	}
	pthread_mutex_unlock(&server->mutex);
	return NULL;
}

/* ---- start and stop ---- */

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

int httpd_check(const char *address, struct err *err)
{
	int port;
	_cleanup_(closep) int listener = listener_open(address, &port, err);

	return listener < 0 ? -1 : 0;
}

/* NULL if it can't start; libmicrohttpd gives no reason. */
static struct MHD_Daemon *daemon_start(struct httpd *server)
{
	const struct httpd_spec *spec = &server->spec;
	enum { FOR_TLS = 2 }; /* the first options */
	struct MHD_OptionItem options[] = {
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)certificate_priorities},
		{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, certificate_callback()},
		strictness,
		{MHD_OPTION_END, 0, NULL},
	};
	unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME;

	/* The library divides its limit among the threads. The larger limit allows for an uneven distribution of
	 * connections. */
	return MHD_start_daemon(spec->tls ? flags | MHD_USE_TLS : flags, 0, connection_accept, server, request_access,
		server, MHD_OPTION_NOTIFY_CONNECTION, connection_notify, server, MHD_OPTION_URI_LOG_CALLBACK,
		request_line, server, MHD_OPTION_LISTEN_SOCKET, server->listener, MHD_OPTION_THREAD_POOL_SIZE,
		(unsigned int)spec->threads, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)((spec->max_connections + spec->max_streams) * (spec->threads + 1)),
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		spec->connection_memory ? spec->connection_memory : (size_t)CONNECTION_MEMORY,
		MHD_OPTION_NOTIFY_COMPLETED, request_completed, server, MHD_OPTION_ARRAY,
		spec->tls ? options : options + FOR_TLS, MHD_OPTION_END);
}

static void server_free(struct httpd *server)
{
	http_clients_free(server->clients);
	pthread_cond_destroy(&server->stopped);
	pthread_cond_destroy(&server->sent);
	pthread_mutex_destroy(&server->mutex);
	free(server);
}

int httpd_start(const struct httpd_spec *spec, struct httpd **ret_server, struct err *err)
{
	struct httpd *server = mem_new(1, sizeof(*server));

	server->spec = *spec;
	if (!server->spec.request_seconds)
		server->spec.request_seconds = REQUEST_SECONDS;
	server->listener = listener_open(spec->address, &server->port, err);
	if (server->listener < 0) {
		free(server);
		return -1;
	}
	pthread_mutex_init(&server->mutex, NULL);
	pthread_cond_init(&server->sent, NULL);
	pthread_cond_init(&server->stopped, NULL);
	server->clients = http_clients_new((struct http_clients_limits){
		.connections = (size_t)spec->max_connections, .per_address = (size_t)spec->max_per_client});
	server->daemon = daemon_start(server);
	if (!server->daemon)
		closep(&server->listener);
	else if (pthread_create(&server->watch, NULL, connections_watch, server) == 0) {
		*ret_server = server;
		return 0;
	} else
		MHD_stop_daemon(server->daemon); /* closes the listener too */
	server_free(server);
	return err_set(err, ERR_INTERNAL, "the HTTP server does not start on %s", spec->address);
}

int httpd_port(const struct httpd *server)
{
	return server->port;
}

/* MHD_stop_daemon closes connections and drops unsent answers, so what was handled gets a moment to be answered. A
 * claim whose answer is lost would hold its job until the lease ends. MHD_stop_daemon accepts no suspended connection:
 * none is after streams_close. */
static void unsent_wait(struct httpd *server)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SENDING_SECONDS;
	pthread_mutex_lock(&server->mutex);
	while (server->unsent > 0 && pthread_cond_timedwait(&server->sent, &server->mutex, &until) == 0)
		;
	pthread_mutex_unlock(&server->mutex);
}

void httpd_stop(struct httpd *server)
{
	if (!server)
		return;
	httpd_streams_close(server);
	unsent_wait(server);
	pthread_mutex_lock(&server->mutex);
	pthread_cond_signal(&server->stopped);
	pthread_mutex_unlock(&server->mutex);
	pthread_join(server->watch, NULL);
	MHD_stop_daemon(server->daemon); /* closes the listener too */
	server_free(server);
}

bool httpd_observe(const struct http_request *request, bool (*ready)(void *data, struct buf *why), void *data,
	struct http_answer *answer)
{
	struct buf text = BUF_INIT(METRICS_LIMIT);

	if (text_equal(request->path, "/healthz")) {
		if (progress_check(PROGRESS_LIMIT_MS, &text))
			buf_text(&text, "ok\n");
		else
			answer->status = 503;
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
