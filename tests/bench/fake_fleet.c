/* SPDX-License-Identifier: MPL-2.0 */
/*
 * fake_fleet PORTS BROKERS FETCH_WAIT_MS WORKERS SLOTS JOB_MS: many simulated workers in one thread, for
 * tests/bench/fleet.
 *
 * Each worker takes the steps of runyard-worker (proto/README.md) with the same delays, on three connections. It
 * registers, waits, claims, and listens for stops while it has a job. It sends heartbeats, sooner after news, and
 * results by Kafka. A job takes about JOB_MS, and nothing is uploaded. After a failed request, a worker tries the next
 * port of PORTS (separated by commas). The workers of a pool share one Kafka consumer, whose partitions are divided
 * among them.
 *
 * Standard input has the pools' tokens, one in each line, and an empty line. Then `state` prints the current state as a
 * line of JSON, and `report` the numbers since the last report. WORKERS are spread evenly over the pools.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <librdkafka/rdkafka.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/loop/retry.h"
#include "proto/limits.h"
#include "proto/topics.h"
#include "tests/bench/fake_result.h"
#include "worker/scheduler_client/read_ahead.h"

enum {
	MAX_PORTS = 8,
	MAX_POOLS = 1000,
	MAX_PARTITIONS = 16,
	MAX_LISTED = 64,
	MAX_SAMPLES = 1 << 20,
	TICK_MS = 20,
	LEASE_MS = 60 * 1000,
	ASK_MS = 1000, /* this and the following: as in worker/scheduler_client */
	MAX_ASK_MS = 10 * 1000,
	IDLE_MS = 2000,
	CALM_MS = 100,
	FRUITLESS_MS = 25,
	MAX_FRUITLESS = 7
};

enum call { REGISTER, HEARTBEAT, CLAIM, WAIT, CONTROL, CALLS };

static const char *const call_names[] = {"register", "heartbeat", "claim", "wait", "control"};

struct worker;

struct connection {
	struct worker *worker;
	int fd;   /* -1: none */
	int port; /* index in `ports` */
	enum call call;
	bool busy; /* a request is under way */
	int64_t sent_us;
	char *out; /* a request that is not sent yet */
	char *in;  /* terminated */
	size_t len, room;
};

struct fake_job {
	json_t *job;
	int64_t end_ms;
	bool reported; /* listed until a heartbeat confirms that the attempt has ended */
};

struct pool {
	char token[256];
	char id[ID_SIZE];
	rd_kafka_t *consumer;
	struct worker **workers;
	size_t worker_count, partition_count;
	struct read_ahead partitions[MAX_PARTITIONS];
};

struct worker {
	struct pool *pool;
	size_t number;
	char id[ID_SIZE], token[128];
	struct connection source, lease, control;
	struct backoff source_backoff, wait_backoff, lease_backoff, control_backoff;
	int64_t source_ms, lease_ms, control_ms; /* when the next request is due; 0: not by time */
	enum call source_next;
	int64_t hasty_ms, ask_ms, beaten_ms, claimed_ms, waited_ms;
	bool more;
	int fruitless;
	json_t *told;
	struct fake_job jobs[MAX_LISTED];
	size_t job_count;
};

static struct {
	long long count, failed;
	float *ms;
	size_t samples;
} calls[CALLS];

static int ports[MAX_PORTS], port_count;
static struct pool pools[MAX_POOLS];
static size_t pool_count, worker_count, slots;
static struct worker *workers;
static int64_t job_ms, oldest_beat_ms;
static int epoll, timer;
static const char *brokers, *fetch_wait;
static rd_kafka_t *producer;
static json_t *claimed; /* [[run, seconds of CLOCK_MONOTONIC], ...] since the last report */
static long long empty_claims, claimed_count;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "fake_fleet: %s: %s\n", what, why);
	exit(1);
}

/* ---- requests ---- */

static void connection_close(struct connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->len = 0;
	c->busy = false;
	freep(&c->out);
	c->out = NULL;
}

