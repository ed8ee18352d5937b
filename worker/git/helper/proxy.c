/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/helper/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/http/guard.h"
#include "worker/git/upstream.h"

enum { CHUNK = 64 * 1024, REQUEST_MAX = 300, ANSWER_MAX = 16 * 1024, CONNECT_MS = 30 * 1000, ADDRESSES = 8 };

/* Replies of RFC 1928. */
enum { REPLY_DONE = 0, REPLY_FAILED = 1, REPLY_REFUSED = 2, REPLY_UNREACHABLE = 4, REPLY_UNKNOWN_COMMAND = 7 };

/* ASKING: the request to the operator's proxy was sent. */
enum stage { GREETING, REQUEST, CONNECTING, ASKING, RELAYING };

/* Bytes on their way in one direction. */
struct flow {
	char *bytes;
	size_t from, to;
	bool ended; /* the source has ended, and all bytes were passed on */
};

struct connection {
	int client, server; /* -1: free, not connected */
	enum stage stage;
	unsigned char request[REQUEST_MAX];
	size_t len;
	char host[256];
	int port;
	const struct upstream *upstream;              /* the operator's proxy that relays it, or NULL */
	struct sockaddr_storage addresses[ADDRESSES]; /* that may be tried */
	size_t count, next;
	int64_t until_ms; /* of CONNECTING and ASKING */
	struct flow up, down;
};

struct host {
	char name[256];
	int port;
	const struct upstream *upstream;
};

struct proxy {
	const struct guard *guard;
	long long left; /* bytes; -1: no limit */
	int listener;
	struct host hosts[PROXY_HOSTS];
	size_t host_count;
	struct connection connections[PROXY_CONNECTIONS];
	struct proxy_result result;
};

struct proxy *proxy_new(const struct guard *guard, long long max_bytes)
{
	struct proxy *proxy = mem_new(1, sizeof(*proxy));

	proxy->guard = guard;
	proxy->left = max_bytes > 0 ? max_bytes : -1;
	proxy->listener = -1;
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		proxy->connections[i].client = proxy->connections[i].server = -1;
	return proxy;
}

static void connection_close(struct connection *connection)
{
	closep(&connection->client);
	closep(&connection->server);
	free(connection->up.bytes);
	free(connection->down.bytes);
	*connection = (struct connection){.client = -1, .server = -1};
}

void proxy_free(struct proxy *proxy)
{
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++)
		connection_close(&proxy->connections[i]);
	closep(&proxy->listener);
	free(proxy);
}

void proxy_listen(struct proxy *proxy, int fd)
{
	closep(&proxy->listener);
	proxy->listener = fd;
	fcntl(fd, F_SETFL, O_NONBLOCK);
}

static const struct host *host_find(const struct proxy *proxy, const char *name, int port)
{
	for (size_t i = 0; i < proxy->host_count; i++)
		if (proxy->hosts[i].port == port && strcasecmp(proxy->hosts[i].name, name) == 0)
			return &proxy->hosts[i];
	return NULL;
}

bool proxy_permit(struct proxy *proxy, const char *name, int port, const struct upstream *upstream)
{
	struct host *host = &proxy->hosts[proxy->host_count];

	if (host_find(proxy, name, port))
		return true;
	if (proxy->host_count == PROXY_HOSTS)
		return false;
	*host = (struct host){.port = port, .upstream = upstream};
	text_copy(host->name, sizeof(host->name), name);
	proxy->host_count++;
	return true;
}

const struct proxy_result *proxy_result(const struct proxy *proxy)
{
	return &proxy->result;
}

/* ---- connecting ---- */

static bool passes(int error)
{
	return error == EAGAIN || error == EINTR;
}

