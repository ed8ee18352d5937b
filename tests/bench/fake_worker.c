/* SPDX-License-Identifier: MPL-2.0 */
/*
 * fake_worker PORT BROKERS FETCH_WAIT_MS SLOTS NAME: a worker without an engine, for tests/bench/flow.
 *
 * It implements the worker's whole contract (proto/README.md): it registers, reads its pool's job messages, and claims
 * for all free slots. It fetches the contents that were not in the claim, uploads what a worker would for a
 * configuration of one resource, and sends results by Kafka and heartbeats. Each slot is a thread with a connection
 * of its own. RUNYARD_AGENT_TOKEN is the pool's token. Any unexpected answer ends the program.
 */

#include <arpa/inet.h>
#include <jansson.h>
#include <librdkafka/rdkafka.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/fake_result.h"

enum { MAX_SLOTS = 256, ANSWER_SIZE = 4 << 20, BEAT_SECONDS = 15, IDLE_MS = 2000, FREED_MS = 20 };

struct http {
	int fd;
	char *answer; /* terminated */
};

struct slot {
	pthread_t thread;
	json_t *job; /* NULL: free */
	struct http http;
};

static struct slot slots[MAX_SLOTS];
static size_t slot_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards slots' jobs and `freed` */
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static bool freed; /* a slot has become free since the last claim */
static int port;
static rd_kafka_t *producer;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "fake_worker: %s: %s\n", what, why);
	exit(1);
}

/* ---- HTTP ---- */

