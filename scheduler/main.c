/* SPDX-License-Identifier: MPL-2.0 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/guard.h"
#include "common/log.h"
#include "scheduler/api/server.h"
#include "scheduler/auth/bootstrap.h"
#include "scheduler/dispatch/letters.h"
#include "scheduler/dispatch/publisher.h"
#include "scheduler/dispatch/results.h"
#include "scheduler/dispatch/sweeper.h"
#include "scheduler/dispatch/task_reports.h"
#include "scheduler/lifecycle/walk.h"
#include "scheduler/metrics.h"
#include "scheduler/options.h"

enum { DATABASE_TRY_MS = 1000 };

/* What is taken in from the broker, each by a thread. */
static const struct {
	const char *client, *group;
	enum topic topic;
	int (*settle)(struct intake *intake, const struct kafka_message *messages, size_t count);
} intakes[] = {
	{"results", "runyard-scheduler", TOPIC_RESULTS, results_settle},
	{"task-results", "runyard-scheduler-tasks", TOPIC_TASK_RESULTS, task_reports_settle},
};

enum { INTAKES = ARRAY_LEN(intakes) };

struct scheduler {
	struct scheduler_options options;
	struct keyring *keyring;
	struct guard *task_guard;
	struct store store; /* the main thread's */
	int signals;
	struct publisher *publisher;
	struct intake *intakes[INTAKES];
	struct sweeper *sweeper;
	struct api *api;
};