static void watch(struct connection *c, unsigned events, int what)
{
	struct epoll_event event = {.events = events, .data.ptr = c};

	epoll_ctl(epoll, what, c->fd, &event);
}

static void connection_open(struct connection *c)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)ports[c->port]),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int yes = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		die("socket", strerror(errno));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (connect(c->fd, (struct sockaddr *)&at, sizeof(at)) < 0 && errno != EINPROGRESS)
		errno = 0; /* reported by epoll as an error */
	watch(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_ADD);
}

static void call_begin(struct connection *c, enum call call, json_t *body)
{
	struct worker *w = c->worker;
	bool own = call == HEARTBEAT || call == CONTROL;
	_cleanup_(freep) char *text = json_dumps(body, JSON_COMPACT);

	json_decref(body);
	c->out = mem_printf("POST /api/worker/v1/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
			    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		call_names[call], own ? w->token : w->pool->token, strlen(text), text);
	c->call = call;
	c->busy = true;
	c->len = 0;
	c->sent_us = clock_mono_us();
	if (c->fd < 0)
		connection_open(c);
	else
		watch(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
}

/* ---- the source of jobs ---- */

static void hasten(struct worker *w, int64_t after_ms)
{
	int64_t due_ms = clock_mono_ms() + after_ms;

	if (w->hasty_ms && w->hasty_ms <= due_ms)
		return;
	w->hasty_ms = due_ms;
	if (!w->lease.busy && *w->id && w->lease_ms > due_ms)
		w->lease_ms = due_ms;
}

static size_t slots_free(const struct worker *w)
{
	size_t running = 0;

	for (size_t i = 0; i < w->job_count; i++)
		running += !w->jobs[i].reported;
	return w->job_count + slots > MAX_LISTED ? 0 : slots - running;
}

static json_t *capabilities(void)
{
	return json_pack("[s]", "terraform 1.11.4");
}

static void source_send(struct worker *w, enum call call)
{
	json_t *body;

	if (w->source.busy || !*w->id || !slots_free(w))
		return;
	w->source_ms = 0;
	*(call == CLAIM ? &w->claimed_ms : &w->waited_ms) = clock_mono_ms();
	body = json_pack(
		"{ss sI so}", "worker", w->id, "slots", (json_int_t)slots_free(w), "capabilities", capabilities());
	if (call == CLAIM)
		json_object_set_new(body, "apply-seconds", json_integer(86700));
	call_begin(&w->source, call, body);
}

static void source_go_on(struct worker *w)
{
	if (!w->source_ms)
		source_send(w, w->more ? CLAIM : WAIT);
}

static void source_later(struct worker *w, enum call call, int64_t after_ms)
{
	w->source_ms = clock_mono_ms() + after_ms;
	w->source_next = call;
}

static void news(struct worker *w)
{
	w->ask_ms = ASK_MS;
	hasten(w, ASK_MS);
}

static struct worker *owner(const struct pool *pool, size_t partition)
{
	return pool->workers[partition % pool->worker_count];
}

static bool job_settle(struct worker *w, const char *job)
{
	bool found = false;

	for (size_t p = 0; p < w->pool->partition_count; p++)
		if (owner(w->pool, p) == w)
			found |= read_ahead_settle(&w->pool->partitions[p], job);
	return found;
}

static void control_listen(struct worker *w)
{
	if (w->control.busy || !*w->id || w->job_count == 0)
		return;
	w->control_ms = 0;
	call_begin(&w->control, CONTROL, json_pack("{sO}", "told", w->told));
}

static void job_start(struct worker *w, json_t *job)
{
	claimed_count++;
	w->jobs[w->job_count++] = (struct fake_job){json_incref(job), clock_mono_ms() + jitter(job_ms), false};
	json_array_append_new(
		claimed, json_pack("[s f]", json_string_at(job, "run"), (double)clock_mono_us() / 1000000));
	if (job_settle(w, json_string_at(job, "job")))
		news(w);
}

static void claim_answered(struct worker *w, int status, json_t *answer, int retry_after)
{
	json_t *jobs = json_object_get(answer, "jobs"), *job;
	size_t i;

	w->more = false;
	if (status != 200) {
		source_later(w, CLAIM, backoff_next(&w->source_backoff, retry_after));
		return;
	}
	w->source_backoff.failures = 0;
	w->more = json_bool_at(answer, "more", false);
	json_array_foreach(jobs, i, job)
	{
		job_start(w, job);
	}
	empty_claims += !i;
	control_listen(w);
	w->fruitless = i || w->claimed_ms - w->waited_ms >= CALM_MS ? 0 : w->fruitless + 1;
	if (w->fruitless > 1)
		source_later(w, WAIT,
			jitter(FRUITLESS_MS << ((w->fruitless < MAX_FRUITLESS ? w->fruitless : MAX_FRUITLESS) - 1)));
	else
		source_go_on(w);
}

static void wait_answered(struct worker *w, int status, json_t *answer, int retry_after)
{
	int64_t next, max = jitter(IDLE_MS);

	if (status != 200) {
		next = backoff_next(&w->wait_backoff, retry_after);
		source_later(w, CLAIM, next < max ? next : max);
		return;
	}
	w->wait_backoff.failures = 0;
	source_send(w, json_bool_at(answer, "jobs", false) ? CLAIM : WAIT);
}

static void control_answered(struct worker *w, int status, json_t *answer, int retry_after)
{
	if (status != 200) {
		w->control_ms = clock_mono_ms() + backoff_next(&w->control_backoff, retry_after);
		return;
	}
	w->control_backoff.failures = 0;
	json_decref(w->told);
	w->told = json_incref(json_object_get(answer, "stops"));
	control_listen(w);
}

/* ---- leases ---- */

static void worker_register(struct worker *w)
{
	_cleanup_(freep) char *name = mem_printf("fake-%zu", w->number);

	w->lease_ms = 0;
	call_begin(&w->lease, REGISTER,
		json_pack("{ss sI ss s[ii] so s[]}", "name", name, "slots", (json_int_t)slots, "version", "0",
			"protocols", 1, 2, "capabilities", capabilities(), "jobs"));
}

static void topic_subscribe(struct pool *pool, const char *topic);

static void register_answered(struct worker *w, int status, json_t *answer, int retry_after)
{
	if (status != 200) {
		w->lease_ms = clock_mono_ms() + backoff_next(&w->lease_backoff, retry_after);
		return;
	}
	w->lease_backoff.failures = 0;
	text_copy(w->id, sizeof(w->id), json_string_at(answer, "worker"));
	text_copy(w->token, sizeof(w->token), json_string_at(answer, "token"));
	text_copy(w->pool->id, sizeof(w->pool->id), json_string_at(answer, "pool"));
	w->beaten_ms = clock_mono_ms();
	w->lease_ms = w->beaten_ms + jitter(LEASE_MS / 4);
	topic_subscribe(w->pool, json_string_at(answer, "topic"));
	source_go_on(w);
}

/* The jobs of messages that were read, in the partitions of this worker. */
static json_t *announced_list(struct worker *w, json_t *partitions)
{
	json_t *list = json_array();

	for (size_t p = 0; p < w->pool->partition_count; p++)
		if (owner(w->pool, p) == w) {
			json_array_append_new(partitions, json_integer((json_int_t)p));
			read_ahead_list(&w->pool->partitions[p], READ_AHEAD_MAX, list);
		}
	if (json_array_size(list)) {
		hasten(w, w->ask_ms);
		w->ask_ms = w->ask_ms * 2 < MAX_ASK_MS ? w->ask_ms * 2 : MAX_ASK_MS;
	}
	return list;
}

static void beat(struct worker *w)
{
	json_t *jobs = json_array(), *partitions = json_array(), *announced;

	w->lease_ms = w->hasty_ms = 0;
	for (size_t i = 0; i < w->job_count; i++)
		json_array_append_new(jobs,
			json_pack("{sO sO}", "job", json_object_get(w->jobs[i].job, "job"), "attempt",
				json_object_get(w->jobs[i].job, "attempt")));
	announced = announced_list(w, partitions);
	call_begin(&w->lease, HEARTBEAT,
		json_pack("{sI sI sb so so so so}", "free", (json_int_t)slots_free(w), "slots", (json_int_t)slots,
			"draining", 0, "partitions", partitions, "jobs", jobs, "capabilities", capabilities(),
			"announced", announced));
}

static void job_forget(struct worker *w, const char *id)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->job_count; i++)
		if (text_equal(json_string_at(w->jobs[i].job, "job"), id))
			json_decref(w->jobs[i].job);
		else
			w->jobs[kept++] = w->jobs[i];
	w->job_count = kept;
}