static void http_open(struct http *http)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int yes = 1;

	http->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	http->answer = malloc(ANSWER_SIZE + 1);
	if (http->fd < 0 || connect(http->fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		die("connect", "the scheduler is not there");
	setsockopt(http->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

/* Reads the answer's body, terminated. */
static char *answer_read(struct http *http)
{
	size_t len = 0, whole = ANSWER_SIZE;
	char *body = NULL;

	while (len < whole) {
		ssize_t got = read(http->fd, http->answer + len, whole - len);

		if (got <= 0)
			die("read", "the scheduler closed the connection");
		len += (size_t)got;
		http->answer[len] = '\0';
		if (!body && (body = strstr(http->answer, "\r\n\r\n"))) {
			const char *length = strcasestr(http->answer, "\r\nContent-Length:");

			body += 4;
			whole = (size_t)(body - http->answer) +
				(length && length < body ? strtoul(length + 17, NULL, 10) : 0);
		}
	}
	return body;
}

struct call {
	const char *method, *path, *token, *body; /* body: text or NULL */
	int also;                                 /* another accepted status besides 200 and 204 */
};

static char *http_call(struct http *http, const struct call *call, int *ret_status)
{
	size_t len = call->body ? strlen(call->body) : 0;
	char *request = NULL, *body;
	int size = asprintf(&request,
		"%s /api/worker/v1/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
		call->method, call->path, call->token, len, call->body ? call->body : "");

	if (size < 0 || write(http->fd, request, (size_t)size) != size)
		die("write", call->path);
	free(request);
	body = answer_read(http);
	*ret_status = (int)strtol(http->answer + 9, NULL, 10);
	if (*ret_status != 200 && *ret_status != 204 && *ret_status != call->also)
		die(call->path, http->answer);
	return body;
}

static json_t *http_json(struct http *http, const char *path, const char *token, json_t *body)
{
	char *text = json_dumps(body, JSON_COMPACT);
	int status;
	json_t *answer = json_loads(
		http_call(http, &(struct call){"POST", path, token, text, 200}, &status), JSON_DECODE_ANY, NULL);

	free(text);
	json_decref(body);
	return answer;
}

/* ---- a job ---- */

static const char *text_at(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static int on_job(struct slot *slot, const char *method, const char *what, const char *body, int also)
{
	char path[256];
	int status;

	snprintf(path, sizeof(path), "jobs/%s/%s", text_at(slot->job, "job"), what);
	http_call(&slot->http, &(struct call){method, path, text_at(slot->job, "token"), body, also}, &status);
	return status;
}

static void fetch(struct slot *slot, const char *what)
{
	if (!text_at(json_object_get(slot->job, "contents"), what))
		on_job(slot, "GET", what, NULL, 0);
}

static const char digest[] = "schemas?digest=2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

/* A body of that many bytes. */
static const char *bytes(size_t len)
{
	static char text[8192];

	if (!text[0]) /* initialized by the first call, before there are threads */
		memset(text, 'x', sizeof(text) - 1);
	return text + sizeof(text) - 1 - len;
}

struct part {
	const char *path, *bytes;
	int also; /* another accepted status besides 204 */
};

/* Sends several uploads in one request (proto/upload_batch.h). Returns the status of the last one. */
static int batch(struct slot *slot, const struct part *parts, size_t count)
{
	static const char status_name[] = "\"status\":";
	char *body = NULL, *said = slot->http.answer;
	size_t len;
	FILE *text = open_memstream(&body, &len);
	int status = 0;

	for (size_t i = 0; i < count; i++)
		fprintf(text, "%s{\"path\":\"%s\",\"size\":%zu}", i ? "," : "{\"parts\":[", parts[i].path,
			strlen(parts[i].bytes));
	fputs("]}\n", text);
	for (size_t i = 0; i < count; i++)
		fputs(parts[i].bytes, text);
	fclose(text);
	on_job(slot, "POST", "batch", body, 0);
	free(body);
	for (size_t i = 0; i < count; i++) {
		said = strstr(said, status_name);
		status = said ? (int)strtol(said += strlen(status_name), NULL, 10) : 0;
		if (status != 204 && status != parts[i].also)
			die(parts[i].path, slot->http.answer);
	}
	return status;
}

static void do_plan(struct slot *slot)
{
	fetch(slot, "configuration");
	if (json_is_true(json_object_get(slot->job, "has-state")))
		fetch(slot, "state");
	batch(slot,
		(const struct part[]){
			{"init", bytes(300), 0}, {"log?offset=0", bytes(900), 0}, {"plan", bytes(4000), 0}},
		3);
	if (batch(slot, (const struct part[]){{"plan-json", bytes(6000), 0}, {digest, "", 404}}, 2) == 404)
		on_job(slot, "PUT", digest, "foo", 0);
}

static void do_apply(struct slot *slot)
{
	struct timespec now; /* used as the serial: it increases in every workspace, whichever worker wrote last */
	char state[1024];

	fetch(slot, "configuration");
	if (json_is_true(json_object_get(slot->job, "has-state")))
		fetch(slot, "state");
	fetch(slot, "plan");
	fetch(slot, "init");
	batch(slot, (const struct part[]){{"log?offset=0", bytes(100), 0}, {"started", "", 0}}, 2);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(state, sizeof(state),
		"{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":%ld,\"lineage\":\"l\",\"outputs\":{},"
		"\"resources\":[{\"mode\":\"managed\",\"type\":\"terraform_data\",\"name\":\"one\",\"provider\":"
		"\"provider[\\\"terraform.io/builtin/terraform\\\"]\",\"instances\":[{\"schema_version\":0,"
		"\"attributes\":{\"id\":\"one\"}}]}]}",
		now.tv_sec * 1000000 + now.tv_nsec / 1000);
	batch(slot,
		(const struct part[]){{"state", state, 0}, {"log?offset=100", bytes(700), 0}, {"plan-json", "", 404}},
		3);
}

static void result_send(const struct slot *slot)
{
	_cleanup_(freep) char *text = fake_result(slot->job);

	if (rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("runyard.results"), RD_KAFKA_V_VALUE(text, strlen(text)),
		    RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END))
		die("produce", "a result");
}

static void *slot_thread(void *data)
{
	struct slot *slot = data;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (!slot->job)
			pthread_cond_wait(&work, &lock);
		pthread_mutex_unlock(&lock);
		if (strcmp(text_at(slot->job, "stage"), "plan") == 0)
			do_plan(slot);
		else
			do_apply(slot);
		result_send(slot);
		pthread_mutex_lock(&lock);
		json_decref(slot->job);
		slot->job = NULL;
		freed = true;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* ---- the worker ---- */

static size_t slots_free(void)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < slot_count; i++)
		count += !slots[i].job;
	freed = false;
	pthread_mutex_unlock(&lock);
	return count;
}

static bool slot_freed(void)
{
	pthread_mutex_lock(&lock);
	bool any = freed;
	pthread_mutex_unlock(&lock);
	return any;
}

static void slots_fill(json_t *jobs)
{
	size_t i, at = 0;
	json_t *job;

	pthread_mutex_lock(&lock);
	json_array_foreach(jobs, i, job)
	{
		while (slots[at].job)
			at++;
		slots[at].job = json_incref(job);
	}
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&lock);
}

/* True if it got as many jobs as it asked for. */
static bool claim(struct http *http, const char *token, const char *worker)
{
	size_t wanted = slots_free(), got;
	json_t *answer;

	if (!wanted)
		return false;
	answer = http_json(http, "claim", token, json_pack("{ss sI}", "worker", worker, "slots", (json_int_t)wanted));
	got = json_array_size(json_object_get(answer, "jobs"));
	slots_fill(json_object_get(answer, "jobs"));
	json_decref(answer);
	return got == wanted;
}

static void beat(struct http *http, const char *token)
{
	json_t *jobs = json_array();
	size_t wanted = slots_free();

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < slot_count; i++)
		if (slots[i].job)
			json_array_append_new(jobs,
				json_pack("{sO sO}", "job", json_object_get(slots[i].job, "job"), "attempt",
					json_object_get(slots[i].job, "attempt")));
	pthread_mutex_unlock(&lock);
	json_decref(http_json(http, "heartbeat", token,
		json_pack("{sI sI sb s[] so}", "free", (json_int_t)wanted, "slots", (json_int_t)slot_count, "draining",
			0, "partitions", "jobs", jobs)));
}

