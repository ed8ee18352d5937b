/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/audit/exporter.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/ids.h"
#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/background/audit/audit_exports.h"
#include "scheduler/background/audit/event_text.h"
#include "scheduler/metrics.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/outbox/publisher.h"

/* A lease is longer than an attempt to send can take. */
enum { LOOK_MS = 300, RETRY_MS = 3000, LEASE_SECONDS = 60, MAX_EVENTS = 500, FRAMES_LIMIT = 64 << 20 };

struct audit_exporter {
	struct audit_exporter_spec spec;
	struct store store;
	struct syslog *syslog;
	struct id holder; /* names this thread among those of all schedulers */
	char host[256];
	pthread_t thread;
	int wake;
	atomic_bool stopping;
};

static void registered(struct audit_exporter *exporter, const char *sink, bool *done)
{
	struct err err = ERR_INIT;

	if (*done)
		return;
	*done = audit_sink_register(&exporter->store, sink, &err) == 0;
	if (!*done)
		log_warn("the audit trail is not exported yet", "sink", sink, "error", err.message, NULL);
}

/* ---- sending ---- */

static int syslog_take(struct audit_exporter *exporter, const struct rows *rows, struct err *err)
{
	_cleanup_(buf_release) struct buf frames = BUF_INIT(FRAMES_LIMIT);

	for (int i = 0; i < rows->count; i++) {
		const struct audit_unsent_row *event = row_of(audit_unsent, rows, i);
		_cleanup_(freep) char *text = exporter->spec.cef ? event_cef(event) : event_json(event);

		event_frame(&frames, event, exporter->host, text);
	}
	if (syslog_send(exporter->syslog, &frames, err) < 0)
		return -1;
	return audit_unsent_done(&exporter->store, AUDIT_SINK_SYSLOG, rows, err);
}

struct handing {
	struct audit_exporter *exporter;
	const struct rows *rows;
};

static int hand_in(void *data, struct err *err)
{
	const struct handing *h = data;
	struct store *store = &h->exporter->store;
	struct outbox outbox;
	int result;

	outbox_init(&outbox);
	for (int i = 0; i < h->rows->count; i++) {
		const struct audit_unsent_row *event = row_of(audit_unsent, h->rows, i);

		outbox_add(&outbox, h->exporter->spec.topic, event->organization_id, event_json(event));
	}
	result = audit_unsent_done(store, AUDIT_SINK_KAFKA, h->rows, err);
	if (result == 0)
		result = outbox_insert(&outbox, store->db, store->sink, err);
	outbox_release(&outbox);
	return result;
}

/* The outbox, which also sends at least once, takes the events over. */
static int kafka_take(struct audit_exporter *exporter, const struct rows *rows, struct err *err)
{
	struct handing h = {exporter, rows};

	publisher_topic(exporter->spec.publisher, exporter->spec.topic, &topics[TOPIC_EVENTS]);
	return db_transaction(exporter->store.db, hand_in, &h, err);
}

static const struct sink {
	const char *name;
	int (*take)(struct audit_exporter *exporter, const struct rows *rows, struct err *err);
} sinks[] = {{AUDIT_SINK_SYSLOG, syslog_take}, {AUDIT_SINK_KAFKA, kafka_take}};

static bool is_wanted(const struct audit_exporter *exporter, const struct sink *sink)
{
	return *(sink->take == syslog_take ? exporter->spec.syslog.url : exporter->spec.topic) != '\0';
}

