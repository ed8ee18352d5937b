/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/dispatch.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/http/fetch.h"
#include "common/http/mail.h"
#include "common/log.h"
#include "common/loop/retry.h"
#include "notifier/delivery/forwarder.h"
#include "notifier/delivery/hosts.h"
#include "notifier/delivery/send.h"
#include "notifier/lane.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"

enum { KEPT_CONNECTIONS = 16, SWEEP_MS = 1000, MAX_KEPT = 1024 };

struct dispatch {
	struct notifier *notifier;
	struct dispatch_events events;
	struct table deliveries; /* by id */
	size_t states[DELIVERY_STATES];
	struct hosts hosts;
	struct sender *sender;
	struct forwarder *forwarder;
	struct lane *reports;
	struct loop_timer pump_timer, sweep_timer;
};

/* The report of one try to the scheduler. It may outlive the delivery. */
struct report {
	struct lane_item item; /* first */
	struct dispatch *dispatch;
	struct id id;
	int attempt;
	bool last, has_deadline;
};

static void pump(void *data);

/* ---- a delivery's states ---- */

static const char *const state_names[DELIVERY_STATES] = {"queued", "sending", "waiting", "ending"};

static void state_set(struct dispatch *dispatch, struct delivery *delivery, enum delivery_state state)
{
	dispatch->states[delivery->state]--;
	delivery->state = state;
	dispatch->states[state]++;
}

static struct delivery *find(const struct dispatch *dispatch, const char *id)
{
	struct table_entry *entry = table_find(&dispatch->deliveries, id);

	return entry ? table_owner(entry, struct delivery, entry) : NULL;
}

/* True while the connection of the request in flight is not open. */
static bool opens(const struct delivery *delivery)
{
	return delivery->forwarding ? forwarding_opens(delivery->forwarding) : sending_opens(delivery->sending);
}

/* Removes the delivery in any state, without a report. */
static void drop(struct dispatch *dispatch, struct delivery *delivery)
{
	if (delivery->state == DELIVERY_QUEUED)
		hosts_unqueue(&dispatch->hosts, delivery);
	loop_timer_clear(dispatch->notifier->loop, &delivery->timer);
	if (delivery->state == DELIVERY_SENDING) {
		hosts_sent(&dispatch->hosts, delivery->host, opens(delivery));
		circuit_aborted(&delivery->route->circuit, clock_mono_ms());
		sender_abort(dispatch->sender, delivery);
		forwarder_abort(dispatch->forwarder, delivery);
	}
	hosts_leave(&dispatch->hosts, delivery, clock_mono_ms());
	table_remove(&dispatch->deliveries, &delivery->entry);
	dispatch->states[delivery->state]--;
	delivery_free(delivery);
}

static void pump_soon(struct dispatch *dispatch)
{
	if (!dispatch->pump_timer.due_ms)
		loop_timer_set(dispatch->notifier->loop, &dispatch->pump_timer, 0, pump, dispatch);
}

static void queue(struct dispatch *dispatch, struct delivery *delivery)
{
	state_set(dispatch, delivery, DELIVERY_QUEUED);
	hosts_queue(&dispatch->hosts, delivery);
	pump_soon(dispatch);
}

static void wait_over(void *data)
{
	struct delivery *delivery = data;

	queue(delivery->dispatch, delivery);
}

static void wait_until(struct dispatch *dispatch, struct delivery *delivery, int64_t at_ms)
{
	int64_t now = clock_mono_ms();

	state_set(dispatch, delivery, DELIVERY_WAITING);
	delivery->dispatch = dispatch;
	loop_timer_set(dispatch->notifier->loop, &delivery->timer, at_ms > now ? at_ms - now : 0, wait_over, delivery);
}

/* ---- reports ---- */

static void report(
	struct dispatch *dispatch, const struct delivery *delivery, const struct outcome *outcome, const char *end)
{
	struct report *new = mem_new(1, sizeof(*new));
	char *text = delivery_report(delivery, outcome, end);

	new->dispatch = dispatch;
	new->id = delivery->id;
	new->attempt = delivery->attempt;
	new->last = end != NULL;
	new->has_deadline = delivery->kind->has_deadline;
	lane_add(dispatch->reports, &new->item, new->id.text, text, strlen(text));
}

/* The scheduler has stored the report. The deadline starts here if the service has not reported its result yet. */
static void reported(void *data, struct lane_item *item, const json_t *answer)
{
	struct report *report = (struct report *)(void *)item;
	struct dispatch *dispatch = data;
	struct delivery *delivery = find(dispatch, report->id.text);

	if (answer && report->last && report->has_deadline)
		dispatch->events.deadline(dispatch->events.data, report->id.text, json_int_at(answer, "due-in-ms", -1));
	if (report->last && delivery && delivery->attempt == report->attempt && delivery->state == DELIVERY_ENDING)
		drop(dispatch, delivery);
	free(report);
	if (answer)
		dispatch->events.room(dispatch->events.data);
}

