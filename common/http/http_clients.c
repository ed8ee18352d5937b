/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/http_clients.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "common/crypto.h"

enum { SHARE_LISTS = 2048, DISPLACE_BATCH = 64, DISPLACE_PAUSE_MS = 100 };

struct http_share {
	char key[HTTP_ADDRESS_SIZE];
	size_t count; /* connections and requests; under the mutex */
	atomic_size_t bytes[HTTP_BUDGETS];
	struct http_share *next;
};

struct http_client {
	int fd;
	char address[HTTP_ADDRESS_SIZE];
	struct http_share *share; /* NULL for a proxy */
	bool is_shut;             /* under the mutex */
	atomic_int phase;
	_Atomic int64_t since, deadline;
	struct http_client *next, *previous;
};

struct http_clients {
	struct http_clients_limits limits;
	uint64_t seed; /* keeps the list of a key unpredictable */
	pthread_mutex_t mutex;
	struct http_client *first, *last; /* in the order in which they were opened */
	size_t open;                      /* excludes those that were shut down */
	int64_t displace_at; /* no displacement before this time: the last attempt found no connection to shut down */
	struct http_share *shares[SHARE_LISTS];
};

struct http_clients *http_clients_new(struct http_clients_limits limits)
{
	struct http_clients *clients = mem_new(1, sizeof(*clients));

	clients->limits = limits;
	crypto_random(&clients->seed, sizeof(clients->seed));
	pthread_mutex_init(&clients->mutex, NULL);
	return clients;
}

void http_clients_free(struct http_clients *clients)
{
	if (!clients)
		return;
	pthread_mutex_destroy(&clients->mutex);
	free(clients);
}

void http_address_key(const char *address, char ret_key[HTTP_ADDRESS_SIZE])
{
	struct in6_addr six;

	text_copy(ret_key, HTTP_ADDRESS_SIZE, address);
	if (inet_pton(AF_INET6, address, &six) != 1)
		return;
	if (IN6_IS_ADDR_V4MAPPED(&six)) {
		inet_ntop(AF_INET, &six.s6_addr[12], ret_key, HTTP_ADDRESS_SIZE);
		return;
	}
	memset(&six.s6_addr[8], 0, 8);
	inet_ntop(AF_INET6, &six, ret_key, HTTP_ADDRESS_SIZE);
}

/* ---- the shares of addresses; under the mutex ---- */

static struct http_share **share_at(struct http_clients *clients, const char *key)
{
	struct http_share **at = &clients->shares[(text_hash(clients->seed, key) >> 32) % SHARE_LISTS];

	while (*at && !text_equal((*at)->key, key))
		at = &(*at)->next;
	return at;
}

static bool share_full(struct http_clients *clients, const char *address)
{
	const struct http_share *share;
	char key[HTTP_ADDRESS_SIZE];

	http_address_key(address, key);
	share = *share_at(clients, key);
	return clients->limits.per_address && share && share->count >= clients->limits.per_address;
}

static struct http_share *share_take(struct http_clients *clients, const char *address)
{
	char key[HTTP_ADDRESS_SIZE];
	struct http_share **at;

	http_address_key(address, key);
	at = share_at(clients, key);
	if (!*at) {
		*at = mem_new(1, sizeof(**at));
		text_copy((*at)->key, sizeof((*at)->key), key);
	}
	(*at)->count++;
	return *at;
}

static void share_drop(struct http_clients *clients, struct http_share *share)
{
	if (--share->count > 0)
		return;
	*share_at(clients, share->key) = share->next;
	free(share);
}

struct http_share *http_share_enter(struct http_clients *clients, const char *address)
{
	struct http_share *share = NULL;

	pthread_mutex_lock(&clients->mutex);
	if (!share_full(clients, address))
		share = share_take(clients, address);
	pthread_mutex_unlock(&clients->mutex);
	return share;
}

void http_share_leave(struct http_clients *clients, struct http_share *share)
{
	pthread_mutex_lock(&clients->mutex);
	share_drop(clients, share);
	pthread_mutex_unlock(&clients->mutex);
}

