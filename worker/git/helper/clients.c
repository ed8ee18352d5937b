/* SPDX-License-Identifier: MPL-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/git/helper/helper.h"

/* The roles that git itself starts. */

enum { CHUNK = 64 * 1024, CREDENTIAL_MAX = 64 * 1024, NAME_MAX_LEN = 255 };

static long long number_of(const char *variable, long long most)
{
	long long number = -1;

	text_number(text_or_empty(getenv(variable)), 0, most, &number);
	return number;
}

/* ---- GIT_ASKPASS ---- */

/* The next line; a descriptor that git shares keeps its position. */
static char *line_of(char **rest)
{
	return strsep(rest, "\n");
}

/* "https://host:port" in "Password for 'https://user@host:port': ", without the user. */
static bool prompt_server(const char *prompt, char *ret_server, size_t size)
{
	const char *begin = strchr(prompt, '\''), *end = begin ? strchr(begin + 1, '\'') : NULL;
	const char *scheme_end, *at;

	if (!begin || !end || end - begin >= (long)size)
		return false;
	scheme_end = strstr(begin + 1, "://");
	if (!scheme_end || scheme_end > end)
		return false;
	scheme_end += 3;
	at = memrchr(scheme_end, '@', (size_t)(end - scheme_end));
	at = at ? at + 1 : scheme_end;
	snprintf(ret_server, size, "%.*s%.*s", (int)(scheme_end - begin - 1), begin + 1, (int)(end - at), at);
	ret_server[strcspn(ret_server, "\n")] = '\0';
	return true;
}

int helper_ask(const char *prompt)
{
	char bytes[CREDENTIAL_MAX], server[2048];
	char *rest = bytes, *own, *user, *password;
	ssize_t len = pread((int)number_of(HELPER_CREDENTIAL, 1024), bytes, sizeof(bytes) - 1, 0);

	if (len <= 0 || !prompt_server(prompt, server, sizeof(server)))
		return 1;
	bytes[len] = '\0';
	own = line_of(&rest);
	user = line_of(&rest);
	password = line_of(&rest);
	if (!password || !*password || !text_equal(own, server))
		return 1;
	printf("%s\n", text_starts(prompt, "Username") ? user : password);
	return 0;
}

/* ---- core.gitProxy and ProxyCommand ---- */

static int read_all(int fd, unsigned char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t got = read(fd, bytes, len);

		if (got <= 0)
			return -1;
		bytes += got;
		len -= (size_t)got;
	}
	return 0;
}

static int proxy_open(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number_of(HELPER_PROXY, 65535)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return fd;
}

static int proxy_ask(int fd, const char *host, int port)
{
	unsigned char request[7 + NAME_MAX_LEN] = {5, 1, 0, 3}, answer[10];
	size_t len = strlen(host);

	if (len > NAME_MAX_LEN || write_fully(fd, "\5\1\0", 3) < 0 || read_all(fd, answer, 2) < 0 || answer[1] != 0)
		return -1;
	request[4] = (unsigned char)len;
	memcpy(request + 5, host, len);
	request[5 + len] = (unsigned char)(port >> 8);
	request[6 + len] = (unsigned char)port;
	if (write_fully(fd, (char *)request, len + 7) < 0 || read_all(fd, answer, sizeof(answer)) < 0)
		return -1;
	return answer[1] == 0 ? 0 : -1;
}

/* Copies once. False when nothing more comes. */
static bool copy(int from, int to)
{
	char chunk[CHUNK];
	ssize_t got = read(from, chunk, sizeof(chunk));

	return got > 0 && write_fully(to, chunk, (size_t)got) == 0;
}

static int relay(int fd)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	while (fds[1].fd >= 0) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return 1;
		if (fds[0].fd >= 0 && fds[0].revents && !copy(STDIN_FILENO, fd)) {
			shutdown(fd, SHUT_WR);
			fds[0].fd = -1;
		}
		if (fds[1].revents && !copy(fd, STDOUT_FILENO))
			fds[1].fd = -1;
	}
	return 0;
}

int helper_connect(const char *host, const char *port)
{
	long long number;
	int fd;

	if (text_number(port, 1, 65535, &number) < 0 || (fd = proxy_open()) < 0) {
		fprintf(stderr, "the proxy of this job can't be reached\n");
		return 1;
	}
	if (proxy_ask(fd, host, (int)number) < 0) {
		fprintf(stderr, "no connection to %s port %s\n", host, port);
		return 1;
	}
	return relay(fd);
}
