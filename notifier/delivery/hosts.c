/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/hosts.h"

#include <ctype.h>
#include <string.h>

#include "common/http/fetch.h"

enum { OPENING_UNPROVEN = 4, OPENING = 64, FORGET_MS = 10 * 60 * 1000 };

void hosts_init(struct hosts *hosts, size_t max, size_t per_host)
{
	*hosts = (struct hosts){.max = max, .per_host = per_host};
	hosts->turn_last = &hosts->turn_first;
}

static void host_free(void *data, struct table_entry *entry)
{
	struct host *host = table_owner(entry, struct host, entry);

	(void)data;
	free(host->origin);
	free(host);
}

static void route_free(void *data, struct table_entry *entry)
{
	struct route *route = table_owner(entry, struct route, entry);

	(void)data;
	free(route->name);
	free(route);
}

void hosts_release(struct hosts *hosts)
{
	table_each(&hosts->hosts, host_free, NULL);
	table_each(&hosts->routes, route_free, NULL);
	table_release(&hosts->hosts);
	table_release(&hosts->routes);
}

/* ---- lookup ---- */

/* The text after its pool, if there is one. */
static char *of_pool(const char *pool, const char *text)
{
	return mem_printf("%s%s%s", text_or_empty(pool), pool ? " " : "", text);
}

/* The URL's scheme, host and port in lower case. */
static char *origin_of(const char *url)
{
	char *origin = fetch_shown(url, true);

	for (char *c = origin; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return origin;
}

static struct host *host_find(struct hosts *hosts, const char *pool, const char *of_url)
{
	_cleanup_(freep) char *origin = of_pool(pool, of_url);
	struct table_entry *entry;
	struct host *host;

	entry = table_find(&hosts->hosts, origin);
	if (entry)
		return table_owner(entry, struct host, entry);
	host = mem_new(1, sizeof(*host));
	host->origin = mem_text(origin);
	host->tail = &host->head;
	table_add(&hosts->hosts, &host->entry, host->origin);
	return host;
}

static struct route *route_find(struct hosts *hosts, const char *pool, const char *url)
{
	_cleanup_(freep) char *name = of_pool(pool, url);
	struct table_entry *entry = table_find(&hosts->routes, name);
	struct route *route;

	if (entry)
		return table_owner(entry, struct route, entry);
	route = mem_new(1, sizeof(*route));
	route->name = mem_text(name);
	route->url = route->name + strlen(name) - strlen(url);
	table_add(&hosts->routes, &route->entry, route->name);
	return route;
}

void hosts_assign(struct hosts *hosts, struct delivery *delivery, const char *url, int64_t now_ms)
{
	_cleanup_(freep) char *origin = origin_of(url);

	delivery->host = host_find(hosts, delivery->pool, origin);
	delivery->route = route_find(hosts, delivery->pool, delivery->kind && delivery->kind->one_call ? origin : url);
	delivery->host->users++;
	delivery->route->users++;
	delivery->route->secret |= delivery->kind && delivery->kind->secret_path;
	delivery->host->used_ms = delivery->route->used_ms = now_ms;
}

const char *delivery_url(const struct delivery *delivery)
{
	return delivery->url ? delivery->url : delivery->route->url;
}

void hosts_leave(struct hosts *hosts, struct delivery *delivery, int64_t now_ms)
{
	(void)hosts;
	delivery->host->users--;
	delivery->route->users--;
	delivery->host->used_ms = delivery->route->used_ms = now_ms;
}

/* ---- turns ---- */

static bool may_send(const struct hosts *hosts, const struct host *host)
{
	size_t opening = host->proven ? OPENING : OPENING_UNPROVEN;

	return host->head && host->in_flight < hosts->per_host && host->opening < opening;
}

static void turn_join(struct hosts *hosts, struct host *host)
{
	if (host->in_turn || !may_send(hosts, host))
		return;
	host->in_turn = true;
	host->next_in_turn = NULL;
	*hosts->turn_last = host;
	hosts->turn_last = &host->next_in_turn;
}

static struct host *turn_take(struct hosts *hosts)
{
	struct host *host = hosts->turn_first;

	if (!host)
		return NULL;
	hosts->turn_first = host->next_in_turn;
	if (!hosts->turn_first)
		hosts->turn_last = &hosts->turn_first;
	host->in_turn = false;
	return host;
}

void hosts_queue(struct hosts *hosts, struct delivery *delivery)
{
	struct host *host = delivery->host;

	delivery->next = NULL;
	*host->tail = delivery;
	host->tail = &delivery->next;
	hosts->behind += host->queued++ >= hosts->per_host;
	turn_join(hosts, host);
}

void hosts_unqueue(struct hosts *hosts, struct delivery *delivery)
{
	struct host *host = delivery->host;
	struct delivery **at = &host->head;

	while (*at != delivery)
		at = &(*at)->next;
	*at = delivery->next;
	if (!*at)
		host->tail = at;
	hosts->behind -= --host->queued >= hosts->per_host;
}

struct delivery *hosts_next(struct hosts *hosts)
{
	struct host *host;
	struct delivery *delivery;

	if (hosts->in_flight >= hosts->max)
		return NULL;
	do
		host = turn_take(hosts);
	while (host && !may_send(hosts, host));
	if (!host)
		return NULL;
	delivery = host->head;
	hosts_unqueue(hosts, delivery);
	host->in_flight++;
	host->opening++;
	hosts->in_flight++;
	turn_join(hosts, host);
	return delivery;
}

void hosts_put_back(struct hosts *hosts, struct host *host)
{
	host->in_flight--;
	host->opening--;
	hosts->in_flight--;
	turn_join(hosts, host);
}

void hosts_opened(struct hosts *hosts, struct host *host)
{
	host->opening--;
	host->proven = true;
	turn_join(hosts, host);
}

void hosts_sent(struct hosts *hosts, struct host *host, bool opening)
{
	host->in_flight--;
	hosts->in_flight--;
	if (opening) {
		host->opening--;
		host->proven = false;
	}
	turn_join(hosts, host);
}

/* ---- expiry ---- */

struct sweep {
	struct hosts *hosts;
	int64_t before_ms;
};

static void host_sweep(void *data, struct table_entry *entry)
{
	struct sweep *sweep = data;
	struct host *host = table_owner(entry, struct host, entry);

	if (host->users || host->in_turn || host->used_ms > sweep->before_ms)
		return;
	table_remove(&sweep->hosts->hosts, entry);
	host_free(NULL, entry);
}

static void route_sweep(void *data, struct table_entry *entry)
{
	struct sweep *sweep = data;
	struct route *route = table_owner(entry, struct route, entry);

	if (route->users || route->used_ms > sweep->before_ms)
		return;
	table_remove(&sweep->hosts->routes, entry);
	route_free(NULL, entry);
}

void hosts_sweep(struct hosts *hosts, int64_t now_ms)
{
	struct sweep sweep = {.hosts = hosts, .before_ms = now_ms - FORGET_MS};

	table_each(&hosts->hosts, host_sweep, &sweep);
	table_each(&hosts->routes, route_sweep, &sweep);
}
