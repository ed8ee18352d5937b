/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/network/network.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/process.h"
#include "worker/exec/child.h"
#include "worker/exec/program.h"
#include "worker/keeper/proc_tree.h"
#include "worker/network/facts.h"

enum { READY_MS = 30 * 1000, PROBE_SECONDS = 10, PREPARE_MS = 200, RETRY_MS = 1000, RETRY_MAX_MS = 60 * 1000 };

/* One network. It is freed when its holder ends. */
struct network {
	struct networks *networks;
	struct child *holder;
	int socket;        /* to the holder */
	int namespaces[2]; /* user, net; or -1 */
	char *owner;       /* NULL: it is prepared. Set once, by network_assign. */
	struct network_plan plan;
	struct network_use *use; /* or NULL */
	struct loop_timer timer; /* until it is ready */
	bool ending;             /* it is being killed */
	struct network *next;
};

struct networks {
	struct loop *loop;
	struct network_lists lists; /* borrowed content */
	struct texts urls;
	size_t keep, prepare;
	int64_t grace_ms;
	char *pasta, *program;           /* paths */
	struct network *first;           /* all networks, most recently used first */
	bool planned;                    /* `plan` is known */
	struct network_plan plan;        /* for prepared networks: that of the last job */
	struct loop_timer prepare_timer; /* until the next network is prepared */
	int64_t retry_ms;                /* 0: the last preparation succeeded */
};

struct network_use {
	struct networks *networks;
	char *owner;
	struct texts urls;
	struct network_facts facts;
	struct network *network; /* or NULL */
	bool looking;            /* a thread is reading the facts */
	bool released;
	struct err err; /* why there is no network */
	void (*ready)(void *data, const struct err *err);
	void (*lost)(void *data);
	void *ready_data, *lost_data;
};

/* ---- the holder ---- */

static void holder_arguments(const struct networks *networks, const struct network_plan *plan, struct texts *ret_args)
{
	/* pasta takes its mode from its name. By default, root's pasta becomes `nobody`, and `nobody` may not enter
	 * these namespaces. */
	TEXTS_ADD(ret_args, networks->program, networks->pasta, "pasta", "--runas");
	texts_add(ret_args, "%u:%u", geteuid(), getegid());
	network_plan_arguments(plan, ret_args);
}

static int request_send(int fd, const struct network_plan *plan, struct err *err)
{
	if (send(fd, &plan->request, sizeof(plan->request), MSG_NOSIGNAL) == (ssize_t)sizeof(plan->request))
		return 0;
	return err_errno(err, "runyard-network");
}

/* Moves the descriptors to numbers above those that exec/child assigns. */
static void namespaces_take(const struct msghdr *message, int namespaces[2])
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int came[2];

	if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(came)))
		return;
	memcpy(came, CMSG_DATA(header), sizeof(came));
	for (size_t i = 0; i < ARRAY_LEN(came); i++) {
		namespaces[i] = fcntl(came[i], F_DUPFD_CLOEXEC, KEEPER_FDS_END);
		close(came[i]);
	}
}

static int answer_read(int fd, int namespaces[2], struct err *err)
{
	struct holder_answer answer = {.error = ""};
	struct iovec bytes = {&answer, sizeof(answer)};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);

	if (got != (ssize_t)sizeof(answer))
		return err_set(err, ERR_INTERNAL, "runyard-network gave no answer");
	answer.error[sizeof(answer.error) - 1] = '\0';
	if (*answer.error)
		return err_set(err, ERR_INTERNAL, "%s", answer.error);
	namespaces_take(&message, namespaces);
	return namespaces[0] < 0 || namespaces[1] < 0 ? err_errno(err, "the network's namespaces") : 0;
}

/* ---- one network ---- */