static int64_t beat_pause_ms(const struct worker *w)
{
	int64_t pause = jitter(LEASE_MS / 4), hasty = w->hasty_ms - clock_mono_ms();

	if (!w->hasty_ms || hasty >= pause)
		return pause;
	return hasty > 0 ? hasty : 0;
}

static void beat_answered(struct worker *w, int status, json_t *answer, int retry_after)
{
	int64_t again;
	json_t *item;
	bool found = false;
	size_t i;

	if (status == 404)
		die("heartbeat", "the scheduler has forgotten a worker");
	if (status != 200) {
		again = backoff_next(&w->lease_backoff, retry_after);
		w->lease_ms = clock_mono_ms() + jitter(again < LEASE_MS / 4 ? again : LEASE_MS / 4);
		return;
	}
	w->lease_backoff.failures = 0;
	w->beaten_ms = clock_mono_ms();
	json_array_foreach(json_object_get(answer, "jobs"), i, item)
	{
		if (!json_bool_at(item, "held", true))
			job_forget(w, json_string_at(item, "job"));
	}
	json_array_foreach(json_object_get(answer, "not-waiting"), i, item)
	{
		found |= job_settle(w, json_string_value(item));
	}
	if (found)
		news(w);
	w->lease_ms = clock_mono_ms() + beat_pause_ms(w);
	source_go_on(w);
}

