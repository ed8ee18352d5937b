/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "common/http/certificate.h"
#include "common/http/guard.h"
#include "common/log.h"
#include "common/loop/service_manager.h"
#include "common/memory.h"
#include "common/process.h"
#include "scheduler/api/openapi/openapi.h"
#include "scheduler/commands.h"
#include "scheduler/lifecycle/walk.h"
#include "scheduler/metrics.h"
#include "scheduler/store/content/objects.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/ui/assets.h"
#include "scheduler/ui/docs/docs.h"

static int objects_setup(struct scheduler *s, struct err *err)
{
	const struct scheduler_options *o = &s->options;
	const struct objects_settings settings = {.url = o->object_store_url,
		.region = o->object_store_region,
		.access_key = o->object_store_access_key,
		.secret_key = o->object_store_secret_key,
		.from_bytes = o->object_store_from_bytes,
		.after_seconds = o->object_store_after_seconds};

	if (objects_open(&settings, &s->objects, err) < 0)
		return -1;
	if (o->rescue && !s->objects)
		return err_set(
			err, ERR_INVALID, "--rescue 1 needs an object store: set --object-store-url, or --rescue 0");
	return 0;
}

/* Of an option that options.def restricts to these words. */
static enum replication replication_of(const char *text)
{
	if (text_equal(text, "sync"))
		return REPLICATION_SYNC;
	return text_equal(text, "async") ? REPLICATION_ASYNC : REPLICATION_NONE;
}

static int vcs_setup(struct scheduler *s, struct err *err)
{
	const struct scheduler_options *o = &s->options;
	const struct github_app_settings app = {.id = o->github_app_id,
		.key = o->github_app_key,
		.client_id = o->github_app_client_id,
		.client_secret = o->github_app_client_secret,
		.webhook_secret = o->github_app_webhook_secret,
		.url = o->github_app_url,
		.api_url = o->github_app_api_url};

	if (guard_parse(o->identity_allow, &s->identity_guard, err) < 0)
		return err_context(err, "--identity-allow");
	if (guard_parse(o->vcs_allow, &s->vcs_guard, err) < 0)
		return err_context(err, "--vcs-allow");
	return github_app_open(&app, &s->github_app, err);
}

static int egress_ranges_check(const char *at, struct err *err)
{
	while (*at) {
		size_t len = strcspn(at, ",");
		_cleanup_(freep) char *entry = mem_printf("%.*s", (int)len, at);
		struct address_range range;

		if (address_range_parse(entry, &range) < 0 || range.port || !strchr(entry, '/'))
			return err_set(err, ERR_INVALID, "--egress-ranges: %s is not ADDRESS/PREFIX", entry);
		at += len + (at[len] == ',');
	}
	return 0;
}

static int scheduler_setup(struct scheduler *s, struct err *err)
{
	log_setup("scheduler", NULL, (enum log_level)log_level_parse(s->options.log_level));
	scheduler_metrics_setup();
	assets_init(embedded_assets, embedded_assets_count, s->options.ui_dir);
	docs_init(embedded_documents, embedded_documents_count);
	scheduler_signals_open(s);
	if (keyring_parse(s->options.keys, &s->keyring, err) < 0)
		return -1;
	if (guard_parse(s->options.task_allow, &s->task_guard, err) < 0)
		return err_context(err, "--task-allow");
	if (guard_parse(s->options.trusted_proxies, &s->proxies, err) < 0)
		return err_context(err, "--trusted-proxies");
	if (guard_names_ports(s->proxies))
		return err_set(err, ERR_INVALID, "--trusted-proxies: a proxy is named without a port");
	if (egress_ranges_check(s->options.egress_ranges, err) < 0 || objects_setup(s, err) < 0 ||
		vcs_setup(s, err) < 0)
		return -1;
	s->settings = (struct store_settings){.public_url = s->options.public_url,
		.grafana_url = s->options.grafana_url,
		.egress_ranges = s->options.egress_ranges,
		.has_provider_mirror = *s->options.provider_mirror_dir != '\0',
		.started_at = time(NULL),
		.replication = replication_of(s->options.database_replication),
		.lease_seconds = (int)s->options.lease_seconds,
		.hold_alert_seconds = (int)s->options.hold_alert_seconds,
		.assessment_hours = (int)s->options.assessment_hours,
		.assessments_percent = (int)s->options.assessments_at_a_time,
		.task_guard = s->task_guard,
		.vcs_guard = s->vcs_guard,
		.identity_guard = s->identity_guard,
		.github_app = s->github_app,
		.task_limits = {.delivery_seconds = (int)s->options.task_delivery_seconds,
			.progress_seconds = (int)s->options.task_progress_seconds,
			.total_seconds = (int)s->options.task_total_seconds},
		.notification_seconds = (int)s->options.notification_seconds,
		.rescue = s->options.rescue ? s->objects : NULL};
	s->store =
		(struct store){.db = db_open(s->options.database_url), .keyring = s->keyring, .settings = &s->settings};
	return 0;
}

static void scheduler_release(struct scheduler *s)
{
	certificate_release();
	db_close(s->store.db);
	objects_close(s->objects);
	guard_free(s->task_guard);
	guard_free(s->identity_guard);
	guard_free(s->vcs_guard);
	github_app_close(s->github_app);
	guard_free(s->proxies);
	keyring_free(s->keyring);
	closep(&s->signals);
	options_release(&scheduler_options, &s->options);
}

/* Subcommands that print a text and need no options. */
static const struct {
	const char *name;
	char *(*make)(void);
} texts[] = {{"states", lifecycle_page}, {"openapi", openapi_text}};

static bool text_print(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		_cleanup_(freep) char *text = text_equal(name, texts[i].name) ? texts[i].make() : NULL;

		if (text)
			return fputs(text, stdout) != EOF;
	}
	return false;
}

/* The process that `keep-lag` runs in has this one's options. Of its log only errors are shown: the others come again
 * with each process. `option` may be NULL. */
static char **lag_command_make(const struct arguments *arguments, char *option)
{
	char *const command[] = {"--log-level", "error", "keep-lag", option};
	size_t options = (size_t)arguments->next;
	char **made = mem_new(options + ARRAY_LEN(command) + 1, sizeof(*made));

	memcpy(made, arguments->values, options * sizeof(*made));
	memcpy(made + options, command, sizeof(command));
	return made;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.count = argc, .values = argv};
	struct scheduler s = {.signals = -1, .arguments = arguments};
	struct err err = ERR_INIT;
	int result;

	process_protect();
	memory_set_up();
	service_manager_open();
	log_setup("scheduler", NULL, LOG_INFO);
	if ((argc == 2 && text_print(argv[1])) || command_help(argc - 1, argv + 1))
		return 0;
	result = options_read(&scheduler_options, &arguments, &s.options, &err);
	memory_bound((size_t)s.options.document_memory << 20);
	if (result == 0)
		result = scheduler_setup(&s, &err);
	_cleanup_(freep) char **lag_command = lag_command_make(&arguments, NULL);
	_cleanup_(freep) char **measure_command = lag_command_make(&arguments, "--measure");
	s.lag_command = lag_command;
	s.measure_command = measure_command;
	if (result == 0)
		result = command_run(&s, argc - arguments.next, argv + arguments.next, &err);
	if (result < 0)
		log_error("the scheduler ends: it can't do what it was asked", "why", err.message, NULL);
	if (s.publisher)
		scheduler_stop(&s, result < 0);
	scheduler_release(&s);
	return result < 0 ? 1 : 0;
}
