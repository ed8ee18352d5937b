/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-worker: claims stages of runs from a scheduler, executes them with terraform or tofu in a sandbox, and sends
 * back the results. It is stateless: the scheduler decides about the jobs of a killed worker.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/http/fetch.h"
#include "common/http/httpd.h"
#include "common/log.h"
#include "common/loop/service_manager.h"
#include "common/loop/watchdog.h"
#include "common/process.h"
#include "worker/engine/inits.h"
#include "worker/engine/schema_cache.h"
#include "worker/exec/child.h"
#include "worker/exec/etc.h"
#include "worker/limits/cgroup.h"
#include "worker/limits/quota.h"
#include "worker/metrics.h"
#include "worker/packages/download.h"
#include "worker/packages/installer.h"
#include "worker/runtime/account.h"
#include "worker/runtime/capabilities.h"
#include "worker/runtime/disk.h"
#include "worker/runtime/health.h"
#include "worker/runtime/lease.h"
#include "worker/runtime/worker.h"
#include "worker/sandbox/base.h"
#include "worker/scheduler_client/control.h"
#include "worker/scheduler_client/forwards.h"
#include "worker/scheduler_client/git_source.h"
#include "worker/scheduler_client/job_source.h"
#include "worker/scheduler_client/scheduler.h"
#include "worker/stage/stages.h"
#include "worker/rescue/rescue.h"
#include "worker/upload/unsent.h"

/* Extra time that a network outlives the worker, so that it ends after its job. */
enum { NETWORK_MORE_MS = 10 * 1000 };

struct process {
	struct worker worker;
	struct httpd *health;
	char *jobs_path;
	char *groups; /* folder of control groups, or NULL */
	struct quota quota;
	struct err quota_why; /* why root set no quota limits */
	int jobs;             /* descriptor */
	int lock;             /* of the data folder */
};

static void signal_came(void *data, int signal)
{
	(void)signal;
	drain_signal(data);
}

/* Disables core files, which could hold secrets. Keeps other processes of the same user from reading this process's
 * memory and environment. */
static void guard_process(void)
{
	process_protect();
	prctl(PR_SET_CHILD_SUBREAPER,
		1);  /* orphaned processes of a job become this process's children and are reaped here */
	umask(0022); /* files of jobs have the usual modes; the folder around them is closed to others */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* ignored for the children's sake (exec/child); this process reads it from the loop's
				    signalfd */
}