/* A signal that came, or 0 after wait_ms (-1: however long it takes). */
static int signal_wait(const struct scheduler *s, int wait_ms)
{
	struct pollfd fd = {.fd = s->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&fd, 1, wait_ms) <= 0 || read(s->signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

static void signals_open(struct scheduler *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
}

/* From here on a second signal ends the process: all that lasts is committed. */
static void signals_unblock(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Waits for PostgreSQL for as long as it takes: whoever starts a whole site need not mind the order. */
static int database_ready(struct scheduler *s, struct err *err)
{
	while (store_migrate(s->store.db, err) < 0) {
		if (err->kind != ERR_UNAVAILABLE)
			return -1;
		log_warn("waiting for PostgreSQL", "error", err->message, NULL);
		if (signal_wait(s, DATABASE_TRY_MS))
			return err_set(err, ERR_UNAVAILABLE, "stopped before PostgreSQL was reachable");
	}
	return 0;
}

static int port_file_write(const struct scheduler *s, struct err *err)
{
	_cleanup_(freep) char *part = mem_printf("%s.part", s->options.port_file);
	FILE *file;

	if (!*s->options.port_file)
		return 0;
	file = fopen(part, "w");
	if (!file)
		return err_errno(err, part);
	fprintf(file, "%d\n", api_port(s->api));
	if (fclose(file) != 0 || rename(part, s->options.port_file) != 0)
		return err_errno(err, s->options.port_file);
	return 0;
}

static int intakes_start(struct scheduler *s, const struct kafka_settings *kafka, struct err *err)
{
	for (size_t i = 0; i < INTAKES; i++) {
		const struct intake_spec spec = {.client = intakes[i].client,
			.topic = topics[intakes[i].topic].name,
			.group = intakes[i].group,
			.settle = intakes[i].settle,
			.store = s->store,
			.database_url = s->options.database_url,
			.kafka = kafka};

		if (intake_start(&spec, &s->intakes[i], err) < 0)
			return -1;
	}
	return 0;
}

static int scheduler_start(struct scheduler *s, struct err *err)
{
	const struct scheduler_options *o = &s->options;
	const struct kafka_settings kafka = {.brokers = o->brokers,
		.client_id = "runyard-scheduler",
		.properties = o->broker_properties,
		.fetch_wait_ms = (int)o->fetch_wait_ms};
	const struct publisher_spec publisher = {.database_url = o->database_url, .kafka = &kafka};
	struct sweeper_spec sweeper = {.database_url = o->database_url};
	struct api_settings api = {
		.address = o->listen, .threads = (int)o->http_threads, .database_url = o->database_url};

	if (database_ready(s, err) < 0 || publisher_start(&publisher, &s->publisher, err) < 0)
		return -1;
	s->store.publisher = s->publisher;
	sweeper.store = api.store = s->store;
	if (intakes_start(s, &kafka, err) < 0 || sweeper_start(&sweeper, &s->sweeper, err) < 0 ||
		api_start(&api, &s->api, err) < 0)
		return -1;
	return port_file_write(s, err);
}

/* In mirrored order: no new requests, then no more decisions, then what they wrote is sent. */
static void scheduler_stop(struct scheduler *s)
{
	api_stop(s->api);
	sweeper_stop(s->sweeper);
	for (size_t i = 0; i < INTAKES; i++)
		intake_stop(s->intakes[i]);
	publisher_stop(s->publisher);
}

static int command_serve(struct scheduler *s, int argc, char **argv, struct err *err)
{
	(void)argc;
	(void)argv;
	if (scheduler_start(s, err) < 0) {
		scheduler_stop(s);
		return -1;
	}
	log_info("serving", "url", api_public_url(s->api), NULL);
	while (!signal_wait(s, -1))
		;
	log_info("stopping; a second signal stops at once", NULL);
	signals_unblock();
	scheduler_stop(s);
	log_info("stopped", NULL);
	return 0;
}

static int command_migrate(struct scheduler *s, int argc, char **argv, struct err *err)
{
	(void)argc;
	(void)argv;
	return database_ready(s, err);
}

static int command_bootstrap(struct scheduler *s, int argc, char **argv, struct err *err)
{
	struct bootstrap_order order;
	json_auto_t *result = NULL;

	if (argc != 4)
		return err_set(err, ERR_INVALID, "usage: runyard-scheduler bootstrap USER EMAIL ORGANIZATION");
	order = (struct bootstrap_order){.username = argv[1], .email = argv[2], .organization = argv[3]};
	if (database_ready(s, err) < 0 || bootstrap(&s->store, &order, &result, err) < 0)
		return -1;
	_cleanup_(freep) char *text = json_text(result);
	printf("%s\n", text);
	return 0;
}

static int command_letters(struct scheduler *s, int argc, char **argv, struct err *err)
{
	long long id;

	if (argc == 1)
		return letters_print(&s->store, err);
	if (argc != 3 || !text_equal(argv[1], "replay") || text_number(argv[2], 1, INT64_MAX, &id) < 0)
		return err_set(err, ERR_INVALID, "usage: runyard-scheduler dead-letters [replay ID]");
	return letters_replay(&s->store, id, err);
}

static const struct {
	const char *name;
	int (*run)(struct scheduler *s, int argc, char **argv, struct err *err);
} commands[] = {
	{"serve", command_serve},
	{"migrate", command_migrate},
	{"bootstrap", command_bootstrap},
	{"dead-letters", command_letters},
};

static int command_run(struct scheduler *s, int argc, char **argv, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (argc == 0 ? i == 0 : text_equal(argv[0], commands[i].name))
			return commands[i].run(s, argc, argv, err);
	return err_set(err, ERR_INVALID, "unknown command '%s': see runyard-scheduler --help", argv[0]);
}

static int scheduler_setup(struct scheduler *s, struct err *err)
{
	int level = log_level_parse(s->options.log_level);

	if (level < 0)
		return err_set(err, ERR_INVALID, "--log-level: debug, info, warn or error is needed");
	log_setup("scheduler", (enum log_level)level);
	metrics_setup(scheduler_metrics, M_COUNT);
	signals_open(s);
	if (keyring_parse(s->options.keys, &s->keyring, err) < 0)
		return -1;
	if (guard_parse(s->options.task_allow, &s->task_guard, err) < 0)
		return err_context(err, "--task-allow");
	s->store = (struct store){.db = db_open(s->options.database_url),
		.keyring = s->keyring,
		.public_url = s->options.public_url,
		.lease_seconds = (int)s->options.lease_seconds,
		.task_guard = s->task_guard,
		.task_limits = {.delivery_seconds = (int)s->options.task_delivery_seconds,
			.progress_seconds = (int)s->options.task_progress_seconds,
			.total_seconds = (int)s->options.task_total_seconds}};
	return 0;
}

static void scheduler_release(struct scheduler *s)
{
	db_close(s->store.db);
	guard_free(s->task_guard);
	keyring_free(s->keyring);
	closep(&s->signals);
	options_release(&scheduler_options, &s->options);
}

static int states_print(void)
{
	_cleanup_(freep) char *page = lifecycle_page();

	fputs(page, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	struct scheduler s = {.signals = -1};
	struct err err = ERR_INIT;
	int rest = argc;
	int result;

	log_setup("scheduler", LOG_INFO);
	if (argc == 2 && text_equal(argv[1], "states"))
		return states_print();
	result = options_read(&scheduler_options, argc, argv, &s.options, &rest, &err);
	if (result == 0)
		result = scheduler_setup(&s, &err);
	if (result == 0)
		result = command_run(&s, argc - rest, argv + rest, &err);
	if (result < 0)
		log_error(err.message, NULL);
	scheduler_release(&s);
	return result < 0 ? 1 : 0;
}
