/* SPDX-License-Identifier: MPL-2.0 */
#include "common/process.h"
#include "scheduler/scheduler.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/http/certificate.h"
#include "common/http/httpd.h"
#include "common/log.h"
#include "common/loop/service_manager.h"
#include "common/loop/watchdog.h"
#include "common/memory.h"
#include "scheduler/api/registry/mirror/folder.h"
#include "scheduler/api/server/server.h"
#include "scheduler/auth/identity/first_provider.h"
#include "scheduler/background/audit/exporter.h"
#include "scheduler/background/lag/lag_watch.h"
#include "scheduler/background/reaper.h"
#include "scheduler/background/retention.h"
#include "scheduler/background/vcs/events.h"
#include "scheduler/background/vcs/renewals.h"
#include "scheduler/db/schema.h"
#include "scheduler/events/hub.h"
#include "scheduler/intake/dead_letters_topic.h"
#include "scheduler/metrics.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/outbox/publisher.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/results.h"
#include "scheduler/runs/task_reports.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/store/workers/processes.h"
#include "scheduler/store/workers/workers.h"

enum { DATABASE_TRY_MS = 1000, MAX_CONNECTIONS = 10000, OTHER_DESCRIPTORS = 256 };

/* The topics that the scheduler reads. */
static const struct intake_topic intake_topics[] = {
	{TOPIC_RESULTS, results_settle},
	{TOPIC_TASK_RESULTS, task_reports_settle},
	{TOPIC_DEAD_LETTERS, dead_letters_topic_settle},
};

static bool tls_wanted(const struct scheduler *s)
{
	return *s->options.tls_certificate || *s->options.tls_key;
}

/* Called at the start and on each SIGHUP: a certificate is renewed without a restart. */
static int certificate_read(const struct scheduler *s, struct err *err)
{
	if (!tls_wanted(s))
		return 0;
	if (!*s->options.tls_certificate || !*s->options.tls_key)
		return err_set(err, ERR_INVALID, "--tls-certificate and --tls-key need one another");
	if (certificate_load(s->options.tls_certificate, s->options.tls_key, err) < 0)
		return -1;
	metric_set(M_CERTIFICATE_EXPIRY, "", (double)certificate_expires());
	return 0;
}

static void certificate_reread(const struct scheduler *s)
{
	struct err err = ERR_INIT;

	if (certificate_read(s, &err) < 0)
		log_error("the certificate stays as it was", "error", err.message, NULL);
	else if (tls_wanted(s))
		log_info("the certificate was read again", NULL);
}

static int keys_read(struct scheduler *s, const char *text, struct err *err)
{
	_cleanup_(keyring_freep) struct keyring *keyring = NULL;
	struct store store = s->store;

	if (keyring_parse(text, &keyring, err) < 0)
		return -1;
	store.keyring = keyring;
	if (keys_check(&store, err) < 0)
		return -1;
	keyring_take(s->keyring, keyring);
	keyring = NULL;
	return keys_use(&s->store, err);
}

/* On each SIGHUP: a key is added, moved or removed without a restart. */
static void keys_reread(struct scheduler *s)
{
	struct scheduler_options options = {0};
	struct arguments arguments = s->arguments;
	struct err err = ERR_INIT;

	if (options_read(&scheduler_options, &arguments, &options, &err) < 0 || keys_read(s, options.keys, &err) < 0)
		log_error("the keys stay as they were", "error", err.message, NULL);
	else
		log_info("the keys were read again", NULL);
	options_release(&scheduler_options, &options);
}

/* For any thread, after a connection to PostgreSQL has failed. */
static char *database_url_read(void *data)
{
	const struct scheduler *s = data;
	struct scheduler_options options = {0};
	struct arguments arguments = s->arguments;
	struct err err = ERR_INIT;
	char *url = NULL;

	if (options_read(&scheduler_options, &arguments, &options, &err) == 0)
		url = mem_text(options.database_url);
	else
		log_warn("the connection string of PostgreSQL can't be read again", "error", err.message, NULL);
	options_release(&scheduler_options, &options);
	return url;
}

