/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-broker: the embedded broker. librdkafka contains a small Kafka broker for its own tests (the mock
 * cluster). This program gives it a fixed port, creates the topics, and handles signals.
 *
 * It keeps messages and offsets in memory and loses them when it stops. No run is lost: PostgreSQL has the
 * authoritative state, and the scheduler publishes unfinished work again. It is for one machine; a cluster uses
 * Kafka.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/ids.h"
#include "common/log.h"
#include "common/options/options.h"
#include "common/process.h"

enum { BACKLOG = 256, SLACK_NS = 1000 * 1000 };

struct broker_options {
	long long port, rejoin_ms;
	char *port_file;
};

static const struct option_row option_rows[] = {
	OPTION_ROW(struct broker_options, port, "port", NUMBER(0, 65535), "0",
		"The port on 127.0.0.1. 0 takes a free one."),
	OPTION_ROW(struct broker_options, port_file, "port-file", TEXT, "",
		"A file to write the port to, once clients can connect."),
	OPTION_ROW(struct broker_options, rejoin_ms, "rejoin-ms", NUMBER(1, 5000), "2200",
		"Milliseconds that a group's members have to come back when one joins or leaves; more than their "
		"heartbeat.interval.ms."),
};

static const struct option_table options_table = {
	.process = "runyard-broker",
	.summary = "A Kafka broker in memory, for one machine",
	.rows = option_rows,
	.count = ARRAY_LEN(option_rows),
};

struct topic {
	const char *name;
	int partitions;
};

static const struct topic topics[] = {
#define TOPIC(symbol, name, partitions, hours, group) {name, partitions},
#include "proto/topics.def"
#undef TOPIC
};

/*
 * The mock cluster binds its listener to any free port, and its API has no option for the port. Clients keep the
 * address they were given, so a restart must use the same port. bind, listen and accept below replace the C library's
 * functions for the whole program, librdkafka included.
 */
static in_port_t wanted_port;

int bind(int fd, const struct sockaddr *address, socklen_t len)
{
	int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
	struct sockaddr_in wanted;
	int on = 1;

	if (!wanted_port || address->sa_family != AF_INET || len != sizeof(wanted))
		return next(fd, address, len);
	memcpy(&wanted, address, sizeof(wanted));
	wanted.sin_port = wanted_port;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return next(fd, (const struct sockaddr *)&wanted, sizeof(wanted));
}

/* The mock cluster asks for a backlog of 5. With many processes starting together, some would wait a second for a
 * retried handshake. */
int listen(int fd, int backlog)
{
	int (*next)(int, int) = dlsym(RTLD_NEXT, "listen");

	return next(fd, backlog < BACKLOG ? BACKLOG : backlog);
}

static int64_t rejoin_us;

#ifdef BROKER_WRAPS
/* The linker (--wrap) redirects librdkafka's calls of some functions to those below, named __wrap. All of them run in
 * the mock cluster's thread. */
typedef void timer_fn(void *timers, void *data);
void __real_rd_kafka_timer_start0(
	void *timers, void *timer, int64_t us, uint8_t once, uint8_t again, timer_fn *callback, void *data);
void __wrap_rd_kafka_timer_start0(
	void *timers, void *timer, int64_t us, uint8_t once, uint8_t again, timer_fn *callback, void *data);
int __real_rd_kafka_timer_stop(void *timers, void *timer, int lock);
int __wrap_rd_kafka_timer_stop(void *timers, void *timer, int lock);

/*
 * The mock cluster answers an empty fetch only after the whole time that the client asked for, so clients ask for
 * ASKED_US. The timer of such an answer is extended here; clients that ask for more wait as they ask. A new message
 * ends all waits, and the clients fetch again. Measured: the idle broker and three idle readers use 0.1 % of a
 * core instead of 2.6 %.
 */
enum {
	MAX_WAITS = 1024,
	ASKED_US = 10 * 1000,
	EXTENDED_US = 5000 * 1000,
	SETTLED_US = 1000 * 1000, /* new clients and members of groups begin to fetch all partitions within this time */
};

struct wait {
	void *timers, *timer, *data;
	timer_fn *callback;
};

static struct wait waits[MAX_WAITS]; /* some have ended */
static size_t wait_count;
static int64_t calm_us; /* from then on, waits are extended */

static struct wait *wait_find(const void *timer)
{
	struct wait *wait = waits;

	while (wait < waits + wait_count && wait->timer != timer)
		wait++;
	return wait;
}

/* Returns the time of the timer of an answer that waits. `us`: what the client asked for. A wait that begins within
 * 10 ms of a message is not extended. */