/* ---- answers ---- */

static void (*const handlers[CALLS])(struct worker *w, int status, json_t *answer, int retry_after) = {
	[REGISTER] = register_answered,
	[HEARTBEAT] = beat_answered,
	[CLAIM] = claim_answered,
	[WAIT] = wait_answered,
	[CONTROL] = control_answered,
};

static void call_note(const struct connection *c, int status)
{
	float ms = (float)(clock_mono_us() - c->sent_us) / 1000;

	calls[c->call].count++;
	calls[c->call].failed += status != 200;
	if (status == 200 && calls[c->call].samples < MAX_SAMPLES)
		calls[c->call].ms[calls[c->call].samples++] = ms;
}

static void call_end(struct connection *c, int status, const char *body, int retry_after)
{
	json_auto_t *answer = body ? json_loads(body, 0, NULL) : NULL;

	if (status != 0 && status != 200 && status != 429 && status != 503)
		die(call_names[c->call], c->in);
	call_note(c, status);
	c->busy = false;
	c->len = 0;
	handlers[c->call](c->worker, status, answer, retry_after);
}

/* A worker tries again at the next scheduler, as behind a load balancer. */
static void connection_fail(struct connection *c)
{
	bool busy = c->busy;

	connection_close(c);
	if (!busy)
		return;
	c->port = (c->port + 1) % port_count;
	call_end(c, 0, NULL, 0);
}

static void answer_parse(struct connection *c)
{
	char *body = strstr(c->in, "\r\n\r\n");
	const char *length = strcasestr(c->in, "\r\nContent-Length:");
	const char *retry = strcasestr(c->in, "\r\nRetry-After:");
	size_t size = length ? strtoul(length + 17, NULL, 10) : 0;

	if (body && c->len >= (size_t)(body + 4 - c->in) + size)
		call_end(c, (int)strtol(c->in + 9, NULL, 10), body + 4,
			retry && retry < body ? (int)strtol(retry + 14, NULL, 10) : 0);
}

