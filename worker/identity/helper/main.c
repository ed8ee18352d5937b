/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-vault: logs in to the Vaults of a job, reads secrets, keeps the tokens alive, and revokes them. vault_order.h
 * describes its input and output. It runs in the job's sandbox and network, because a tenant chooses the addresses.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/process.h"
#include "worker/identity/helper/client.h"

#ifdef __SANITIZE_ADDRESS__
/* The search for leaks needs ptrace, which a worker's sandbox forbids. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

enum {
	MAX_ORDER = 32 * 1024 * 1024,
	MAX_TOKENS = 64,
	MAX_SENTENCE = 1024,
	SHORTEST_MS = 500, /* between two renewals */
	AGAIN_SHARE = 10,  /* of the lease: until a failed renewal is repeated */
	AGAIN_LEAST_MS = 1000,
};

struct token {
	struct server server;
	long long id;
	char *value;  /* owned */
	long read_ms; /* the time limit for secrets */
	bool revocable;
	int64_t lease_ms, renew_ms, expires_ms; /* renew_ms: when it is renewed; INT64_MAX: never */
};

static struct token tokens[MAX_TOKENS];
static size_t token_count;

/* ---- events ---- */

/* Takes the event. */
static void event_write(json_t *event)
{
	_cleanup_(freep) char *text = json_text(event);

	json_decref(event);
	printf("%s\n", text);
	fflush(stdout);
}

__attribute__((format(printf, 2, 3))) static void sentence_write(const char *member, const char *format, ...)
{
	char sentence[MAX_SENTENCE];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	event_write(json_pack("{so}", member, json_string(sentence)));
}

/* `did`: what the server refused. */
static void failure_write(const struct server *server, const char *title, const char *did, const struct reply *reply)
{
	if (reply->status)
		sentence_write("failed", "The credentials %s can't be had: %s refused %s with status %ld%s%s", title,
			server->address, did, reply->status, *reply->error ? ": " : ".", reply->error);
	else
		sentence_write("failed", "The credentials %s can't be had, no answer from %s: %s", title,
			server->address, reply->error);
}

/* ---- logins ---- */

static void lease_begin(struct token *token, const json_t *auth)
{
	int64_t now = clock_boot_ms();
	long long seconds = json_int_at(auth, "lease_duration", 0);
	bool renewable = json_bool_at(auth, "renewable", false) && seconds > 0 && seconds < INT64_MAX / 2000;

	token->lease_ms = renewable ? seconds * 1000 : 0;
	token->expires_ms = now + token->lease_ms;
	token->renew_ms = INT64_MAX;
	if (renewable)
		token->renew_ms = now + (token->lease_ms / 2 > SHORTEST_MS ? token->lease_ms / 2 : SHORTEST_MS);
}

static int token_keep(const struct server *server, const json_t *vault, const json_t *auth)
{
	const char *value = json_string_at(auth, "client_token");
	struct token *token = &tokens[token_count];

	if (!value || !*value)
		return -1;
	*token = (struct token){.server = *server, .id = json_int_at(vault, "id", -1), .value = mem_text(value)};
	token->read_ms = (long)json_int_at(vault, "timeout", 0) * 1000;
	token->revocable = !text_equal(json_string_at(auth, "token_type"), "batch");
	lease_begin(token, auth);
	token_count++;
	event_write(json_pack("{sI ss}", "vault", (json_int_t)token->id, "token", value));
	return 0;
}

static int login(const json_t *vault)
{
	const struct server server = {.title = text_or_empty(json_string_at(vault, "title")),
		.address = text_or_empty(json_string_at(vault, "address")),
		.name_space = text_or_empty(json_string_at(vault, "namespace")),
		.ca = text_or_empty(json_string_at(vault, "ca"))};
	json_auto_t *body = json_pack("{ss ss}", "role", text_or_empty(json_string_at(vault, "role")), "jwt",
		text_or_empty(json_string_at(vault, "jwt")));
	const struct call call = {
		.server = &server, .path = text_or_empty(json_string_at(vault, "login")), .body = body};
	_cleanup_(freep) char *did =
		mem_printf("the login with the role \"%s\"", text_or_empty(json_string_at(vault, "role")));
	struct reply reply;
	int status = -1;

	client_call(&call, &reply);
	if (!reply_succeeded(&reply))
		failure_write(&server, server.title, did, &reply);
	else if (token_count < MAX_TOKENS && token_keep(&server, vault, json_object_get(reply.body, "auth")) == 0)
		status = 0;
	else
		sentence_write("failed", "The credentials %s can't be had: the answer of %s to the login has no token.",
			server.title, server.address);
	reply_release(&reply);
	return status;
}

/* ---- secrets ---- */

static const struct token *token_of(long long id)
{
	for (size_t i = 0; i < token_count; i++)
		if (tokens[i].id == id)
			return &tokens[i];
	return NULL;
}