static int open_folders(struct process *process, struct err *err)
{
	const char *data_dir = process->worker.options.data_dir;
	_cleanup_(freep) char *lock = mem_printf("%s/lock", data_dir);

	process->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (process->lock < 0)
		return err_errno(err, lock);
	if (flock(process->lock, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, ERR_CONFLICT, "another worker uses --data-dir %s", data_dir);
	process->jobs_path = mem_printf("%s/jobs", data_dir);
	mkdir(process->jobs_path, 0700);
	process->jobs = open(process->jobs_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return process->jobs < 0 ? err_errno(err, process->jobs_path) : 0;
}

static bool network_is(const struct worker *worker, const char *kind)
{
	return text_equal(worker->options.job_network, kind);
}

/* Chooses the sandbox. With `auto`, a machine that can't have a sandbox runs jobs without one, unless that would
 * give jobs this machine's network. */
static int choose_sandbox(struct worker *worker, struct err *err)
{
	const struct options *options = &worker->options;

	if (text_equal(options->sandbox, "none"))
		return 0;
	if (sandbox_open(&worker->sandbox, network_is(worker, "none"), err) == 0)
		return etc_open(options->data_dir, &worker->sandbox.etc, err);
	if (text_equal(options->sandbox, "bwrap") || network_is(worker, "none") || network_is(worker, "isolated"))
		return -1;
	log_warn("there is no sandbox: jobs run as this worker's user and can read and write what it can, other jobs' "
		 "files and this worker's own among it; let it do runs that you trust alone",
		"why", err->message, NULL);
	return 0;
}

static int open_hooks(struct worker *worker, struct err *err)
{
	const struct options *options = &worker->options;

	worker->hooks = (struct hooks){
		.folder = options->hooks_dir, .trusted = options->hooks_trusted != 0, .seconds = options->hook_seconds};
	return hooks_find(&worker->hooks, err);
}

static int open_sandbox(struct worker *worker, struct err *err)
{
	const struct options *options = &worker->options;
	bool has_hooks = *options->hooks_dir && !options->hooks_trusted;

	if (providers_open(options->data_dir, &worker->providers, err) < 0 ||
		org_packages_open(options->data_dir, options->organization_packages << 20, &worker->org_packages, err) <
			0)
		return -1;
	worker->sandbox = (struct sandbox){
		.binds = options->sandbox_bind,
		.trust = fetch_trusted(),
		.mirror = *options->provider_mirror == '/' ? options->provider_mirror : NULL,
		.store = worker->providers.path,
		.hooks = has_hooks ? options->hooks_dir : NULL,
		.data_dir = options->data_dir,
		.tmp = options->job_memory << 20,
	};
	worker->bases = bases_new(worker->loop, &worker->sandbox);
	return choose_sandbox(worker, err);
}

/* Opens the control groups. Without delegated groups, the limits of jobs are only measured. */
static void open_groups(struct process *process)
{
	const struct cgroup_place place = {.root = "/sys/fs/cgroup", .self = "/proc/self/cgroup"};
	struct err why = ERR_INIT;

	if (!cgroup_is_mounted(place.root))
		err_set(&why, ERR_UNAVAILABLE, "%s is not the root of cgroup v2", place.root);
	else
		process->groups = cgroup_open(&place, &why);
	if (!process->groups)
		log_debug("jobs have no control groups", "why", why.message, NULL);
}

static int64_t quota_bytes(const struct options *options)
{
	return limits_quarter_more(options->job_disk << 20);
}

/* Runs before root becomes the worker's account. If it fails, open_quota logs the reason. */
static void set_quota(struct process *process)
{
	const struct options *options = &process->worker.options;

	if (geteuid() == 0 && options->job_disk > 0)
		quota_set(&quota_kernel, options->data_dir, quota_bytes(options), &process->quota_why);
}

/* The quota for the disk use of jobs, or NULL: the use is only measured. */
static const struct quota *open_quota(struct process *process)
{
	const struct options *options = &process->worker.options;
	struct err why = ERR_INIT;

	process->quota = (struct quota){.kernel = &quota_kernel, .jobs = process->jobs};
	if (options->job_disk == 0)
		return NULL;
	if (quota_open(&process->quota, options->data_dir, quota_bytes(options), &why) == 0)
		return &process->quota;
	log_debug("jobs have no disk quota", "why", why.message, "limits-not-set",
		*process->quota_why.message ? process->quota_why.message : NULL, NULL);
	return NULL;
}

/* The URLs that every job must be able to reach. */
static void network_urls(const struct options *options, struct texts *ret_urls)
{
	static const char *const proxies[] = {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"};

	texts_add(ret_urls, "%s", options->scheduler_url);
	if (*options->provider_mirror && *options->provider_mirror != '/')
		texts_add(ret_urls, "%s", options->provider_mirror);
	for (size_t i = 0; i < ARRAY_LEN(proxies); i++)
		if (*text_or_empty(getenv(proxies[i])))
			texts_add(ret_urls, "%s", getenv(proxies[i]));
}

/* Opens the networks. With `auto`, a machine that can't have isolated networks does without. */
static int open_network(struct worker *worker, struct err *err)
{
	const struct options *options = &worker->options;
	_cleanup_(texts_release) struct texts urls = {.items = NULL};
	/* Jobs of several organizations take turns in a slot. */
	const struct networks_spec spec = {.loop = worker->loop,
		.lists = &worker->network_lists,
		.urls = &urls,
		.keep = (size_t)options->slots * 2,
		.prepare = options->once || options->deliver ? 0 : (size_t)options->slots,
		.grace_ms = options->job_stop_seconds * 1000 + NETWORK_MORE_MS};

	if (network_is(worker, "host") || network_is(worker, "none") || !worker->sandbox.bwrap)
		return 0;
	if (network_lists_parse(options->job_network_allow, options->job_network_deny, &worker->network_lists, err) < 0)
		return -1;
	network_urls(options, &urls);
	if (networks_open(&spec, &worker->networks, err) == 0) {
		etc_isolate(worker->sandbox.etc);
		return 0;
	}
	if (network_is(worker, "isolated"))
		return err_context(err, "--job-network isolated");
	log_warn("jobs share this machine's network: they can reach its loopback, its metadata address and each other",
		"why", err->message, NULL);
	return 0;
}

static const char *network_name(const struct worker *worker)
{
	return network_is(worker, "none") ? "none" : worker->networks ? "isolated" : "host";
}

static int open_engines(struct worker *worker, struct err *err)
{
	const struct options *options = &worker->options;
	const struct downloads_spec downloads = {.loop = worker->loop,
		.fetcher = worker->mirrors,
		.data_dir = options->data_dir,
		.terraform_mirror = options->terraform_mirror,
		.tofu_mirror = options->tofu_mirror,
		.opa_mirror = options->opa_mirror,
		.keys = options->engine_keys,
		.in_use = slots_use_engine,
		.data = worker};
	struct engines_spec engines = {
		.loop = worker->loop, .fixed = options->engine, .opa = options->opa, .folder = options->engine_dir};

	if (downloads_open(&downloads, &worker->downloads, err) < 0)
		return -1;
	engines.downloads = worker->downloads;
	worker->host.engines = engines_new(&engines);
	return 0;
}

static struct job_limits job_limits(struct process *process)
{
	const struct options *options = &process->worker.options;

	return (struct job_limits){
		.plan_seconds = options->plan_seconds,
		.apply_seconds = options->apply_seconds,
		.memory = options->job_memory,
		.processes = options->job_processes,
		.disk = options->job_disk,
		.log = options->job_log,
		.stop_seconds = options->job_stop_seconds,
		.groups = process->groups,
		.quota = open_quota(process),
	};
}

static bool scheduler_reachable(void *data)
{
	const struct worker *worker = data;

	return scheduler_ready(worker->scheduler);
}

static struct job_host job_host(struct process *process)
{
	struct worker *worker = &process->worker;
	const struct options *options = &worker->options;

	return (struct job_host){
		.loop = worker->loop,
		.fetcher = worker->fetcher,
		.scheduler_url = options->scheduler_url,
		.provider_mirror = options->provider_mirror,
		.providers = &worker->providers,
		.org_packages = worker->org_packages,
		.steps = stage_steps,
		.sandbox = &worker->sandbox,
		.bases = worker->bases,
		.books = &worker->books,
		.infracost = options->infracost,
		.policies = {.opa = options->opa,
			.opa_version = options->opa_version,
			.sentinel = options->sentinel,
			.engine_dir = options->engine_dir,
			.max_ms = options->policy_seconds * 1000,
			.memory = options->policy_memory << 20,
			.network = options->policy_network != 0,
			.http_hosts = options->policy_http_hosts},
		.hooks = &worker->hooks,
		.limits = &worker->limits,
		.networks = worker->networks,
		.offline = network_is(worker, "none"),
		.jobs = process->jobs,
		.jobs_path = process->jobs_path,
		.outside = worker->mirrors,
		.reachable = scheduler_reachable,
		.finishing = slots_finishing,
		.show = slots_show,
		.reported = slots_reported,
		.ended = slots_ended,
		.data = worker,
	};
}

static void delivered(void *data)
{
	drain_check(data);
}

static int open_host(struct process *process, struct err *err)
{
	struct worker *worker = &process->worker;
	const struct options *options = &worker->options;
	const struct unsent_spec unsent = {.loop = worker->loop,
		.fetcher = worker->fetcher,
		.scheduler_url = options->scheduler_url,
		.data_dir = options->data_dir,
		.groups = process->groups,
		.settled = delivered,
		.reachable = scheduler_reachable,
		.data = worker};

	worker->limits = job_limits(process);
	worker->host = job_host(process);
	if (open_engines(worker, err) < 0 ||
		inits_open(options->data_dir, options->init_reuse_seconds * 1000, &worker->host.inits, err) < 0 ||
		schema_cache_open(options->data_dir, &worker->host.schemas, err) < 0 ||
		installer_open(&worker->host, options->data_dir, &worker->host.installer, err) < 0 ||
		books_load(&worker->books, options->price_books, err) < 0)
		return -1;
	return unsent_open(&unsent, &worker->host.unsent, err);
}

static void confirmed(void *data, const char *job, int attempt, bool awaited)
{
	struct worker *worker = data;

	unsent_confirmed(worker->host.unsent, job, attempt, awaited);
}

static void result_delivered(void *data, uint64_t tag, const char *error)
{
	const struct worker *worker = data;

	result_sink_delivered(worker->results, tag, error);
}

static void forgotten(void *data)
{
	const struct worker *worker = data;

	lease_begin(worker->lease);
}

/* Running jobs finish under the worker's own token, and then the worker exits. */
static void refused(void *data)
{
	struct worker *worker = data;

	worker->refused = true;
	if (worker->drain == DRAIN_NONE)
		drain_begin(worker);
}

static void heartbeat_hasten(struct worker *worker, int64_t after_ms)
{
	lease_hasten(worker->lease, after_ms);
}

static int open_scheduler(struct worker *worker, struct err *err)
{
	const struct scheduler_spec scheduler = {.fetcher = worker->fetcher,
		.url = worker->options.scheduler_url,
		.pool_token = worker->options.agent_token,
		.forgotten = forgotten,
		.refused = refused,
		.data = worker};
	struct result_sink_spec results = {.loop = worker->loop,
		.fetcher = worker->fetcher,
		.scheduler_url = worker->options.scheduler_url,
		.delivered = delivered,
		.confirmed = confirmed,
		.data = worker};

	worker->kafka = (struct kafka_client){.delivered = result_delivered, .data = worker};
	if (kafka_client_open(&worker->kafka, worker->loop, &worker->options, err) < 0)
		return -1;
	worker->scheduler = scheduler_new(&scheduler);
	worker->lease = lease_new(worker);
	worker->source = job_source_new(worker, heartbeat_hasten);
	worker->control = control_new(worker);
	if (forwards_open(worker, &worker->forwards, err) < 0 || git_source_open(worker, &worker->git, err) < 0)
		return -1;
	results.sender = worker->kafka.sender;
	worker->results = result_sink_new(&results);
	disk_begin(worker);
	return 0;
}

/* Checks the limits early, because a later failure would not name the cause. */
static int check_limits(const struct options *options, struct err *err)
{
	enum { OWN_DESCRIPTORS = 256, JOB_DESCRIPTORS = 32 };
	unsigned long long wanted = OWN_DESCRIPTORS + JOB_DESCRIPTORS * (unsigned long long)options->slots, allowed;

	if (descriptors_raise(wanted, wanted, &allowed, err) < 0)
		return -1;
	return httpd_check(options->listen, err) < 0 ? err_context(err, "--listen") : 0;
}

static int process_open(struct process *process, struct err *err)
{
	static const int signals[] = {SIGTERM, SIGINT, 0};
	struct worker *worker = &process->worker;

	if (fetch_trust(worker->options.ca_file, err) < 0 || check_limits(&worker->options, err) < 0)
		return -1;
	worker->loop = loop_new();
	loop_signals(worker->loop, signals, signal_came, worker);
	worker->fetcher = fetcher_new(worker->loop);
	fetcher_expect(worker->fetcher, &worker->origin);
	worker->mirrors = fetcher_new(worker->loop);
	worker->jobs = mem_new((size_t)worker->options.slots + MAX_SHOWN, sizeof(struct job *));
	metric_set(M_SLOTS, "", (double)worker->options.slots);
	metric_set(M_SLOTS_BUSY, "", 0);
	metric_set(M_DRAINING, "", 0);
	open_groups(process); /* before the first child, which would make the worker's own group busy */
	if (child_check(err) < 0 || open_folders(process, err) < 0 || open_hooks(worker, err) < 0 ||
		open_sandbox(worker, err) < 0 || open_network(worker, err) < 0 || open_host(process, err) < 0)
		return -1;
	if (open_scheduler(worker, err) < 0)
		return -1;
	return health_start(worker, &process->health, err);
}

/* Runs when the capabilities are known, because the registration contains them. */
static void capabilities_known(void *data)
{
	struct worker *worker = data;
	_cleanup_(freep) char *capabilities = capabilities_text(worker);
	_cleanup_(freep) char *hooks = hooks_text(&worker->hooks);

	log_info("worker started", "scheduler", worker->options.scheduler_url, "capabilities", capabilities, "sandbox",
		worker->sandbox.bwrap ? "bwrap" : "none", "job-network", network_name(worker), "hooks", hooks,
		"data-dir", worker->options.data_dir, "hard-limits", limits_hard(&worker->limits), "best-effort-limits",
		limits_measured(&worker->limits), NULL);
	lease_begin(worker->lease);
}

static void once_over(void *data)
{
	struct worker *worker = data;

	if (worker->started_job || worker->drain != DRAIN_NONE)
		return;
	log_info("no job came within --once-seconds", NULL);
	drain_begin(worker);
}

static void process_run(struct process *process)
{
	struct worker *worker = &process->worker;

	unsent_recover(worker->host.unsent, process->jobs);
	if (worker->options.deliver)
		drain_begin(worker);
	else
		capabilities_look(worker, capabilities_known, worker);
	if (worker->options.once)
		loop_timer_set(
			worker->loop, &worker->once_timer, worker->options.once_seconds * 1000, once_over, worker);
	service_manager_ready();
	service_manager_watch(worker->loop);
	loop_run(worker->loop);
}

/* Cleans up. The jobs' processes are gone before the watchdog is set. */
static void process_close(struct process *process, int status)
{
	struct worker *worker = &process->worker;

	if (process->health)
		httpd_stop(process->health);
	for (size_t i = 0; i < worker->busy; i++)
		job_free(worker->jobs[i]);
	installer_stop(worker->host.installer);
	git_source_close(worker->git);
	networks_free(worker->networks);
	network_lists_release(&worker->network_lists);
	watchdog_set(WATCHDOG_CLOSE_MS, "connections are closed", status);
	disk_free(worker->disk);
	kafka_client_close(&worker->kafka);
	control_free(worker->control);
	job_source_free(worker->source);
	lease_free(worker->lease);
	forwards_free(worker->forwards);
	scheduler_free(worker->scheduler);
	result_sink_free(worker->results);
	unsent_free(worker->host.unsent);
	schema_cache_free(worker->host.schemas);
	inits_free(worker->host.inits);
	engines_free(worker->host.engines);
	downloads_stop(worker->downloads);
	books_release(&worker->books);
	org_packages_free(worker->org_packages);
	providers_release(&worker->providers);
	fetcher_free(worker->fetcher);
	fetcher_free(worker->mirrors);
	loop_free(worker->loop);
	bases_free(worker->bases);
	sandbox_release(&worker->sandbox);
	downloads_free(worker->downloads);
	installer_free(worker->host.installer);
	git_source_free(worker->git);
	closep(&process->jobs);
	closep(&process->lock);
	free(process->jobs_path);
	free(process->groups);
	free(worker->jobs);
	json_decref(worker->capabilities);
	options_release(&worker_options, &worker->options);
}

/* Whether there are results or states that neither the scheduler nor the object store has. */
static bool lacks_delivery(const struct worker *worker)
{
	size_t rescued_results, rescued = unsent_rescued(worker->host.unsent, &rescued_results),
				results = result_sink_undelivered(worker->results),
				unsent = unsent_count(worker->host.unsent), running = worker->busy;

	for (size_t i = 0; i < worker->busy; i++)
		running -= rescue_is_final(worker->jobs[i]->rescue);
	return unsent > rescued || (worker->gave_up && (results > rescued + rescued_results || running > 0));
}

/* 0: all is done and delivered. 1: the scheduler refused the worker, or jobs were stopped. 3: the data folder has
 * results or states that are not delivered. */
static int exit_status(const struct worker *worker)
{
	if (!worker->refused && lacks_delivery(worker))
		return 3;
	return worker->refused || worker->drain >= DRAIN_INTERRUPT;
}

int main(int argc, char **argv)
{
	struct process process = {.jobs = -1, .lock = -1, .worker.providers.folder = -1, .quota_why = ERR_INIT};
	struct options *options = &process.worker.options;
	struct err err = ERR_INIT;
	struct arguments arguments = {.count = argc, .values = argv};
	int status;

	guard_process();
	service_manager_open();
	status = options_read(&worker_options, &arguments, options, &err);
	if (status > 0)
		return 0;
	if (status == 0)
		status = options_ended(&worker_options, &arguments, &err);
	if (status == 0 && (status = worker_options_settle(options, &err)) == 0)
		set_quota(&process);
	if (status < 0 || account_drop(options->user, options->data_dir, &err) < 0) {
		fprintf(stderr, "runyard-worker: %s\n", err.message);
		options_release(&worker_options, options);
		return 2;
	}
	log_setup("worker", options->name, (enum log_level)log_level_parse(options->log_level));
	metrics_setup(worker_metrics, M_COUNT);
	status = process_open(&process, &err);
	if (status == 0)
		process_run(&process);
	else
		log_error("the worker can't start", "why", err.message, NULL);
	status = status < 0 ? 1 : exit_status(&process.worker);
	process_close(&process, status);
	return status;
}