bool http_share_take(struct http_share *share, enum http_budget budget, size_t bytes, size_t max)
{
	if (!share || atomic_fetch_add(&share->bytes[budget], bytes) + bytes <= max)
		return true;
	atomic_fetch_sub(&share->bytes[budget], bytes);
	return false;
}

void http_share_return(struct http_share *share, enum http_budget budget, size_t bytes)
{
	if (share)
		atomic_fetch_sub(&share->bytes[budget], bytes);
}

/* ---- connections ---- */

/* Under the mutex, the library can't close the socket, so the kernel can't reuse its number meanwhile. */
static void client_shut(struct http_clients *clients, struct http_client *client)
{
	client->is_shut = true;
	clients->open--;
	shutdown(client->fd, SHUT_RDWR);
}

/* Shuts down connections, the oldest first, that have been in the phase since `since` or longer. */
static size_t displace(struct http_clients *clients, enum http_phase phase, int64_t since)
{
	size_t count = 0;

	for (struct http_client *at = clients->first; at && count < DISPLACE_BATCH; at = at->next) {
		if (at->is_shut || atomic_load(&at->phase) != (int)phase || atomic_load(&at->since) > since)
			continue;
		client_shut(clients, at);
		count++;
	}
	return count;
}

static void room_make(struct http_clients *clients, int64_t now)
{
	static const struct {
		enum http_phase phase;
		int64_t least_ms;
	} order[] = {{HTTP_IDLE, 1000}, {HTTP_IDLE, 0}, {HTTP_HEAD, 1000}};

	if (now < clients->displace_at)
		return;
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (displace(clients, order[i].phase, now - order[i].least_ms) > 0)
			return;
	clients->displace_at = now + DISPLACE_PAUSE_MS;
}

bool http_clients_admit(struct http_clients *clients, const char *address, bool is_proxy, int64_t now)
{
	bool admitted = false;

	pthread_mutex_lock(&clients->mutex);
	if (is_proxy || !share_full(clients, address)) {
		if (clients->open >= clients->limits.connections)
			room_make(clients, now);
		admitted = clients->open < clients->limits.connections;
	}
	pthread_mutex_unlock(&clients->mutex);
	return admitted;
}

struct http_client *http_client_open(struct http_clients *clients, struct http_peer peer, int64_t now, int64_t deadline)
{
	struct http_client *client = mem_new(1, sizeof(*client));

	client->fd = peer.fd;
	text_copy(client->address, sizeof(client->address), peer.address);
	atomic_init(&client->phase, HTTP_HEAD);
	atomic_init(&client->since, now);
	atomic_init(&client->deadline, deadline);
	pthread_mutex_lock(&clients->mutex);
	client->share = peer.is_proxy ? NULL : share_take(clients, peer.address);
	client->previous = clients->last;
	*(clients->last ? &clients->last->next : &clients->first) = client;
	clients->last = client;
	clients->open++;
	pthread_mutex_unlock(&clients->mutex);
	return client;
}

void http_client_close(struct http_clients *clients, struct http_client *client)
{
	pthread_mutex_lock(&clients->mutex);
	*(client->previous ? &client->previous->next : &clients->first) = client->next;
	*(client->next ? &client->next->previous : &clients->last) = client->previous;
	if (!client->is_shut)
		clients->open--;
	if (client->share)
		share_drop(clients, client->share);
	pthread_mutex_unlock(&clients->mutex);
	free(client);
}

const char *http_client_address(const struct http_client *client)
{
	return client->address;
}

struct http_share *http_client_share(const struct http_client *client)
{
	return client->share;
}

void http_client_phase(struct http_client *client, enum http_phase phase, int64_t now, int64_t deadline)
{
	atomic_store(&client->deadline, deadline);
	atomic_store(&client->since, now);
	atomic_store(&client->phase, phase);
}

void http_client_deadline(struct http_client *client, int64_t deadline)
{
	atomic_store(&client->deadline, deadline);
}

void http_clients_expire(struct http_clients *clients, int64_t now)
{
	pthread_mutex_lock(&clients->mutex);
	for (struct http_client *at = clients->first; at; at = at->next)
		if (!at->is_shut && atomic_load(&at->deadline) <= now)
			client_shut(clients, at);
	pthread_mutex_unlock(&clients->mutex);
}