static bool plan_equal(const struct network_plan *a, const struct network_plan *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void network_unlink(struct network *network)
{
	struct network **at = &network->networks->first;

	while (*at != network)
		at = &(*at)->next;
	*at = network->next;
}

static void network_free(struct network *network)
{
	network_unlink(network);
	loop_timer_clear(network->networks->loop, &network->timer);
	loop_unwatch(network->networks->loop, network->socket);
	closep(&network->socket);
	closep(&network->namespaces[0]);
	closep(&network->namespaces[1]);
	free(network->owner);
	free(network);
}

static void network_end(struct network *network)
{
	network->ending = true;
	child_kill(network->holder);
}

/* ---- one use ---- */

static void use_free(struct network_use *use)
{
	free(use->owner);
	texts_release(&use->urls);
	network_facts_release(&use->facts);
	free(use);
}

/* Reports that the network is ready or has failed. */
static void use_settled(struct network_use *use)
{
	void (*ready)(void *data, const struct err *err) = use->ready;

	use->ready = NULL;
	if (ready)
		ready(use->ready_data, use->err.kind == ERR_NONE ? NULL : &use->err);
}

static void use_failed(struct network_use *use)
{
	use->network = NULL;
	log_warn("a job's network can't be made", "why", use->err.message, NULL);
	use_settled(use);
}

/* Tells the job that uses the network. The caller frees the network. */
static void network_lost(struct network *network, const struct err *err)
{
	struct network_use *use = network->use;
	bool was_ready = network->namespaces[0] >= 0;

	network->use = NULL;
	if (!use)
		return;
	use->network = NULL;
	use->err = *err;
	if (!was_ready)
		use_failed(use);
	else if (use->lost)
		use->lost(use->lost_data);
}

/* ---- preparing networks ---- */

static struct network *network_start(struct networks *networks, const struct network_plan *plan, struct err *err);

static size_t prepared_count(const struct networks *networks)
{
	size_t count = 0;

	for (const struct network *network = networks->first; network; network = network->next)
		count += !network->owner && !network->ending;
	return count;
}

static void prepare_failed(struct networks *networks, const struct err *err);

/* Starts at most one network: it would delay running jobs more if it started all at the same time. */
static void prepare(void *data)
{
	struct networks *networks = data;
	struct err err = ERR_INIT;

	if (prepared_count(networks) < networks->prepare && !network_start(networks, &networks->plan, &err))
		prepare_failed(networks, &err);
}

static void prepare_later(struct networks *networks)
{
	if (!networks->prepare_timer.due_ms)
		loop_timer_set(networks->loop, &networks->prepare_timer, PREPARE_MS, prepare, networks);
}

/* Logs the first of a series of failures. The series ends when a job gets a prepared network. */
static void prepare_failed(struct networks *networks, const struct err *err)
{
	if (networks->retry_ms == 0)
		log_warn("a prepared network failed; the worker prepares another one", "why", err->message, NULL);
	networks->retry_ms = networks->retry_ms == 0 ? RETRY_MS : networks->retry_ms * 2;
	if (networks->retry_ms > RETRY_MAX_MS)
		networks->retry_ms = RETRY_MAX_MS;
	loop_timer_set(networks->loop, &networks->prepare_timer, networks->retry_ms, prepare, networks);
}

/* Prepares networks for this plan. Ends those that were prepared for another one. */
static void prepare_plan(struct networks *networks, const struct network_plan *plan)
{
	networks->planned = true;
	networks->plan = *plan;
	for (struct network *network = networks->first; network; network = network->next)
		if (!network->owner && !network->ending && !plan_equal(&network->plan, plan))
			network_end(network);
	prepare_later(networks);
}

/* ---- the holder's events ---- */

static void network_failed(struct network *network, const struct err *err)
{
	if (!network->owner)
		prepare_failed(network->networks, err);
	network_lost(network, err);
	network_end(network);
}

static void holder_ended(void *data, const struct keeper_report *report)
{
	struct network *network = data;
	struct err err = ERR_INIT;

	(void)report;
	network->holder = NULL;
	err_set(&err, ERR_INTERNAL, "pasta ended");
	if (!network->owner && !network->ending)
		prepare_failed(network->networks, &err);
	else if (!network->ending)
		log_warn("a job's network ended by itself: pasta was killed or failed", NULL);
	network_lost(network, &err);
	network_free(network);
}

static void holder_answered(void *data, int fd, unsigned events)
{
	struct network *network = data;
	struct err err = ERR_INIT;

	(void)events;
	loop_unwatch(network->networks->loop, fd);
	loop_timer_clear(network->networks->loop, &network->timer);
	if (answer_read(fd, network->namespaces, &err) < 0) {
		network_failed(network, &err);
		return;
	}
	prepare_later(network->networks);
	if (network->use)
		use_settled(network->use);
}

static void holder_late(void *data)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_INTERNAL, "pasta took longer than %d s to start", READY_MS / 1000);
	network_failed(data, &err);
}

