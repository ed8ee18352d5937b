/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-notifier: sends the requests of run tasks, receives the callbacks of their services, and watches their
 * deadlines. All persistent state is the scheduler's: after a notifier is killed, another one takes over its
 * requests when the lease has expired.
 */

#include <signal.h>
#include <stdio.h>

#include "common/err.h"
#include "common/http/fetch.h"
#include "common/http/guard.h"
#include "common/log.h"
#include "common/loop/service_manager.h"
#include "common/loop/watchdog.h"
#include "common/process.h"
#include "notifier/callback/callbacks.h"
#include "notifier/callback/server.h"
#include "notifier/deadlines/deadlines.h"
#include "notifier/delivery/dispatch.h"
#include "notifier/drain.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "notifier/scheduler_client/claims.h"
#include "notifier/scheduler_client/kafka_client.h"
#include "notifier/scheduler_client/lease.h"

struct process {
	struct notifier notifier;
	struct drain *drain;
};

static void signal_came(void *data, int signal)
{
	struct process *process = data;

	(void)signal;
	drain_begin(process->drain);
}

/* Raises the limit to a descriptor for each request and for each callback. */
static int raise_descriptors(const struct options *options, struct err *err)
{
	enum { LEAST = 512 };
	unsigned long long wanted = (unsigned long long)options->max_in_flight * 3 + 1024, allowed;
	char text[64];

	if (descriptors_raise(LEAST, wanted, &allowed, err) < 0)
		return -1;
	snprintf(text, sizeof(text), "%llu of %llu", allowed, wanted);
	if (allowed < wanted)
		log_warn("few descriptors: --max-in-flight can take more than this process may open", "descriptors",
			text, NULL);
	return 0;
}

static void messages_arrived(struct notifier *notifier)
{
	claims_wake(notifier->claims);
}

static void room_came(void *data)
{
	const struct notifier *notifier = data;

	claims_wake(notifier->claims);
}

static void deadline_came(void *data, const char *id, int64_t due_in_ms)
{
	const struct notifier *notifier = data;

	deadlines_set(notifier->deadlines, id, due_in_ms);
}

static int process_open(struct process *process, struct err *err)
{
	static const int signals[] = {SIGTERM, SIGINT, 0};
	struct notifier *notifier = &process->notifier;
	const struct dispatch_events events = {.deadline = deadline_came, .room = room_came, .data = notifier};

	if (fetch_trust(notifier->options.ca_file, err) < 0 || raise_descriptors(&notifier->options, err) < 0)
		return -1;
	metric_set(M_DRAINING, "", 0);
	notifier->loop = loop_new();
	loop_signals(notifier->loop, signals, signal_came, process);
	process->drain = drain_new(notifier);
	scheduler_init(&notifier->scheduler, notifier->loop, notifier->options.scheduler_url,
		notifier->options.notifier_token);
	notifier->callbacks = callbacks_new(notifier);
	if (guard_parse(notifier->options.allow, &notifier->guard, err) < 0)
		return err_context(err, "--allow");
	if (guard_parse(notifier->options.trusted_proxies, &notifier->proxies, err) < 0)
		return err_context(err, "--trusted-proxies");
	if (server_start(notifier, &notifier->server, err) < 0)
		return -1;
	notifier->dispatch = dispatch_new(notifier, &events);
	if (deadlines_open(notifier, &notifier->deadlines, err) < 0 ||
		kafka_client_open(notifier, messages_arrived, &notifier->client, err) < 0)
		return -1;
	notifier->lease = lease_new(notifier);
	notifier->claims = claims_new(notifier);
	return 0;
}

static void process_run(struct process *process)
{
	const struct notifier *notifier = &process->notifier;

	log_info("notifier started", "scheduler", notifier->options.scheduler_url, "callbacks", notifier->public_url,
		NULL);
	service_manager_ready();
	service_manager_watch(notifier->loop);
	loop_run(notifier->loop);
}

static void process_close(struct process *process, int status)
{
	struct notifier *notifier = &process->notifier;

	watchdog_set(WATCHDOG_CLOSE_MS, "connections are closed", status);
	server_stop(notifier->server);
	claims_free(notifier->claims);
	lease_free(notifier->lease);
	kafka_client_free(notifier->client);
	callbacks_free(notifier->callbacks);
	deadlines_free(notifier->deadlines);
	dispatch_free(notifier->dispatch);
	table_release(&notifier->lanes.under_way);
	guard_free(notifier->guard);
	guard_free(notifier->proxies);
	scheduler_release(&notifier->scheduler);
	drain_free(process->drain);
	loop_free(notifier->loop);
	free(notifier->public_url);
	free(notifier->internal_url);
	options_release(&notifier_options, &notifier->options);
}

int main(int argc, char **argv)
{
	struct process process = {0};
	struct options *options = &process.notifier.options;
	struct err err = ERR_INIT;
	struct arguments arguments = {.count = argc, .values = argv};
	int status;

	process_protect();
	signal(SIGPIPE, SIG_IGN);
	service_manager_open();
	status = options_read(&notifier_options, &arguments, options, &err);
	if (status > 0)
		return 0;
	if (status < 0 || options_ended(&notifier_options, &arguments, &err) < 0 ||
		notifier_options_settle(options, &err) < 0) {
		fprintf(stderr, "runyard-notifier: %s\n", err.message);
		options_release(&notifier_options, options);
		return 2;
	}
	log_setup("notifier", options->name, (enum log_level)log_level_parse(options->log_level));
	metrics_setup(notifier_metrics, M_COUNT);
	status = process_open(&process, &err);
	if (status == 0)
		process_run(&process);
	else
		log_error("the notifier can't start", "why", err.message, NULL);
	status = status < 0;
	process_close(&process, status);
	return status;
}