static rd_kafka_t *client(rd_kafka_type_t type, const char *brokers, const char *wait, const char *group)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256] = "";
	rd_kafka_t *made;

	rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof(why));
	if (type == RD_KAFKA_CONSUMER) {
		rd_kafka_conf_set(conf, "group.id", group, why, sizeof(why));
		rd_kafka_conf_set(conf, "fetch.wait.max.ms", wait, why, sizeof(why));
		rd_kafka_conf_set(conf, "auto.offset.reset", "earliest", why, sizeof(why));
		rd_kafka_conf_set(conf, "partition.assignment.strategy", "roundrobin", why, sizeof(why));
	} else {
		rd_kafka_conf_set(conf, "linger.ms", "0", why, sizeof(why));
	}
	made = rd_kafka_new(type, conf, why, sizeof(why));
	if (!made)
		die("kafka", why);
	return made;
}

static rd_kafka_t *subscribe(const json_t *registered, const char *brokers, const char *wait)
{
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	char group[128];
	rd_kafka_t *consumer;

	snprintf(group, sizeof(group), "runyard-worker-%s", text_at(registered, "pool"));
	consumer = client(RD_KAFKA_CONSUMER, brokers, wait, group);
	rd_kafka_poll_set_consumer(consumer);
	rd_kafka_topic_partition_list_add(topics, text_at(registered, "topic"), RD_KAFKA_PARTITION_UA);
	rd_kafka_subscribe(consumer, topics);
	rd_kafka_topic_partition_list_destroy(topics);
	return consumer;
}

/* Waits for a job message, a freed slot, or a time-out. */
static void wait_for_work(rd_kafka_t *consumer)
{
	bool ticket = false;

	for (int waited = 0; waited < IDLE_MS && !ticket && !slot_freed(); waited += FREED_MS) {
		rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, FREED_MS);

		for (; message; message = rd_kafka_consumer_poll(consumer, 0)) {
			ticket |= !message->err;
			rd_kafka_message_destroy(message);
		}
		rd_kafka_poll(producer, 0);
	}
}

int main(int argc, char **argv)
{
	const char *token = getenv("RUNYARD_AGENT_TOKEN");
	struct http http;
	json_t *registered;
	rd_kafka_t *consumer;
	time_t beaten = time(NULL);

	if (argc != 6 || !token)
		die("usage", "fake_worker PORT BROKERS FETCH_WAIT_MS SLOTS NAME, and RUNYARD_AGENT_TOKEN");
	port = (int)strtol(argv[1], NULL, 10);
	slot_count = strtoul(argv[4], NULL, 10);
	http_open(&http);
	registered = http_json(&http, "register", token,
		json_pack("{ss sI ss}", "name", argv[5], "slots", (json_int_t)slot_count, "version", "0"));
	producer = client(RD_KAFKA_PRODUCER, argv[2], NULL, NULL);
	consumer = subscribe(registered, argv[2], argv[3]);
	bytes(0);
	for (size_t i = 0; i < slot_count; i++) {
		http_open(&slots[i].http);
		pthread_create(&slots[i].thread, NULL, slot_thread, &slots[i]);
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (time(NULL) - beaten >= BEAT_SECONDS) {
			beat(&http, text_at(registered, "token"));
			beaten = time(NULL);
		}
		if (!claim(&http, token, text_at(registered, "worker")))
			wait_for_work(consumer);
	}
}
