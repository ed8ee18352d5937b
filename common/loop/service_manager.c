/* SPDX-License-Identifier: MPL-2.0 */
#include "common/loop/service_manager.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/loop/loop.h"

static int manager = -1; /* socket */
static struct sockaddr_un address;
static socklen_t address_len;
static int alive_ms = -1;

static struct loop *watched;
static struct loop_timer alive_timer;

/* A name that begins with @ is in the abstract namespace. */
static bool address_read(const char *path)
{
	size_t len = strlen(path);

	if ((*path != '/' && *path != '@') || len >= sizeof(address.sun_path))
		return false;
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address.sun_path, path, len);
	if (*path == '@')
		address.sun_path[0] = '\0';
	address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	return true;
}

/* WATCHDOG_PID names the process that the watchdog is for. */
static int alive_ms_read(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	long long value;

	if (!usec || text_number(usec, 1, LLONG_MAX, &value) < 0)
		return -1;
	if (pid && strtoll(pid, NULL, 10) != getpid())
		return -1;
	value /= 2000;
	return value < 1 ? 1 : value < INT_MAX ? (int)value : INT_MAX;
}

void service_manager_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	if (path && address_read(path))
		manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	alive_ms = manager < 0 ? -1 : alive_ms_read();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

/* Without flags it blocks while the manager's queue is full. */
static void notify(const char *state, int flags)
{
	ssize_t sent;

	if (manager < 0)
		return;
	do
		sent = sendto(
			manager, state, strlen(state), MSG_NOSIGNAL | flags, (struct sockaddr *)&address, address_len);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		log_warn("the service manager can't be notified", "state", state, "why", strerror(errno), NULL);
}

void service_manager_ready(void)
{
	notify("READY=1", 0); /* if it were lost, the manager would end the process */
}

void service_manager_stopping(void)
{
	notify("STOPPING=1", MSG_DONTWAIT);
}

int service_manager_alive_ms(void)
{
	return alive_ms;
}

void service_manager_alive(void)
{
	notify("WATCHDOG=1", MSG_DONTWAIT);
}

static void alive_due(void *data)
{
	(void)data;
	service_manager_alive();
	loop_timer_set(watched, &alive_timer, alive_ms, alive_due, NULL);
}

void service_manager_watch(struct loop *loop)
{
	if (alive_ms < 0)
		return;
	watched = loop;
	alive_due(NULL);
}