/* Sends one batch, if this scheduler has the lease. *ret_sent is the number of events. */
static int batch_send(struct audit_exporter *exporter, const struct sink *sink, int *ret_sent, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool any = false, held = false;

	*ret_sent = 0;
	if (audit_unsent_any(&exporter->store, sink->name, &any, err) < 0)
		return -1;
	if (!any)
		return 0;
	if (audit_sink_hold(&exporter->store, sink->name, exporter->holder.text, LEASE_SECONDS, &held, err) < 0)
		return -1;
	if (!held)
		return 0;
	if (audit_unsent_read(&exporter->store, sink->name, MAX_EVENTS, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (sink->take(exporter, &rows, err) < 0) {
		struct err ignored = ERR_INIT;

		audit_sink_note(&exporter->store, sink->name, err->message, &ignored);
		return -1;
	}
	*ret_sent = rows.count;
	metric_addf(M_AUDIT_SENT, rows.count, "sink=\"%s\"", sink->name);
	return audit_sink_note(&exporter->store, sink->name, "", err);
}

/* ---- the thread ---- */

struct sink_state {
	bool registered, failing;
};

/* Returns the milliseconds until the sink needs its next look. */
static int sink_round(struct audit_exporter *exporter, const struct sink *sink, struct sink_state *state)
{
	struct err err = ERR_INIT;
	int sent;

	registered(exporter, sink->name, &state->registered);
	if (!state->registered)
		return RETRY_MS;
	if (batch_send(exporter, sink, &sent, &err) < 0) {
		if (!state->failing)
			log_warn("events of the audit trail can't be exported: they are kept and sent again", "sink",
				sink->name, "error", err.message, NULL);
		state->failing = true;
		return RETRY_MS;
	}
	if (state->failing)
		log_info("events of the audit trail are exported again", "sink", sink->name, NULL);
	state->failing = false;
	return sent == MAX_EVENTS ? 0 : LOOK_MS;
}

static void *exporter_thread(void *data)
{
	struct audit_exporter *exporter = data;
	struct pollfd wake = {.fd = exporter->wake, .events = POLLIN};
	struct sink_state states[ARRAY_LEN(sinks)] = {{false, false}};

	while (!atomic_load(&exporter->stopping)) {
		int pause = RETRY_MS;

		for (size_t i = 0; i < ARRAY_LEN(sinks); i++) {
			int ms =
				is_wanted(exporter, &sinks[i]) ? sink_round(exporter, &sinks[i], &states[i]) : RETRY_MS;

			pause = ms < pause ? ms : pause;
		}
		poll(&wake, 1, pause);
	}
	return NULL;
}

int audit_exporter_start(const struct audit_exporter_spec *spec, struct audit_exporter **ret_exporter, struct err *err)
{
	struct audit_exporter *exporter;

	*ret_exporter = NULL;
	if (!*spec->syslog.url && !*spec->topic)
		return 0;
	if (*spec->syslog.url && syslog_settings_check(&spec->syslog, err) < 0)
		return err_context(err, "--audit-syslog");
	exporter = mem_new(1, sizeof(*exporter));
	exporter->spec = *spec;
	exporter->store = spec->store;
	exporter->store.db = db_open(spec->database_url);
	exporter->syslog = syslog_new(&spec->syslog);
	exporter->holder = id_new("exp");
	gethostname(exporter->host, sizeof(exporter->host) - 1);
	exporter->wake = eventfd(0, EFD_CLOEXEC);
	if (exporter->wake < 0 || pthread_create(&exporter->thread, NULL, exporter_thread, exporter) != 0) {
		err_errno(err, "the export of the audit trail");
		syslog_free(exporter->syslog);
		db_close(exporter->store.db);
		free(exporter);
		return -1;
	}
	*ret_exporter = exporter;
	return 0;
}

void audit_exporter_stop(struct audit_exporter *exporter)
{
	struct err ignored = ERR_INIT;

	if (!exporter)
		return;
	atomic_store(&exporter->stopping, true);
	eventfd_write(exporter->wake, 1);
	pthread_join(exporter->thread, NULL);
	for (size_t i = 0; i < ARRAY_LEN(sinks); i++)
		if (is_wanted(exporter, &sinks[i]))
			audit_sink_release(&exporter->store, sinks[i].name, exporter->holder.text, &ignored);
	syslog_free(exporter->syslog);
	db_close(exporter->store.db);
	closep(&exporter->wake);
	free(exporter);
}