static int secret_read(const json_t *secret)
{
	const struct token *token = token_of(json_int_at(secret, "vault", -1));
	const char *title = text_or_empty(json_string_at(secret, "title"));
	const char *path = text_or_empty(json_string_at(secret, "path"));
	_cleanup_(freep) char *did = mem_printf("to read %.*s", (int)strcspn(path, "?"), path);
	struct reply reply;
	json_t *data;
	int status = -1;

	if (!token)
		return -1;
	client_call(
		&(struct call){
			.server = &token->server, .path = path, .token = token->value, .timeout_ms = token->read_ms},
		&reply);
	data = json_object_get(reply.body, "data");
	if (!reply_succeeded(&reply)) {
		failure_write(&token->server, title, did, &reply);
	} else if (!json_is_object(data)) {
		sentence_write("failed", "The credentials %s can't be had: the answer of %s has no data.", title,
			token->server.address);
	} else {
		event_write(json_pack("{sI sO}", "secret", (json_int_t)json_int_at(secret, "id", -1), "data", data));
		status = 0;
	}
	reply_release(&reply);
	return status;
}

/* ---- keeping the tokens ---- */

static void renewal_failed(struct token *token, const struct reply *reply)
{
	int64_t now = clock_boot_ms(), pause = token->lease_ms / AGAIN_SHARE;
	bool again = reply->status == 0 || reply->again;

	token->renew_ms = now + (pause > AGAIN_LEAST_MS ? pause : AGAIN_LEAST_MS);
	if (again && token->renew_ms < token->expires_ms)
		return;
	token->renew_ms = INT64_MAX;
	sentence_write("warning", "the token of %s is not renewed any more: %s (status %ld)", token->server.title,
		reply->error, reply->status);
}

static void token_renew(struct token *token)
{
	json_auto_t *body = json_object();
	struct reply reply;

	client_call(
		&(struct call){
			.server = &token->server, .path = "auth/token/renew-self", .token = token->value, .body = body},
		&reply);
	if (reply_succeeded(&reply))
		lease_begin(token, json_object_get(reply.body, "auth"));
	else if (!interrupt_wait(0))
		renewal_failed(token, &reply);
	reply_release(&reply);
}

static void keep_tokens(void)
{
	static const int64_t longest_ms = (int64_t)3600 * 1000;
	int64_t now, next;

	do {
		now = clock_boot_ms();
		next = now + longest_ms;
		for (size_t i = 0; i < token_count; i++) {
			if (tokens[i].renew_ms <= now)
				token_renew(&tokens[i]);
			if (tokens[i].renew_ms < next)
				next = tokens[i].renew_ms;
		}
		now = clock_boot_ms();
	} while (!interrupt_wait(next > now ? next - now : 0));
}

static void token_revoke(const struct token *token)
{
	json_auto_t *body = json_object();
	struct reply reply;

	if (!token->revocable)
		return;
	client_call(&(struct call){.server = &token->server,
			    .path = "auth/token/revoke-self",
			    .token = token->value,
			    .body = body,
			    .last = true},
		&reply);
	if (!reply_succeeded(&reply))
		sentence_write("warning", "the token of %s is not revoked: %s (status %ld)", token->server.title,
			reply.error, reply.status);
	reply_release(&reply);
}

/* ---- the order ---- */

static int sleep_seconds(long long seconds)
{
	if (seconds <= 0)
		return 0;
	event_write(json_pack("{sI}", "sleeping", (json_int_t)seconds));
	return interrupt_wait(seconds * 1000) ? -1 : 0;
}

static int fulfil(const json_t *order)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(order, "vaults"), i, item)
	{
		if (interrupt_wait(0) || login(item) < 0)
			return -1;
	}
	json_array_foreach(json_object_get(order, "secrets"), i, item)
	{
		if (interrupt_wait(0) || secret_read(item) < 0)
			return -1;
	}
	return sleep_seconds(json_int_at(order, "sleep", 0));
}

static void block_interrupt(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGINT, SIG_DFL); /* the worker's children ignore it, and an ignored signal may be dropped */
}

int main(void)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(MAX_ORDER);
	json_auto_t *order = NULL;
	struct err err = ERR_INIT;
	int status;

	process_protect();
	block_interrupt();
	if (buf_read(&text, STDIN_FILENO) < 0 || json_parse(buf_str(&text), text.len, &order, &err) < 0) {
		fprintf(stderr, "runyard-vault is started by runyard-worker\n");
		return 2;
	}
	event_write(json_pack("{sb}", "begun", 1));
	status = fulfil(order);
	if (status == 0) {
		event_write(json_pack("{sb}", "ready", 1));
		keep_tokens();
	}
	for (size_t i = 0; i < token_count; i++) {
		token_revoke(&tokens[i]);
		free(tokens[i].value);
	}
	return status == 0 ? 0 : 1;
}