/* The network has no owner. NULL: it can't be started. */
static struct network *network_start(struct networks *networks, const struct network_plan *plan, struct err *err)
{
	_cleanup_(texts_release) struct texts args = {.items = NULL};
	_cleanup_(closep) int theirs = -1;
	struct network *network;
	int sockets[2];
	struct child_spec spec = {.ended = holder_ended,
		.env = (char *[]){NULL},
		.folder = "/",
		.fds = {-1, -1, -1, -1, -1},
		.terms = {.grace_ms = networks->grace_ms}};

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
		err_errno(err, "socketpair");
		return NULL;
	}
	theirs = sockets[1];
	network = mem_new(1, sizeof(*network));
	*network = (struct network){.networks = networks,
		.socket = sockets[0],
		.namespaces = {-1, -1},
		.plan = *plan,
		.next = networks->first};
	networks->first = network;
	holder_arguments(networks, plan, &args);
	spec.data = network;
	spec.argv = args.items;
	spec.fds[HOLDER_FD] = theirs;
	if (request_send(network->socket, plan, err) < 0 ||
		child_start(networks->loop, &spec, &network->holder, err) < 0) {
		network_free(network);
		return NULL;
	}
	loop_watch(networks->loop, network->socket, EPOLLIN, holder_answered, network);
	loop_timer_set(networks->loop, &network->timer, READY_MS, holder_late, network);
	return network;
}

static bool owner_is(const struct network *network, const char *owner)
{
	return owner ? network->owner && text_equal(network->owner, owner) : !network->owner;
}

/* An unused network of this owner, or a prepared one if `owner` is NULL. Preferably one that is ready. */
static struct network *network_find(struct networks *networks, const char *owner, const struct network_plan *plan)
{
	struct network *found = NULL;

	for (struct network *network = networks->first; network; network = network->next)
		if (!network->use && !network->ending && owner_is(network, owner) && plan_equal(&network->plan, plan) &&
			(!found || found->namespaces[0] < 0))
			found = network;
	return found;
}

/* Gives the network to the use. The network keeps its first owner until it ends. */
static void network_assign(struct network *network, struct network_use *use)
{
	if (!network->owner && network->namespaces[0] >= 0)
		network->networks->retry_ms = 0;
	if (!network->owner)
		network->owner = mem_text(use->owner);
	if (network->use || !owner_is(network, use->owner))
		abort(); /* two jobs or two organizations would share it */
	network->use = use;
	use->network = network;
}

/* ---- getting a network ---- */

static void look(void *data)
{
	struct network_use *use = data;

	network_facts_read(&use->urls, &use->facts);
}

/* Uses the organization's own network, else a prepared one, else a new one. */
static int use_find(struct network_use *use, const struct network_plan *plan)
{
	struct networks *networks = use->networks;
	struct network *network = network_find(networks, use->owner, plan);

	if (!network)
		network = network_find(networks, NULL, plan);
	if (!network)
		network = network_start(networks, plan, &use->err);
	if (!network)
		return -1;
	network_assign(network, use);
	return 0;
}

static void use_begin(struct network_use *use, const struct network_plan *plan)
{
	if (use_find(use, plan) < 0)
		use_failed(use);
	else if (network_namespaces(use))
		use_settled(use);
}

static void looked(void *data)
{
	struct network_use *use = data;
	struct networks *networks = use->networks;
	_cleanup_(freep) struct network_plan *plan = mem_new(1, sizeof(*plan));
	int status = network_plan_make(&networks->lists, &use->facts, plan, &use->err);
	bool for_job = *use->owner != '\0';

	use->looking = false;
	if (use->released) {
		use_free(use);
	} else if (status < 0) {
		use_failed(use);
	} else {
		use_begin(use, plan);
	}
	/* The worker's own plan may lack the run's API, so it is used only until a job's plan is known. */
	if (status == 0 && (for_job || !networks->planned))
		prepare_plan(networks, plan);
}

struct network_use *network_take(struct networks *networks, const char *owner, const char *url)
{
	struct network_use *use = mem_new(1, sizeof(*use));

	*use = (struct network_use){.networks = networks, .owner = mem_text(owner), .looking = true};
	texts_add_list(&use->urls, (const char *const *)networks->urls.items);
	if (*url)
		texts_add(&use->urls, "%s", url);
	loop_work(networks->loop, look, looked, use);
	return use;
}

const int *network_namespaces(const struct network_use *use)
{
	return use->network && use->network->namespaces[0] >= 0 ? use->network->namespaces : NULL;
}