static void give_up_log(const struct delivery *delivery, const struct outcome *outcome)
{
	char status[16];

	snprintf(status, sizeof(status), "%d", outcome->status);
	log_warn("a request was never taken", "what", delivery->kind->what, "id", delivery->id.text, "run",
		*delivery->run.text ? delivery->run.text : NULL, "host", delivery->host->origin, "status", status,
		"why", outcome->error, NULL);
}

static void end(struct dispatch *dispatch, struct delivery *delivery, const struct outcome *outcome, const char *how)
{
	state_set(dispatch, delivery, DELIVERY_ENDING);
	if (text_equal(how, "gave-up") && !delivery->settled) {
		metric_addf(M_GAVE_UP, 1, "kind=\"%s\"", delivery->kind->name);
		give_up_log(delivery, outcome);
	}
	report(dispatch, delivery, outcome, how);
}

/* ---- one try ---- */

static const char *outcome_kind(const struct outcome *outcome, enum fate fate)
{
	if (outcome->forbidden)
		return "forbidden";
	if (outcome->status == 0)
		return "unanswered";
	return fate == FATE_TAKEN ? "acknowledged" : "refused";
}

static void circuit_learn(struct delivery *delivery, const struct outcome *outcome)
{
	struct circuit *circuit = &delivery->route->circuit;
	bool well = !delivery->kind->in_trouble(outcome->status);

	if (outcome->forbidden || outcome->unserved) {
		circuit_aborted(circuit, clock_mono_ms());
		return;
	}
	if (!circuit_result(circuit, well, clock_mono_ms(), chance()))
		return;
	metric_addf(M_CIRCUIT_OPENED, 1, "%s", "");
	log_warn("a service fails; no requests go there for a while", "what", delivery->kind->what, "host",
		delivery->host->origin, NULL);
}

static void host_learn(struct delivery *delivery, const struct outcome *outcome)
{
	struct host *host = delivery->host;

	if (outcome->status && delivery->sending && sending_keeps(delivery->sending) && host->idle < KEPT_CONNECTIONS)
		host->idle++;
}

static void failed(struct dispatch *dispatch, struct delivery *delivery, const struct outcome *outcome, enum fate fate)
{
	int64_t now = clock_mono_ms(), next;

	delivery->failures++;
	next = retry_at(retry_wait(&retry_service, delivery->failures, outcome->retry_after, chance()), now,
		delivery->give_up_ms);
	if (delivery->settled || fate == FATE_NEVER || next < 0) {
		end(dispatch, delivery, outcome, "gave-up");
		return;
	}
	report(dispatch, delivery, outcome, NULL);
	metric_addf(M_RETRIES, 1, "%s", "");
	wait_until(dispatch, delivery, next);
}

static void sent(void *data, struct delivery *delivery, const struct outcome *outcome)
{
	struct dispatch *dispatch = data;
	enum fate fate = delivery->kind->judge(outcome);

	metric_addf(M_SENT, 1, "kind=\"%s\",outcome=\"%s\"", delivery->kind->name, outcome_kind(outcome, fate));
	metric_observef(M_SENT_SECONDS, outcome->seconds, "kind=\"%s\"", delivery->kind->name);
	hosts_sent(&dispatch->hosts, delivery->host, opens(delivery));
	host_learn(delivery, outcome);
	circuit_learn(delivery, outcome);
	if (fate == FATE_TAKEN)
		end(dispatch, delivery, outcome, "acknowledged");
	else
		failed(dispatch, delivery, outcome, fate);
	pump_soon(dispatch);
}

static void opened(void *data, struct delivery *delivery)
{
	struct dispatch *dispatch = data;

	hosts_opened(&dispatch->hosts, delivery->host);
	pump_soon(dispatch);
}

static void start(struct dispatch *dispatch, struct delivery *delivery)
{
	struct host *host = delivery->host;
	bool idle = host->idle > 0;

	state_set(dispatch, delivery, DELIVERY_SENDING);
	if (delivery->pool) {
		forwarder_start(dispatch->forwarder, delivery);
		return;
	}
	host->idle -= idle;
	sender_start(dispatch->sender, delivery, !idle, host->in_flight <= KEPT_CONNECTIONS);
}

/* The circuit is open: the delivery waits until it may close, or ends if its time is over. */
static void hold(struct dispatch *dispatch, struct delivery *delivery)
{
	static const struct outcome untried = {.error = "not sent: the service failed several times in a row"};
	int64_t now = clock_mono_ms(), wait = circuit_wait(&delivery->route->circuit, now);
	int64_t at = now + wait + (int64_t)(chance() % 1024) * wait / 4096 + 1;

	hosts_put_back(&dispatch->hosts, delivery->host);
	if (delivery->settled || now >= delivery->give_up_ms)
		end(dispatch, delivery, &untried, "gave-up");
	else
		wait_until(dispatch, delivery, at < delivery->give_up_ms ? at : delivery->give_up_ms);
}

