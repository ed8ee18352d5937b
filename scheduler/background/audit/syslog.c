/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/audit/syslog.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/sockios.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "common/clock.h"

enum { TIMEOUT_MS = 10000, LOOK_MS = 5 };

struct syslog {
	struct syslog_settings settings;
	char host[256], port[8];
	bool tls;
	int fd;
	SSL_CTX *context;
	SSL *ssl;
};

/* ---- settings ---- */

static int url_read(const char *url, bool *tls, char host[256], char port[8])
{
	const char *at = text_starts(url, "tls://") ? url + 6 : text_starts(url, "tcp://") ? url + 6 : NULL, *colon;
	long long number;
	size_t len;

	if (!at || !(colon = strrchr(at, ':')))
		return -1;
	*tls = text_starts(url, "tls://");
	len = (size_t)(colon - at);
	if (len > 2 && *at == '[' && at[len - 1] == ']') {
		at++;
		len -= 2;
	}
	if (!len || len >= 256 || text_number(colon + 1, 1, 65535, &number) < 0)
		return -1;
	text_copy(host, len + 1, at);
	snprintf(port, 8, "%lld", number);
	return 0;
}

int syslog_settings_check(const struct syslog_settings *settings, struct err *err)
{
	char host[256], port[8];
	bool tls;

	if (url_read(settings->url, &tls, host, port) < 0)
		return err_set(err, ERR_INVALID, "%s is not tls://HOST:PORT or tcp://HOST:PORT", settings->url);
	if (!*settings->certificate != !*settings->key)
		return err_set(err, ERR_INVALID, "a certificate needs its key");
	return 0;
}

struct syslog *syslog_new(const struct syslog_settings *settings)
{
	struct syslog *syslog = mem_new(1, sizeof(*syslog));

	syslog->settings = *settings;
	syslog->fd = -1;
	url_read(settings->url, &syslog->tls, syslog->host, syslog->port);
	return syslog;
}

static void disconnect(struct syslog *syslog)
{
	SSL_free(syslog->ssl);
	syslog->ssl = NULL;
	closep(&syslog->fd);
}

void syslog_free(struct syslog *syslog)
{
	if (!syslog)
		return;
	disconnect(syslog);
	SSL_CTX_free(syslog->context);
	free(syslog);
}

/* ---- the connection ---- */

static int fail(const struct syslog *syslog, struct err *err, const char *what)
{
	return err_set(err, ERR_UNAVAILABLE, "%s:%s: %s", syslog->host, syslog->port, what);
}

static int fail_tls(const struct syslog *syslog, struct err *err)
{
	unsigned long code = ERR_get_error();
	long verified = syslog->ssl ? SSL_get_verify_result(syslog->ssl) : X509_V_OK;
	const char *reason = code ? ERR_reason_error_string(code) : NULL;

	ERR_clear_error();
	if (verified != X509_V_OK)
		reason = X509_verify_cert_error_string(verified);
	return fail(syslog, err, reason ? reason : "the TLS connection failed");
}

/* The system's timeouts bound each call on the blocking socket. */
static int timeouts_set(int fd)
{
	const struct timeval time = {.tv_sec = TIMEOUT_MS / 1000};

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) < 0 ||
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) < 0
		? -1
		: 0;
}

/* Connecting has the same time limit as sending. */
static int address_connect(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);

	if (fd >= 0 && (timeouts_set(fd) < 0 || connect(fd, address->ai_addr, address->ai_addrlen) < 0))
		closep(&fd);
	return fd;
}

static int tcp_connect(struct syslog *syslog, struct err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	int failed = getaddrinfo(syslog->host, syslog->port, &hints, &found);

	if (failed)
		return fail(syslog, err, gai_strerror(failed));
	for (const struct addrinfo *at = found; at && syslog->fd < 0; at = at->ai_next)
		syslog->fd = address_connect(at);
	freeaddrinfo(found);
	return syslog->fd < 0 ? fail(syslog, err, "it can't be reached") : 0;
}

static int context_make(struct syslog *syslog, struct err *err)
{
	const struct syslog_settings *set = &syslog->settings;
	SSL_CTX *context = syslog->context ? NULL : SSL_CTX_new(TLS_client_method());

	if (syslog->context)
		return 0;
	mem_check(context);
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	if ((*set->ca_file ? SSL_CTX_load_verify_locations(context, set->ca_file, NULL)
			   : SSL_CTX_set_default_verify_paths(context)) != 1 ||
		(*set->certificate &&
			(SSL_CTX_use_certificate_chain_file(context, set->certificate) != 1 ||
				SSL_CTX_use_PrivateKey_file(context, set->key, SSL_FILETYPE_PEM) != 1))) {
		SSL_CTX_free(context);
		return fail_tls(syslog, err);
	}
	syslog->context = context;
	return 0;
}

/* The name of the certificate must be the host, which may be an address. */
static int tls_connect(struct syslog *syslog, struct err *err)
{
	X509_VERIFY_PARAM *verify;

	if (context_make(syslog, err) < 0)
		return -1;
	syslog->ssl = mem_check(SSL_new(syslog->context));
	verify = SSL_get0_param(syslog->ssl);
	if (X509_VERIFY_PARAM_set1_ip_asc(verify, syslog->host) != 1) {
		ERR_clear_error();
		X509_VERIFY_PARAM_set1_host(verify, syslog->host, 0);
		SSL_set_tlsext_host_name(syslog->ssl, syslog->host);
	}
	SSL_set_fd(syslog->ssl, syslog->fd);
	return SSL_connect(syslog->ssl) == 1 ? 0 : fail_tls(syslog, err);
}

/* ---- sending ---- */

/* A collector says nothing, but for TLS itself. */
static bool is_closed(const struct syslog *syslog)
{
	char byte;
	ssize_t got = recv(syslog->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static int bytes_write(struct syslog *syslog, const char *data, size_t len, struct err *err)
{
	while (len > 0) {
		size_t part = len < 16384 ? len : 16384;
		ssize_t sent = syslog->ssl ? SSL_write(syslog->ssl, data, (int)part)
					   : send(syslog->fd, data, part, MSG_NOSIGNAL);

		if (sent < 0 && !syslog->ssl && errno == EINTR)
			continue;
		if (sent <= 0)
			return syslog->ssl ? fail_tls(syslog, err) : fail(syslog, err, strerror(errno));
		data += sent;
		len -= (size_t)sent;
	}
	return 0;
}

static int acknowledged(struct syslog *syslog, struct err *err)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	int64_t end_ms = clock_mono_ms() + TIMEOUT_MS;
	int left = 0;

	while (ioctl(syslog->fd, SIOCOUTQ, &left) == 0 && left > 0) {
		if (clock_mono_ms() > end_ms)
			return fail(syslog, err, "it does not acknowledge what it gets");
		nanosleep(&pause, NULL);
	}
	return is_closed(syslog) ? fail(syslog, err, "it has closed the connection") : 0;
}

static int send_once(struct syslog *syslog, const struct buf *bytes, struct err *err)
{
	if (syslog->fd >= 0 && is_closed(syslog))
		disconnect(syslog);
	if (syslog->fd < 0 && (tcp_connect(syslog, err) < 0 || (syslog->tls && tls_connect(syslog, err) < 0)))
		return -1;
	return bytes_write(syslog, bytes->data, bytes->len, err) < 0 ? -1 : acknowledged(syslog, err);
}

int syslog_send(struct syslog *syslog, const struct buf *bytes, struct err *err)
{
	int result = send_once(syslog, bytes, err);

	if (result < 0)
		disconnect(syslog);
	return result;
}