/* Returns a signal that arrived, or 0 after wait_ms (-1: no timeout). */
static int signal_wait(const struct scheduler *s, int wait_ms)
{
	struct pollfd fd = {.fd = s->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&fd, 1, wait_ms) <= 0 || read(s->signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

/* Returns true if the process has to stop, false after at most wait_ms. */
static bool stop_wait(struct scheduler *s, int wait_ms)
{
	int came = signal_wait(s, wait_ms);

	if (came == SIGHUP) {
		certificate_reread(s);
		keys_reread(s);
	}
	return came && came != SIGHUP;
}

void scheduler_signals_open(struct scheduler *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
}

/* From here on, a further signal ends the process at once. Everything persistent is committed. */
static void signals_unblock(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int schema_ready(struct scheduler *s, struct err *err)
{
	if (s->options.migrate && schema_migrate(s->options.database_url, s->contract, err) < 0)
		return -1;
	return schema_check(s->store.db, err);
}

/* Waits for PostgreSQL without a limit, so that the parts of a site can be started in any order. */
int scheduler_database_ready(struct scheduler *s, struct err *err)
{
	while (db_check(s->options.database_url, err) < 0 || schema_ready(s, err) < 0 ||
		keys_check(&s->store, err) < 0) {
		if (err->kind != ERR_UNAVAILABLE)
			return -1;
		log_warn("waiting for PostgreSQL", "error", err->message, NULL);
		if (stop_wait(s, DATABASE_TRY_MS))
			return err_set(err, ERR_UNAVAILABLE, "stopped before PostgreSQL was reachable");
	}
	return 0;
}

static struct expiry_limits limits_of(const struct scheduler_options *o)
{
	return (struct expiry_limits){.logs_days = o->keep_logs_days,
		.plan_files_days = o->keep_plan_files_days,
		.plans_days = o->keep_plans_days,
		.states_days = o->keep_states_days,
		.states_newest = o->keep_states_newest,
		.configurations_days = o->keep_configurations_days,
		.hidden_days = o->keep_hidden_days};
}

/* The most connections of workers and other clients, and the most event streams. */
struct connection_limits {
	int connections, streams;
};

/* A worker keeps one or two connections. Other files need descriptors, too. With few descriptors, at most a half is for
 * event streams. */
static int connections_possible(const struct scheduler *s, struct connection_limits *ret_limits, struct err *err)
{
	struct connection_limits limits = {MAX_CONNECTIONS, (int)s->options.max_streams};
	unsigned long long wanted = (unsigned long long)(limits.connections + limits.streams + OTHER_DESCRIPTORS);
	unsigned long long allowed;
	char text[64];

	if (descriptors_raise(2 * (unsigned long long)OTHER_DESCRIPTORS, wanted, &allowed, err) < 0)
		return -1;
	snprintf(text, sizeof(text), "%llu of %llu", allowed, wanted);
	if (allowed < wanted) {
		int left = (int)allowed - OTHER_DESCRIPTORS;

		log_warn("few descriptors: fewer workers and clients can be connected", "descriptors", text, NULL);
		limits.streams = limits.streams < left / 2 ? limits.streams : left / 2;
		limits.connections =
			limits.connections < left - limits.streams ? limits.connections : left - limits.streams;
	}
	*ret_limits = limits;
	return 0;
}

static int addresses_check(const struct scheduler_options *o, struct err *err)
{
	if (httpd_check(o->listen, err) < 0)
		return err_context(err, "--listen");
	if (*o->metrics_listen && httpd_check(o->metrics_listen, err) < 0)
		return err_context(err, "--metrics-listen");
	return 0;
}

struct kafka_settings scheduler_kafka(const struct scheduler_options *o)
{
	return (struct kafka_settings){.brokers = o->brokers,
		.client_id = "runyard-scheduler",
		.properties = o->broker_properties,
		.fetch_wait_ms = (int)o->fetch_wait_ms};
}

static int outbox_start(struct scheduler *s, struct err *err)
{
	const struct kafka_settings kafka = scheduler_kafka(&s->options);
	const struct publisher_spec publisher = {.database_url = s->options.database_url,
		.kafka = &kafka,
		.topics = {.job_partitions = (int)s->options.job_partitions,
			.replication = (int)s->options.topic_replication,
			.retention_hours = (int)s->options.topic_retention_hours}};

	if (publisher_start(&publisher, &s->publisher, err) < 0 ||
		claim_waiters_start(s->options.database_url, workers_still_waiting, &s->waiters, err) < 0)
		return -1;
	s->sink = (struct outbox_sink){.publisher = s->publisher, .waiters = s->waiters};
	s->store.sink = &s->sink;
	return 0;
}

static int events_start(struct scheduler *s, const struct connection_limits *limits, struct err *err)
{
	const struct scheduler_options *o = &s->options;
	const struct kafka_settings kafka = scheduler_kafka(o);
	const struct event_hub_spec spec = {.store = &s->store,
		.database_url = o->database_url,
		.kafka = &kafka,
		.max_streams = limits->streams,
		.max_per_user = (int)o->streams_per_user,
		.max_per_address = (int)o->streams_per_address};

	if (event_hub_start(&spec, &s->events, err) < 0)
		return -1;
	s->sink.log_data = s->events;
	s->sink.log_grew = event_hub_log_grew;
	return 0;
}

static int background_start(struct scheduler *s, struct err *err)
{
	const struct scheduler_options *o = &s->options;
	const struct kafka_settings kafka = scheduler_kafka(o);
	const struct intakes_spec intakes = {.store = s->store,
		.topics = intake_topics,
		.count = ARRAY_LEN(intake_topics),
		.database_url = o->database_url,
		.kafka = &kafka};
	const struct reaper_spec reaper = {.store = s->store, .database_url = o->database_url};
	const struct audit_exporter_spec exports = {.store = s->store,
		.database_url = o->database_url,
		.syslog = {o->audit_syslog, o->audit_syslog_ca, o->audit_syslog_certificate, o->audit_syslog_key},
		.cef = text_equal(o->audit_syslog_format, "cef"),
		.topic = o->audit_topic,
		.publisher = s->publisher};
	const struct retention_thread_spec retention = {
		.store = s->store, .database_url = o->database_url, .objects = s->objects, .limits = limits_of(o)};

	if (intakes_start(&intakes, &s->intakes, err) < 0 || reaper_start(&reaper, &s->reaper, err) < 0 ||
		listener_start(&vcs_event_work, &s->store, o->database_url, &s->vcs_events, err) < 0 ||
		listener_start(&vcs_renewal_work, &s->store, o->database_url, &s->vcs_renewals, err) < 0 ||
		lag_watch_start(s->lag_command, &s->lag_watch, err) < 0)
		return -1;
	return audit_exporter_start(&exports, &s->audit_exporter, err) < 0
		? -1
		: retention_thread_start(&retention, &s->retention, err);
}

static int requests_start(struct scheduler *s, const struct connection_limits *limits, struct err *err)
{
	const struct scheduler_options *o = &s->options;
	struct api_settings api = {.store = s->store,
		.publisher = s->publisher,
		.waiters = s->waiters,
		.events = s->events,
		.vcs_events = s->vcs_events,
		.address = o->listen,
		.metrics_address = o->metrics_listen,
		.tls = tls_wanted(s),
		.rate_limit = o->rate_limit,
		.proxies = s->proxies,
		.connections = limits->connections,
		.max_streams = limits->streams,
		.connections_per_address = (int)o->connections_per_address,
		.request_seconds = (int)o->request_seconds,
		.body_memory = (size_t)o->body_memory << 20,
		.threads = (int)o->http_threads,
		.objects = s->objects,
		.database_url = o->database_url};

	if (store_installation(s->store.db, &api.installation, err) < 0)
		return -1;
	return api_start(&api, &s->api, err);
}

static int provider_ensure(struct scheduler *s, struct err *err)
{
	const struct first_provider provider = {.issuer = s->options.oidc_issuer,
		.client_id = s->options.oidc_client_id,
		.client_secret = s->options.oidc_client_secret,
		.token_days = s->options.sso_token_days};

	return first_provider_ensure(&s->store, &provider, err);
}

static int scheduler_start(struct scheduler *s, struct err *err)
{
	struct connection_limits limits;

	db_url_source(database_url_read, s);
	if (certificate_read(s, err) < 0 || connections_possible(s, &limits, err) < 0 ||
		addresses_check(&s->options, err) < 0 || mirror_init(s->options.provider_mirror_dir, err) < 0 ||
		scheduler_database_ready(s, err) < 0 || processes_beat(&s->store, err) < 0 ||
		keys_use(&s->store, err) < 0 || epoch_check_replication(&s->store, err) < 0 ||
		epoch_settle(&s->store, s->options.database_url, err) < 0 || provider_ensure(s, err) < 0)
		return -1;
	site_rate_limit_begin(s->options.rate_limit); /* before the thread that changes it */
	if (outbox_start(s, err) < 0 || events_start(s, &limits, err) < 0 || background_start(s, err) < 0 ||
		requests_start(s, &limits, err) < 0)
		return -1;
	return port_file_write(s->options.port_file, api_port(s->api), err);
}

/* Stops the parts of scheduler_serve in reverse order: requests, then decisions in the background, then the publisher.
 * The watchdog may end the process earlier. That is safe: uncommitted work was not acknowledged, and other schedulers
 * publish the outbox. */
void scheduler_stop(struct scheduler *s, int status)
{
	struct err ignored = ERR_INIT;

	watchdog_set(WATCHDOG_REQUESTS_MS, "requests under way are answered", status);
	claim_waiters_stop(s->waiters);
	event_hub_stop(s->events);
	api_stop(s->api);
	watchdog_set(WATCHDOG_CLOSE_MS, "its work in the background ends and connections are closed", status);
	retention_thread_stop(s->retention);
	audit_exporter_stop(s->audit_exporter);
	listener_stop(s->vcs_events);
	lag_watch_stop(s->lag_watch);
	listener_stop(s->vcs_renewals);
	reaper_stop(s->reaper);
	intakes_stop(s->intakes);
	claim_waiters_free(s->waiters);
	s->sink.log_grew = NULL;
	event_hub_free(s->events);
	publisher_stop(s->publisher);
	if (processes_leave(&s->store, &ignored) < 0)
		log_debug("the row of this scheduler stays for a day", "error", ignored.message, NULL);
	log_info("stopped", NULL);
}

/* Serves for --stop-seconds, so that a load balancer takes this scheduler out before it refuses connections. Workers
 * that wait for jobs turn to another scheduler at once. A signal ends this time. */
static void retire(struct scheduler *s)
{
	int64_t end_ms = clock_mono_ms() + s->options.stop_seconds * 1000, left_ms;
	int alive_ms = service_manager_alive_ms();
	bool stop = false;

	api_retire(s->api);
	claim_waiters_close(s->waiters);
	while (!stop && (left_ms = end_ms - clock_mono_ms()) > 0) {
		stop = stop_wait(s, (int)(alive_ms > 0 && alive_ms < left_ms ? alive_ms : left_ms));
		service_manager_alive();
	}
}

int scheduler_serve(struct scheduler *s, const struct command_line *line, struct err *err)
{
	(void)line;
	if (scheduler_start(s, err) < 0)
		return -1;
	log_info("serving", "url", api_public_url(s->api), NULL);
	service_manager_ready();
	while (!stop_wait(s, service_manager_alive_ms()))
		service_manager_alive();
	log_info("stopping; a second signal stops at once", NULL);
	service_manager_stopping();
	retire(s);
	signals_unblock();
	return 0;
}