static void pump(void *data)
{
	struct dispatch *dispatch = data;
	struct delivery *delivery;

	if (dispatch->notifier->draining)
		return;
	while ((delivery = hosts_next(&dispatch->hosts))) {
		if (circuit_take(&delivery->route->circuit, clock_mono_ms()))
			start(dispatch, delivery);
		else
			hold(dispatch, delivery);
	}
}

/* ---- public functions ---- */

/* Mails are sent to the server that they name, or to the operator's. */
static const char *destination(const struct dispatch *dispatch, const json_t *claimed)
{
	const char *url = json_string_at(claimed, "url");

	if (!url)
		url = json_string_at(claimed, "mail.server.url");
	return url ? url : dispatch->notifier->options.smtp_url;
}

/* Ends a mail that can't be sent, with the reason in its report. Returns false if the mail can be sent. */
static bool unmailable(struct dispatch *dispatch, struct delivery *delivery)
{
	static const struct outcome no_server = {.error = "no mail server is set: in the site's settings, or by the "
							  "notifier's --smtp-url and --smtp-from",
		.forbidden = true};
	static const struct outcome nobody = {.error = "there is nobody to send it to", .forbidden = true};
	bool server = *dispatch->notifier->options.smtp_url != '\0' || json_string_at(delivery->mail, "server.url");

	if (server && mail_recipients(json_object_get(delivery->mail, "to")) > 0)
		return false;
	end(dispatch, delivery, server ? &nobody : &no_server, "gave-up");
	return true;
}

void dispatch_take(struct dispatch *dispatch, const json_t *claimed)
{
	struct delivery *delivery = delivery_new(claimed, clock_mono_ms()), *before;

	if (!delivery) {
		log_error("a claimed request can't be read", "id", text_or_empty(json_string_at(claimed, "id")), NULL);
		return;
	}
	before = find(dispatch, delivery->id.text);
	if (before && before->attempt >= delivery->attempt) {
		delivery_free(delivery);
		return;
	}
	/* The lease of an earlier attempt expired, and this notifier has claimed the request again. */
	if (before)
		drop(dispatch, before);
	table_add(&dispatch->deliveries, &delivery->entry, delivery->id.text);
	hosts_assign(&dispatch->hosts, delivery, destination(dispatch, claimed), clock_mono_ms());
	dispatch->states[delivery->state]++;
	if (delivery->mail && unmailable(dispatch, delivery))
		return;
	queue(dispatch, delivery);
}

void dispatch_settle(struct dispatch *dispatch, const char *id, int attempt)
{
	struct delivery *delivery = find(dispatch, id);

	if (!delivery || (attempt && attempt != delivery->attempt))
		return;
	delivery->settled = true;
	if (delivery->state == DELIVERY_QUEUED || delivery->state == DELIVERY_WAITING)
		drop(dispatch, delivery);
}

/* Deliveries that wait for another try, or behind many of their host, do not count: unreachable and slow hosts must not
 * take the room of those that work. Their number has a bound of its own. */
size_t dispatch_room(const struct dispatch *dispatch)
{
	size_t late = dispatch->states[DELIVERY_WAITING] + dispatch->hosts.behind;
	size_t taken = dispatch->deliveries.count - late;
	size_t max = (size_t)dispatch->notifier->options.max_in_flight;

	return taken < max && late < 4 * max ? max - taken : 0;
}

size_t dispatch_busy(const struct dispatch *dispatch)
{
	return dispatch->states[DELIVERY_SENDING] + lane_count(dispatch->reports);
}

static void name_add(void *data, struct table_entry *entry)
{
	json_array_append_new(data, delivery_name(table_owner(entry, struct delivery, entry)));
}

json_t *dispatch_names(struct dispatch *dispatch)
{
	json_t *names = json_array();

	table_each(&dispatch->deliveries, name_add, names);
	return names;
}

struct leaving {
	struct dispatch *dispatch;
	json_t *names;
	bool all;
};

static void leave(void *data, struct table_entry *entry)
{
	struct leaving *leaving = data;
	struct delivery *delivery = table_owner(entry, struct delivery, entry);

	if (delivery->state == DELIVERY_ENDING || (delivery->state == DELIVERY_SENDING && !leaving->all))
		return;
	json_array_append_new(leaving->names, delivery_name(delivery));
	drop(leaving->dispatch, delivery);
}