static void reply(const struct connection *connection, unsigned char code)
{
	const unsigned char bytes[10] = {5, code, 0, 1};

	/* A client that does not take ten bytes is not git. */
	(void)!send(connection->client, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void connection_fail(struct connection *connection, unsigned char code)
{
	reply(connection, code);
	connection_close(connection);
}

static void connection_open(struct connection *connection)
{
	reply(connection, REPLY_DONE);
	connection->stage = RELAYING;
}

/* The server can't be reached, at least not now. */
static void unreachable(struct proxy *proxy, struct connection *connection, const char *why)
{
	const struct upstream *upstream = connection->upstream;
	char *failed = proxy->result.failed;
	size_t size = sizeof(proxy->result.failed);

	if (upstream)
		snprintf(failed, size, "%s port %d can't be reached through the proxy %s port %d: %s", connection->host,
			connection->port, upstream->host, upstream->port, why);
	else
		snprintf(failed, size, "%s port %d can't be reached: %s", connection->host, connection->port, why);
	connection_fail(connection, REPLY_UNREACHABLE);
}

static void refuse(struct proxy *proxy, struct connection *connection, const char *why)
{
	snprintf(proxy->result.refused, sizeof(proxy->result.refused), "%s port %d is refused: %s", connection->host,
		connection->port, why);
	connection_fail(connection, REPLY_REFUSED);
}

/* Handles the answer of the operator's proxy. Bytes after its header come from the server. */
static void upstream_answered(struct proxy *proxy, struct connection *connection, int status, size_t len)
{
	const struct upstream *upstream = connection->upstream;
	_cleanup_(freep) char *answer = mem_printf(
		"answers with status %d%s", status, status == 407 ? ": it requires another user and password" : "");
	_cleanup_(freep) char *soft = mem_printf("it %s", answer);
	_cleanup_(freep) char *hard = mem_printf("the proxy %s port %d %s", upstream->host, upstream->port, answer);

	connection->down.from = len;
	if (status >= 200 && status < 300)
		connection_open(connection);
	else if (status >= 400 && status < 500)
		refuse(proxy, connection, hard);
	else
		unreachable(proxy, connection, status < 0 ? "its answer is not HTTP" : soft);
}

static void upstream_check(struct proxy *proxy, struct connection *connection, short events)
{
	struct flow *down = &connection->down;
	size_t len = 0;
	ssize_t got;
	int status;

	if (!events && clock_mono_ms() >= connection->until_ms)
		unreachable(proxy, connection, "it does not answer");
	if (!events)
		return;
	got = recv(connection->server, down->bytes + down->to, ANSWER_MAX - down->to, MSG_DONTWAIT);
	if (got < 0 && passes(errno))
		return;
	if (got > 0)
		down->to += (size_t)got;
	down->bytes[down->to] = '\0';
	status = upstream_status(down->bytes, &len);
	if (status != 0)
		upstream_answered(proxy, connection, status, len);
	else if (got <= 0 || down->to == ANSWER_MAX)
		unreachable(proxy, connection, "it ended the connection");
}

/* The connection is new, so the request fits into the socket's buffer. */
static void upstream_ask(struct proxy *proxy, struct connection *connection)
{
	_cleanup_(freep) char *request = upstream_request(connection->upstream, connection->host, connection->port);
	size_t len = strlen(request);

	connection->until_ms = clock_mono_ms() + CONNECT_MS;
	connection->stage = ASKING;
	if (send(connection->server, request, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		unreachable(proxy, connection, "it does not accept the request");
	explicit_bzero(request, len);
}

static void connected(struct proxy *proxy, struct connection *connection)
{
	int on = 1;

	setsockopt(connection->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	connection->up.bytes = mem_new(1, CHUNK);
	connection->down.bytes = mem_new(1, CHUNK);
	if (connection->upstream)
		upstream_ask(proxy, connection);
	else
		connection_open(connection);
}

/* Starts to connect to the next address. */
static void connect_next(struct proxy *proxy, struct connection *connection, int error)
{
	closep(&connection->server);
	while (connection->next < connection->count) {
		const struct sockaddr *address = (struct sockaddr *)&connection->addresses[connection->next++];
		socklen_t len =
			address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

		connection->server = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		connection->until_ms = clock_mono_ms() + CONNECT_MS;
		connection->stage = CONNECTING;
		if (connection->server >= 0 && (connect(connection->server, address, len) == 0 || errno == EINPROGRESS))
			return;
		error = errno;
		closep(&connection->server);
	}
	unreachable(proxy, connection, strerror(error));
}

static void connect_check(struct proxy *proxy, struct connection *connection, short events)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (!events && clock_mono_ms() < connection->until_ms)
		return;
	if (!events)
		error = ETIMEDOUT;
	else if (getsockopt(connection->server, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error)
		connect_next(proxy, connection, error);
	else
		connected(proxy, connection);
}

/* Every address must be permitted. */
static bool addresses_judge(struct proxy *proxy, struct connection *connection, const struct addrinfo *found)
{
	for (; found; found = found->ai_next) {
		struct guard_verdict verdict = guard_judge(proxy->guard, connection->host, found->ai_addr);

		if (verdict.refusal) {
			_cleanup_(freep) char *why =
				mem_printf("it is %s, which --vcs-allow does not name", verdict.refusal);

			refuse(proxy, connection, why);
			return false;
		}
	}
	return true;
}

static void addresses_keep(struct connection *connection, const struct addrinfo *found)
{
	for (; found && connection->count < ADDRESSES; found = found->ai_next)
		memcpy(&connection->addresses[connection->count++], found->ai_addr, found->ai_addrlen);
}

static int resolve(const char *host, int port, int flags, struct addrinfo **ret_found)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
	char number[8];

	snprintf(number, sizeof(number), "%d", port);
	return getaddrinfo(host, number, &hints, ret_found);
}

static void connect_begin(struct proxy *proxy, struct connection *connection)
{
	struct addrinfo *found = NULL;
	int code = resolve(connection->host, connection->port, 0, &found);

	if (code != 0) {
		snprintf(proxy->result.failed, sizeof(proxy->result.failed), "%s can't be resolved: %s",
			connection->host, gai_strerror(code));
		connection_fail(connection, REPLY_UNREACHABLE);
		return;
	}
	if (addresses_judge(proxy, connection, found)) {
		addresses_keep(connection, found);
		connect_next(proxy, connection, EHOSTUNREACH);
	}
	freeaddrinfo(found);
}

/* The operator's proxy resolves names, so only addresses are judged here. The proxy's own address is not judged, since
 * the operator has set it. */
static void upstream_begin(struct proxy *proxy, struct connection *connection)
{
	const struct upstream *upstream = connection->upstream;
	struct addrinfo *found = NULL;
	int code = resolve(connection->host, connection->port, AI_NUMERICHOST, &found);
	bool permitted = code != 0 || addresses_judge(proxy, connection, found);

	if (code == 0)
		freeaddrinfo(found);
	if (!permitted)
		return;
	if (!upstream->port) {
		refuse(proxy, connection, "the worker's HTTPS_PROXY or HTTP_PROXY is not an http:// URL");
		return;
	}
	code = resolve(upstream->host, upstream->port, 0, &found);
	if (code != 0) {
		unreachable(proxy, connection, gai_strerror(code));
		return;
	}
	addresses_keep(connection, found);
	freeaddrinfo(found);
	connect_next(proxy, connection, EHOSTUNREACH);
}

/* ---- the requests ---- */

/* Reads the target of a whole request. -1: more is to come; else whether it is valid. */
static int target_read(struct connection *connection)
{
	const unsigned char *request = connection->request;
	size_t address = 4, len;

	if (connection->len < 5)
		return -1;
	len = request[3] == 1 ? 4 : request[3] == 4 ? 16 : request[3] == 3 ? request[4] : 0;
	address += request[3] == 3;
	if (!len || request[0] != 5)
		return 0;
	if (connection->len < address + len + 2)
		return -1;
	if (request[3] == 3)
		snprintf(connection->host, sizeof(connection->host), "%.*s", (int)len, (const char *)request + address);
	else
		inet_ntop(request[3] == 1 ? AF_INET : AF_INET6, request + address, connection->host,
			sizeof(connection->host));
	connection->port = request[address + len] << 8 | request[address + len + 1];
	return 1;
}

static void request_came(struct proxy *proxy, struct connection *connection)
{
	int valid = target_read(connection);
	const struct host *host = valid > 0 ? host_find(proxy, connection->host, connection->port) : NULL;

	if (valid < 0)
		return;
	connection->upstream = host ? host->upstream : NULL;
	if (!valid)
		connection_close(connection);
	else if (connection->request[1] != 1)
		connection_fail(connection, REPLY_UNKNOWN_COMMAND);
	else if (!host)
		refuse(proxy, connection, "it is the host of neither the repository nor a submodule");
	else if (host->upstream)
		upstream_begin(proxy, connection);
	else
		connect_begin(proxy, connection);
}

/* The greeting names the methods; git's side can do without authentication. */
static void greeting_came(struct connection *connection)
{
	size_t len = 2 + (connection->len > 1 ? connection->request[1] : 0);

	if (connection->len < 2 || connection->len < len)
		return;
	if (connection->request[0] != 5 || send(connection->client, "\5\0", 2, MSG_NOSIGNAL | MSG_DONTWAIT) != 2) {
		connection_close(connection);
		return;
	}
	connection->len -= len;
	memmove(connection->request, connection->request + len, connection->len);
	connection->stage = REQUEST;
}

static void handshake(struct proxy *proxy, struct connection *connection)
{
	ssize_t got = recv(
		connection->client, connection->request + connection->len, REQUEST_MAX - connection->len, MSG_DONTWAIT);

	if (got <= 0) {
		if (got == 0 || (errno != EAGAIN && errno != EINTR))
			connection_close(connection);
		return;
	}
	connection->len += (size_t)got;
	if (connection->stage == GREETING)
		greeting_came(connection);
	if (connection->client >= 0 && connection->stage == REQUEST)
		request_came(proxy, connection);
	if (connection->client >= 0 && connection->stage <= REQUEST && connection->len == REQUEST_MAX)
		connection_close(connection);
}

/* ---- the relay ---- */

/* Passes bytes on as far as both sides allow. False: the connection is broken. */
static bool flow_move(struct flow *flow, int from, int to, short from_events)
{
	ssize_t moved;

	if (flow->from == flow->to && !flow->ended && from_events) {
		moved = recv(from, flow->bytes, CHUNK, MSG_DONTWAIT);
		if (moved < 0)
			return passes(errno);
		flow->from = 0;
		flow->to = (size_t)moved;
		if (moved == 0) {
			flow->ended = true;
			shutdown(to, SHUT_WR);
		}
	}
	if (flow->from == flow->to)
		return true;
	moved = send(to, flow->bytes + flow->from, flow->to - flow->from, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (moved < 0)
		return passes(errno);
	flow->from += (size_t)moved;
	return true;
}

static void relay(struct proxy *proxy, struct connection *connection, short client, short server)
{
	size_t before = connection->down.to - connection->down.from;
	bool whole = flow_move(&connection->up, connection->client, connection->server, client);

	whole = whole && flow_move(&connection->down, connection->server, connection->client, server);
	if (proxy->left >= 0 && before == 0 && (server & (POLLIN | POLLHUP))) {
		proxy->left -= (long long)connection->down.to;
		if (proxy->left < 0) {
			proxy->result.exceeded = true;
			proxy->left = 0;
			whole = false;
		}
	}
	if (!whole || (connection->up.ended && connection->down.ended) || connection->down.ended)
		connection_close(connection);
}

/* ---- the poll ---- */

static short wanted(const struct flow *in, const struct flow *out)
{
	return (short)((in->from == in->to && !in->ended ? POLLIN : 0) | (out->from < out->to ? POLLOUT : 0));
}

size_t proxy_poll(struct proxy *proxy, struct pollfd fds[PROXY_FDS])
{
	fds[0] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++) {
		const struct connection *connection = &proxy->connections[i];
		struct pollfd *client = &fds[1 + 2 * i], *server = client + 1;

		*client = (struct pollfd){.fd = connection->client};
		*server = (struct pollfd){.fd = connection->server};
		if (connection->stage <= REQUEST)
			client->events = POLLIN;
		if (connection->stage == CONNECTING)
			server->events = POLLOUT;
		if (connection->stage == ASKING)
			server->events = POLLIN;
		if (connection->stage == RELAYING) {
			client->events = wanted(&connection->up, &connection->down);
			server->events = wanted(&connection->down, &connection->up);
		}
		/* poll reports a hang-up that was not asked for: not while nothing can be done about it. */
		if (!client->events)
			client->fd = -1;
		if (!server->events)
			server->fd = -1;
	}
	return PROXY_FDS;
}

static void accept_one(struct proxy *proxy)
{
	int fd = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), on = 1;
	size_t i = 0;

	if (fd < 0)
		return;
	while (i < PROXY_CONNECTIONS && proxy->connections[i].client >= 0)
		i++;
	if (i == PROXY_CONNECTIONS) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	proxy->connections[i].client = fd;
}

void proxy_polled(struct proxy *proxy, const struct pollfd fds[PROXY_FDS])
{
	for (size_t i = 0; i < PROXY_CONNECTIONS; i++) {
		struct connection *connection = &proxy->connections[i];
		short client = fds[1 + 2 * i].revents, server = fds[2 + 2 * i].revents;

		if (connection->client < 0)
			continue;
		if (connection->stage <= REQUEST && client)
			handshake(proxy, connection);
		else if (connection->stage == CONNECTING)
			connect_check(proxy, connection, server);
		else if (connection->stage == ASKING)
			upstream_check(proxy, connection, server);
		else if (connection->stage == RELAYING && (client & (POLLHUP | POLLERR)))
			connection_close(connection);
		else if (connection->stage == RELAYING && (client || server))
			relay(proxy, connection, client, server);
	}
	if (fds[0].revents)
		accept_one(proxy);
}