static void connection_read(struct connection *c)
{
	ssize_t got;

	if (c->room - c->len < 4096) {
		c->room = c->room ? c->room * 2 : 8192;
		c->in = mem_resize(c->in, c->room, 1);
	}
	got = read(c->fd, c->in + c->len, c->room - c->len - 1);
	if (got <= 0) {
		connection_fail(c);
		return;
	}
	c->len += (size_t)got;
	c->in[c->len] = '\0';
	if (c->busy)
		answer_parse(c);
}

static void connection_write(struct connection *c)
{
	size_t size = c->out ? strlen(c->out) : 0;

	if (size && write(c->fd, c->out, size) != (ssize_t)size) {
		connection_fail(c);
		return;
	}
	free(c->out);
	c->out = NULL;
	watch(c, EPOLLIN, EPOLL_CTL_MOD);
}

/* ---- Kafka ---- */

static rd_kafka_t *client(rd_kafka_type_t type, const char *group)
{
	const char *const consumer[][2] = {{"group.id", group}, {"fetch.wait.max.ms", fetch_wait},
		{"auto.offset.reset", "earliest"}, {"enable.auto.offset.store", "false"},
		{"auto.commit.interval.ms", "500"}};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256] = "";
	rd_kafka_t *made;

	rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof(why));
	rd_kafka_conf_set(conf, "log_level", "3", why, sizeof(why)); /* errors */
	if (type == RD_KAFKA_PRODUCER)
		rd_kafka_conf_set(conf, "linger.ms", "0", why, sizeof(why));
	for (size_t i = 0; type == RD_KAFKA_CONSUMER && i < ARRAY_LEN(consumer); i++)
		rd_kafka_conf_set(conf, consumer[i][0], consumer[i][1], why, sizeof(why));
	made = rd_kafka_new(type, conf, why, sizeof(why));
	if (!made)
		die("kafka", why);
	return made;
}

static void topic_subscribe(struct pool *pool, const char *topic)
{
	rd_kafka_topic_partition_list_t *names;
	char group[TOPIC_NAME_SIZE];

	if (pool->consumer)
		return;
	group_of_pool(pool->id, group);
	pool->consumer = client(RD_KAFKA_CONSUMER, group);
	rd_kafka_poll_set_consumer(pool->consumer);
	names = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(names, topic, RD_KAFKA_PARTITION_UA);
	rd_kafka_subscribe(pool->consumer, names);
	rd_kafka_topic_partition_list_destroy(names);
}

static void partitions_find(struct pool *pool)
{
	rd_kafka_topic_partition_list_t *assigned = NULL;

	if (pool->partition_count || rd_kafka_assignment(pool->consumer, &assigned))
		return;
	for (int i = 0; i < assigned->cnt && i < MAX_PARTITIONS; i++)
		read_ahead_init(&pool->partitions[i], i);
	pool->partition_count = assigned->cnt < MAX_PARTITIONS ? (size_t)assigned->cnt : MAX_PARTITIONS;
	rd_kafka_topic_partition_list_destroy(assigned);
}

static void positions_store(struct pool *pool)
{
	_cleanup_(freep) char *topic = mem_printf("%s%s", topics[TOPIC_JOBS].name, pool->id);
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(MAX_PARTITIONS);
	int64_t position;

	for (size_t p = 0; p < pool->partition_count; p++)
		if (read_ahead_position(&pool->partitions[p], &position))
			rd_kafka_topic_partition_list_add(list, topic, (int32_t)p)->offset = position;
	if (list->cnt)
		rd_kafka_offsets_store(pool->consumer, list);
	rd_kafka_topic_partition_list_destroy(list);
}

static void message_take(struct pool *pool, const rd_kafka_message_t *message)
{
	struct job_message job;
	struct err err = ERR_INIT;

	if (message->err || (size_t)message->partition >= pool->partition_count ||
		job_message_decode(message->payload, message->len, &job, &err) < 0)
		return;
	read_ahead_add(&pool->partitions[message->partition], message->offset, &job.job);
	news(owner(pool, (size_t)message->partition));
}