json_t *dispatch_hand_back(struct dispatch *dispatch, bool all)
{
	struct leaving leaving = {.dispatch = dispatch, .names = json_array(), .all = all};

	table_each(&dispatch->deliveries, leave, &leaving);
	return leaving.names;
}

void dispatch_lose(struct dispatch *dispatch)
{
	json_t *names = dispatch_hand_back(dispatch, false);

	if (json_array_size(names) > 0)
		log_warn("the lease is over: requests that wait are another notifier's now", NULL);
	json_decref(names);
}

/* ---- circuits ---- */

static void circuit_add(void *data, struct table_entry *entry)
{
	const struct route *route = table_owner(entry, struct route, entry);
	const struct circuit *circuit = &route->circuit;
	_cleanup_(freep) char *url = fetch_shown(route->name, route->secret);
	json_t *shown = json_pack("{ss ss si sI sI}", "url", url, "state", circuit_names[circuit->state], "failures",
		circuit->failures, "deliveries", (json_int_t)route->users, "probe-in-ms",
		(json_int_t)circuit_wait(circuit, clock_mono_ms()));

	if (shown)
		json_array_append_new(data, shown);
}

json_t *dispatch_circuits(struct dispatch *dispatch)
{
	json_t *circuits = json_array();

	table_each(&dispatch->hosts.routes, circuit_add, circuits);
	return json_pack("{so}", "circuits", circuits);
}

static void circuit_count(void *data, struct table_entry *entry)
{
	double *counts = data;

	counts[table_owner(entry, struct route, entry)->circuit.state]++;
}

static void sweep(void *data)
{
	struct dispatch *dispatch = data;
	double counts[CIRCUIT_STATES] = {0};

	hosts_sweep(&dispatch->hosts, clock_mono_ms());
	table_each(&dispatch->hosts.routes, circuit_count, counts);
	for (int i = 0; i < CIRCUIT_STATES; i++)
		metric_setf(M_CIRCUITS, counts[i], "state=\"%s\"", circuit_names[i]);
	for (int i = 0; i < DELIVERY_STATES; i++)
		metric_setf(M_DELIVERIES, (double)dispatch->states[i], "state=\"%s\"", state_names[i]);
	loop_timer_set(dispatch->notifier->loop, &dispatch->sweep_timer, SWEEP_MS, sweep, dispatch);
}

/* ---- open and free ---- */

struct dispatch *dispatch_new(struct notifier *notifier, const struct dispatch_events *events)
{
	const struct options *options = &notifier->options;
	struct dispatch *dispatch = mem_new(1, sizeof(*dispatch));
	const struct sender_spec sender = {
		.loop = notifier->loop,
		.guard = notifier->guard,
		.proxy = options->proxy,
		.public_url = notifier->public_url,
		.mail = {.url = options->smtp_url,
			.from = options->smtp_from,
			.user = options->smtp_user,
			.password = options->smtp_password,
			.login = "",
			.tls = text_equal(options->smtp_tls, "none") ? MAIL_TLS_NONE : MAIL_TLS_REQUIRED},
		.max = (size_t)options->max_in_flight + MAX_KEPT,
		.connect_ms = (long)options->connect_timeout_ms,
		.response_ms = (long)options->response_timeout_ms,
		.events = {.data = dispatch, .opened = opened, .ended = sent},
	};
	const struct lane_spec reports = {.scheduler = &notifier->scheduler,
		.lanes = &notifier->lanes,
		.kind = "deliveries",
		.list = "deliveries",
		.member = "id",
		.data = dispatch,
		.answered = reported};

	dispatch->notifier = notifier;
	dispatch->events = *events;
	hosts_init(&dispatch->hosts, (size_t)options->max_in_flight, (size_t)options->per_host);
	dispatch->sender = sender_new(&sender);
	dispatch->forwarder = forwarder_new(&(struct forwarder_spec){.scheduler = &notifier->scheduler,
		.sender = dispatch->sender,
		.connect_ms = sender.connect_ms,
		.response_ms = sender.response_ms,
		.events = sender.events});
	dispatch->reports = lane_new(&reports);
	sweep(dispatch);
	return dispatch;
}

static void drop_entry(void *data, struct table_entry *entry)
{
	drop(data, table_owner(entry, struct delivery, entry));
}

void dispatch_free(struct dispatch *dispatch)
{
	struct loop *loop;

	if (!dispatch)
		return;
	loop = dispatch->notifier->loop;
	table_each(&dispatch->deliveries, drop_entry, dispatch);
	lane_free(dispatch->reports);
	forwarder_free(dispatch->forwarder);
	sender_free(dispatch->sender);
	hosts_release(&dispatch->hosts);
	table_release(&dispatch->deliveries);
	loop_timer_clear(loop, &dispatch->pump_timer);
	loop_timer_clear(loop, &dispatch->sweep_timer);
	free(dispatch);
}