static int64_t wait_extend(const struct wait *wait, int64_t us)
{
	struct wait *place = wait_find(wait->timer);

	if (us > ASKED_US || place == waits + MAX_WAITS)
		return us;
	wait_count += place == waits + wait_count;
	*place = *wait;
	return clock_mono_us() < calm_us ? us : EXTENDED_US;
}

/* Ends the waits, and extends no other in the next calm_in_us. */
static void waits_end(int64_t calm_in_us)
{
	int64_t now_us = clock_mono_us();

	if (calm_us < now_us + calm_in_us)
		calm_us = now_us + calm_in_us;
	for (; wait_count > 0; wait_count--) {
		const struct wait *wait = &waits[wait_count - 1];

		__real_rd_kafka_timer_start0(wait->timers, wait->timer, 0, 1, 1, wait->callback, wait->data);
	}
}

/*
 * Shortens the mock cluster's delays. The first member of a group would wait 3 s for others. After a member has
 * joined or left, all would wait 5 s (the session's timeout less one), although the others rejoin by their next
 * heartbeat. This version has no option for the delays.
 * Measured: the first member of a group has its partitions after 0.03 s instead of 3.0 s.
 */
static int64_t rejoin_shorten(int64_t asked_us)
{
	enum { FIRST_US = 3000 * 1000, NO_OTHER_US = 20 * 1000, REJOIN_US = 5000 * 1000 };
	int64_t us = asked_us == FIRST_US ? NO_OTHER_US : asked_us == REJOIN_US ? rejoin_us : asked_us;

	waits_end(us + SETTLED_US);
	return us;
}

/* Timers that fire once are those of groups, which a second start restarts, and those of answers that wait. */
void __wrap_rd_kafka_timer_start0(
	void *timers, void *timer, int64_t us, uint8_t once, uint8_t again, timer_fn *callback, void *data)
{
	if (once && again) {
		us = rejoin_shorten(us);
	} else if (once) {
		const struct wait wait = {.timers = timers, .timer = timer, .data = data, .callback = callback};

		us = wait_extend(&wait, us);
	}
	__real_rd_kafka_timer_start0(timers, timer, us, once, again, callback, data);
}

/* Called when a connection ends. */
int __wrap_rd_kafka_timer_stop(void *timers, void *timer, int lock)
{
	struct wait *wait = wait_find(timer);

	if (wait < waits + wait_count)
		*wait = waits[--wait_count];
	return __real_rd_kafka_timer_stop(timers, timer, lock);
}

int __real_rd_kafka_mock_partition_log_append(
	void *partition, const void *records, const void *transaction, int64_t *ret_offset);
int __wrap_rd_kafka_mock_partition_log_append(
	void *partition, const void *records, const void *transaction, int64_t *ret_offset);

int __wrap_rd_kafka_mock_partition_log_append(
	void *partition, const void *records, const void *transaction, int64_t *ret_offset)
{
	waits_end(ASKED_US);
	return __real_rd_kafka_mock_partition_log_append(partition, records, transaction, ret_offset);
}

/* A string in a request, in librdkafka's layout. */
struct request_text {
	int len;
	const char *bytes;
};

/*
 * Names a new member of a group by a random id. The mock cluster would use the address of the member's memory, and a
 * later member may get the same address. A client that reconnects sends its name again. Two clients with one name would
 * be one member, and an assertion would end the broker.
 */
#ifdef BROKER_CLASSIC_GROUPS /* of later versions of librdkafka */
#define MEMBER_ADD(kind)   kind##_rd_kafka_mock_cgrp_classic_member_add
#define INSTANCE_PARAMETER const void *instance,
#define INSTANCE           instance,
#else
#define MEMBER_ADD(kind) kind##_rd_kafka_mock_cgrp_member_add
#define INSTANCE_PARAMETER
#define INSTANCE
#endif
#define MEMBER_PARAMETERS                                                                                              \
	void *group, void *connection, void *answer, const struct request_text *member, const void *protocol_type,     \
		INSTANCE_PARAMETER void *protocols, int protocol_count, int session_ms

int MEMBER_ADD(__real)(MEMBER_PARAMETERS);
int MEMBER_ADD(__wrap)(MEMBER_PARAMETERS);

int MEMBER_ADD(__wrap)(MEMBER_PARAMETERS)
{
	struct id id = id_new("member");
	const struct request_text named = {.len = (int)strlen(id.text), .bytes = id.text};

	return MEMBER_ADD(__real)(group, connection, answer, member->len > 0 ? member : &named, protocol_type,
		INSTANCE protocols, protocol_count, session_ms);
}
#endif