static void messages_take(struct pool *pool)
{
	rd_kafka_message_t *message;

	if (!pool->consumer)
		return;
	partitions_find(pool);
	while ((message = rd_kafka_consumer_poll(pool->consumer, 0))) {
		message_take(pool, message);
		rd_kafka_message_destroy(message);
	}
	positions_store(pool);
}

static void job_end(struct fake_job *job)
{
	_cleanup_(freep) char *text = fake_result(job->job);

	job->reported = true;
	if (rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topics[TOPIC_RESULTS].name),
		    RD_KAFKA_V_VALUE(text, strlen(text)), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END))
		die("produce", "a result");
}

/* ---- time ---- */

static void worker_tick(struct worker *w, int64_t now)
{
	bool ended = false;

	if (w->beaten_ms && now - w->beaten_ms > oldest_beat_ms)
		oldest_beat_ms = now - w->beaten_ms;
	for (size_t i = 0; i < w->job_count; i++)
		if (!w->jobs[i].reported && now >= w->jobs[i].end_ms) {
			job_end(&w->jobs[i]);
			ended = true;
		}
	if (ended)
		source_go_on(w);
	if (w->lease_ms && now >= w->lease_ms && !w->lease.busy)
		*w->id ? beat(w) : worker_register(w);
	if (w->source_ms && now >= w->source_ms)
		source_send(w, w->source_next);
	if (w->control_ms && now >= w->control_ms)
		control_listen(w);
}

static void tick(void)
{
	static unsigned ticks;
	int64_t now = clock_mono_ms();

	for (size_t i = 0; i < worker_count; i++)
		worker_tick(&workers[i], now);
	for (size_t i = ticks++ % 5; i < pool_count; i += 5)
		messages_take(&pools[i]);
	rd_kafka_poll(producer, 0);
}

/* ---- reports ---- */

static int by_size(const void *a, const void *b)
{
	float one = *(const float *)a, two = *(const float *)b;

	return (one > two) - (one < two);
}

static void print(json_t *document)
{
	_cleanup_(freep) char *text = json_dumps(document, JSON_COMPACT);

	puts(text);
	fflush(stdout);
	json_decref(document);
}

static void state_print(void)
{
	json_int_t registered = 0, waiting = 0, running = 0;

	for (size_t i = 0; i < worker_count; i++) {
		registered += *workers[i].id != '\0';
		waiting += workers[i].source.busy && workers[i].source.call == WAIT && !workers[i].source.out;
		running += (json_int_t)(slots - slots_free(&workers[i]));
	}
	print(json_pack("{sI sI sI sI}", "registered", registered, "waiting", waiting, "running", running, "claimed",
		(json_int_t)claimed_count));
}

static json_t *call_report(enum call call)
{
	size_t n = calls[call].samples;
	const float *ms = calls[call].ms;
	json_t *item = json_pack("{sI sI}", "count", calls[call].count, "failed", calls[call].failed);

	qsort(calls[call].ms, n, sizeof(*ms), by_size);
	if (n)
		json_object_update_new(item,
			json_pack("{sf sf sf}", "p50", (double)ms[n / 2], "p99", (double)ms[n * 99 / 100], "max",
				(double)ms[n - 1]));
	calls[call].count = calls[call].failed = 0;
	calls[call].samples = 0;
	return item;
}

static void report_print(void)
{
	json_t *document = json_object();

	for (enum call call = 0; call < CALLS; call++)
		json_object_set_new(document, call_names[call], call_report(call));
	json_object_set_new(document, "claimed", claimed);
	json_object_set_new(document, "empty-claims", json_integer(empty_claims));
	json_object_set_new(document, "oldest-heartbeat", json_real((double)oldest_beat_ms / 1000));
	claimed = json_array();
	empty_claims = oldest_beat_ms = 0;
	print(document);
}