int network_socket(const struct network_use *use)
{
	return network_namespaces(use) ? use->network->socket : -1;
}

void network_wait(struct network_use *use, void (*ready)(void *data, const struct err *err), void *data)
{
	use->ready = ready;
	use->ready_data = data;
	if (use->err.kind != ERR_NONE || network_namespaces(use))
		use_settled(use);
}

void network_on_loss(struct network_use *use, void (*lost)(void *data), void *data)
{
	use->lost = lost;
	use->lost_data = data;
}

/* ---- releasing a network ---- */

/* Ends the least recently used of the organizations' unused networks, until `keep` are left. */
static void networks_trim(struct networks *networks)
{
	size_t unused = 0;

	for (struct network *network = networks->first; network; network = network->next)
		if (network->owner && !network->use && !network->ending && ++unused > networks->keep)
			network_end(network);
}

void network_release(struct network_use *use)
{
	struct network *network;

	if (!use)
		return;
	network = use->network;
	use->ready = NULL;
	use->lost = NULL;
	if (use->looking) {
		use->released = true;
		return;
	}
	if (network) {
		network->use = NULL;
		network_unlink(network);
		network->next = network->networks->first;
		network->networks->first = network;
		networks_trim(network->networks);
	}
	use_free(use);
}

/* ---- the test at the worker's start ---- */

static int probe_answer(int fd, struct err *err)
{
	const struct timeval max = {.tv_sec = PROBE_SECONDS};
	int namespaces[2] = {-1, -1}, status;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &max, sizeof(max));
	status = answer_read(fd, namespaces, err);
	closep(&namespaces[0]);
	closep(&namespaces[1]);
	return status;
}

/* A holder of its own: it kills its descendants when the socket is closed. */
static int probe_run(const struct texts *args, int sockets[2], const struct network_plan *plan, struct err *err)
{
	int status, pid = program_spawn(args->items, (struct program_fds){-1, sockets[1], -1}, err);

	closep(&sockets[1]);
	if (pid < 0)
		return -1;
	status = request_send(sockets[0], plan, err) < 0 ? -1 : probe_answer(sockets[0], err);
	closep(&sockets[0]);
	waitpid(pid, NULL, 0);
	return status;
}

static int networks_probe(struct networks *networks, struct err *err)
{
	_cleanup_(texts_release) struct texts args = {.items = NULL};
	const struct texts none = {.items = NULL};
	_cleanup_(network_facts_release) struct network_facts facts = {.own = NULL};
	_cleanup_(freep) struct network_plan *plan = mem_new(1, sizeof(*plan));
	int sockets[2], status;

	network_facts_read(&none, &facts);
	if (network_plan_make(&networks->lists, &facts, plan, err) < 0)
		return -1;
	holder_arguments(networks, plan, &args);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return err_errno(err, "socketpair");
	status = probe_run(&args, sockets, plan, err);
	closep(&sockets[0]);
	closep(&sockets[1]);
	return status;
}

int networks_open(const struct networks_spec *spec, struct networks **ret_networks, struct err *err)
{
	struct networks *networks = mem_new(1, sizeof(*networks));

	*networks = (struct networks){.loop = spec->loop,
		.lists = *spec->lists,
		.keep = spec->keep,
		.prepare = spec->prepare,
		.grace_ms = spec->grace_ms};
	texts_add_list(&networks->urls, (const char *const *)spec->urls->items);
	networks->pasta = program_find("pasta", "/usr/bin");
	networks->program = process_helper("runyard-network");
	if (!networks->pasta) {
		err_set(err, ERR_INVALID, "there is no pasta: install the package passt");
	} else if (networks_probe(networks, err) == 0) {
		network_release(network_take(networks, "", "")); /* computes the plan of prepared networks */
		*ret_networks = networks;
		return 0;
	} else {
		err->kind = ERR_INVALID;
		err_context(err,
			"pasta can't make a network here (it needs user and network namespaces, and a "
			"/dev/net/tun that this user may open, mode 0666)");
	}
	networks_free(networks);
	return -1;
}

void networks_free(struct networks *networks)
{
	if (!networks)
		return;
	loop_timer_clear(networks->loop, &networks->prepare_timer);
	while (networks->first) {
		child_abandon(networks->first->holder);
		network_free(networks->first);
	}
	texts_release(&networks->urls);
	free(networks->pasta);
	free(networks->program);
	free(networks);
}