/* After a restart, clients connect before the topics exist. A request would create a topic with other partitions, and
 * topics_create would fail. So these connections are ended, and the clients connect again. */
static atomic_bool has_topics;

int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict len)
{
	int (*next)(int, struct sockaddr *restrict, socklen_t *restrict) = dlsym(RTLD_NEXT, "accept");
	int accepted = next(fd, address, len);

#ifdef BROKER_WRAPS
	waits_end(SETTLED_US);
#endif
	if (accepted >= 0 && !atomic_load(&has_topics))
		shutdown(accepted, SHUT_RDWR);
	return accepted;
}

static void forward_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
	(void)client;
	log_line(level <= 4 ? LOG_WARN : LOG_DEBUG, "librdkafka", "facility", facility, "why", text, NULL);
}

/* The client that the mock cluster needs for its threads and its log. It never connects. */
static int client_new(rd_kafka_t **ret_client, struct err *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256];

	rd_kafka_conf_set_log_cb(conf, forward_log);
	/* As in common/kafka/kafka_conf.c. */
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	*ret_client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
	prctl(PR_SET_TIMERSLACK, 0);
	if (*ret_client)
		return 0;
	rd_kafka_conf_destroy(conf);
	return err_set(err, ERR_INTERNAL, "librdkafka does not start: %s", why);
}

static void client_freep(rd_kafka_t **client)
{
	if (*client)
		rd_kafka_destroy(*client);
}

static void cluster_freep(rd_kafka_mock_cluster_t **cluster)
{
	if (*cluster)
		rd_kafka_mock_cluster_destroy(*cluster);
}

/* Topics that are not created here are created by the first request for them; in newer versions of librdkafka by the
 * first of a client with allow.auto.create.topics. These are the pools' job topics, whose names end with the pool's
 * id. */
static int topics_create(rd_kafka_mock_cluster_t *cluster, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
		const struct topic *topic = &topics[i];
		size_t len = strlen(topic->name);

		if (topic->name[len - 1] == '.')
			continue;
		if (rd_kafka_mock_topic_create(cluster, topic->name, topic->partitions, 1))
			return err_set(err, ERR_INTERNAL, "the topic %s can't be created", topic->name);
	}
	return 0;
}

/* The mock cluster ends the process when it can't bind, so this checks first. */
static int port_check(const struct broker_options *options, struct err *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = wanted_port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	_cleanup_(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1) < 0)
		return err_set(err, ERR_UNAVAILABLE, "--port %lld can't be used: %s", options->port, strerror(errno));
	return 0;
}

static void wait_for_signal(const sigset_t *signals)
{
	int signal;

	sigwait(signals, &signal);
	log_info("stopping", "signal", strsignal(signal), NULL);
}

static int serve(const struct broker_options *options, const sigset_t *signals, struct err *err)
{
	_cleanup_(client_freep) rd_kafka_t *client = NULL;
	_cleanup_(cluster_freep) rd_kafka_mock_cluster_t *cluster = NULL;
	const char *port;
	long long number = 0;

	if (port_check(options, err) < 0 || client_new(&client, err) < 0)
		return -1;
	cluster = rd_kafka_mock_cluster_new(client, 1);
	if (!cluster)
		return err_set(err, ERR_INTERNAL, "librdkafka's mock cluster does not start");
	if (topics_create(cluster, err) < 0)
		return -1;
	atomic_store(&has_topics, true);
	port = strrchr(rd_kafka_mock_cluster_bootstraps(cluster), ':') + 1;
	text_number(port, 1, 65535, &number);
	if (port_file_write(options->port_file, (int)number, err) < 0)
		return -1;
	log_info("ready", "port", port, NULL);
	wait_for_signal(signals);
	return 0;
}

int main(int argc, char **argv)
{
	struct broker_options options = {0};
	struct err err = ERR_INIT;
	sigset_t signals;
	struct arguments arguments = {.count = argc, .values = argv};
	int result;

	log_setup("broker", NULL, LOG_INFO);
	result = options_read(&options_table, &arguments, &options, &err);
	if (result == 0) {
		/* Blocked before the first thread starts, so that only sigwait receives them. */
		sigemptyset(&signals);
		sigaddset(&signals, SIGTERM);
		sigaddset(&signals, SIGINT);
		sigprocmask(SIG_BLOCK, &signals, NULL);
		wanted_port = htons((in_port_t)options.port);
		rejoin_us = options.rejoin_ms * 1000;
		result = serve(&options, &signals, &err);
	}
	if (result < 0)
		log_error(err.message, NULL);
	options_release(&options_table, &options);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