static void command_run(void)
{
	char line[64];

	if (!fgets(line, sizeof(line), stdin))
		exit(0);
	if (strcmp(line, "state\n") == 0)
		state_print();
	else if (strcmp(line, "report\n") == 0)
		report_print();
}

/* ---- the start ---- */

static void tokens_read(void)
{
	while (pool_count < MAX_POOLS && fgets(pools[pool_count].token, sizeof(pools->token), stdin)) {
		char *token = pools[pool_count].token;

		token[strcspn(token, "\n")] = '\0';
		if (!*token)
			return;
		pool_count++;
	}
	die("standard input", "the tokens of 1 to 999 pools and an empty line are expected");
}

static void ports_read(char *text)
{
	char *rest = NULL;

	for (char *port = strtok_r(text, ",", &rest); port && port_count < MAX_PORTS; port = strtok_r(NULL, ",", &rest))
		ports[port_count++] = (int)strtol(port, NULL, 10);
}

static void worker_init(struct worker *w, size_t number)
{
	struct pool *pool = &pools[number % pool_count];
	const struct connection none = {.worker = w, .fd = -1, .port = (int)(number % (size_t)port_count)};

	*w = (struct worker){.pool = pool,
		.number = number,
		.source = none,
		.lease = none,
		.control = none,
		.ask_ms = ASK_MS,
		.told = json_array(),
		.lease_ms = 1};
	pool->workers = mem_resize(pool->workers, pool->worker_count + 1, sizeof(struct worker *));
	pool->workers[pool->worker_count++] = w;
}

static void workers_init(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < worker_count * 3 + pool_count * 16 + 64)
		die("descriptors", "raise the limit (ulimit -n)");
	workers = mem_new(worker_count, sizeof(*workers));
	for (size_t i = 0; i < worker_count; i++)
		worker_init(&workers[i], i);
	for (enum call call = 0; call < CALLS; call++)
		calls[call].ms = mem_new(MAX_SAMPLES, sizeof(float));
}

static void timer_open(void)
{
	const struct itimerspec every = {{0, TICK_MS * 1000000}, {0, TICK_MS * 1000000}};
	struct epoll_event ticks = {.events = EPOLLIN, .data.ptr = &timer}, input = {.events = EPOLLIN};

	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	timerfd_settime(timer, 0, &every, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &ticks);
	epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input);
}

static void event_handle(const struct epoll_event *event)
{
	struct connection *c = event->data.ptr;
	uint64_t expired;

	if (!event->data.ptr) {
		command_run();
	} else if (event->data.ptr == &timer) {
		if (read(timer, &expired, sizeof(expired)) > 0)
			tick();
	} else if (event->events & (EPOLLERR | EPOLLHUP)) {
		connection_fail(c);
	} else if (event->events & EPOLLIN) {
		connection_read(c);
	} else if (event->events & EPOLLOUT) {
		connection_write(c);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[256];

	if (argc != 7)
		die("usage", "fake_fleet PORTS BROKERS FETCH_WAIT_MS WORKERS SLOTS JOB_MS");
	setvbuf(stdin, NULL, _IONBF, 0);
	ports_read(argv[1]);
	brokers = argv[2];
	fetch_wait = argv[3];
	worker_count = strtoul(argv[4], NULL, 10);
	slots = strtoul(argv[5], NULL, 10);
	job_ms = strtol(argv[6], NULL, 10);
	tokens_read();
	if (!port_count || !pool_count || slots > MAX_LISTED / 2 || worker_count < pool_count)
		die("usage", "at least one port, one worker of each pool, and at most 32 slots");
	epoll = epoll_create1(EPOLL_CLOEXEC);
	claimed = json_array();
	workers_init();
	producer = client(RD_KAFKA_PRODUCER, NULL);
	timer_open();
	for (;;) {
		int count = epoll_wait(epoll, events, ARRAY_LEN(events), -1);

		for (int i = 0; i < count; i++)
			event_handle(&events[i]);
	}
}
