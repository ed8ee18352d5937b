/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/serve.h"

#include <errno.h>
#include <lasso/lasso.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <string.h>
#include <unistd.h>
#include <xmlsec/errors.h>

#include "common/buf.h"
#include "common/err.h"
#include "scheduler/saml/logouts.h"
#include "scheduler/saml/metadata.h"
#include "scheduler/saml/requests.h"
#include "scheduler/saml/responses.h"
#include "scheduler/saml/wire.h"

static int settings_check(const json_t *request, json_t *answer, struct err *err)
{
	json_t *problems = json_array();
	struct parties parties;

	json_object_set_new(answer, "problems", problems);
	if (parties_read(request, &parties, err) < 0)
		return -1;
	parties_problems(&parties, problems);
	return 0;
}

static const struct operation {
	const char *name;
	int (*run)(const json_t *request, json_t *answer, struct err *err);
} operations[] = {
#define OPERATION(name, function, request, answer) {#name, function},
#include "scheduler/saml/operations.def"
#undef OPERATION
};

/* ---- messages of the libraries: they may quote what they read ---- */

static void log_nothing(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
	(void)domain;
	(void)level;
	(void)message;
	(void)data;
}

static void xml_nothing(void *data, const char *format, ...)
{
	(void)data;
	(void)format;
}

static void xmlsec_nothing(const char *file, int line, const char *function, const char *object, const char *subject,
	int reason, const char *message)
{
	(void)file;
	(void)line;
	(void)function;
	(void)object;
	(void)subject;
	(void)reason;
	(void)message;
}

int serve_init(void)
{
	if (lasso_init() != 0)
		return -1;
	g_log_set_default_handler(log_nothing, NULL);
	xmlSetGenericErrorFunc(NULL, xml_nothing);
	xmlSecErrorsSetCallback(xmlsec_nothing);
	return 0;
}

/* ---- one request ---- */

static json_t *failure_of(const struct err *err)
{
	return json_pack("{ss}", err->kind == ERR_INVALID ? "refused" : "failed", err->message);
}

json_t *serve_answer(const json_t *request)
{
	const char *name = text_or_empty(json_string_at(request, "do"));
	json_auto_t *answer = json_object();
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
		if (!text_equal(name, operations[i].name))
			continue;
		if (operations[i].run(request, answer, &err) == 0)
			return json_pack("{sO}", "answer", answer);
		return failure_of(&err);
	}
	err_set(&err, ERR_INTERNAL, "there is no operation \"%.40s\"", name);
	return failure_of(&err);
}

/* ---- the connection ---- */

/* Returns 1; 0 if the other end is closed; -1 with errno. */
static int read_fully(int fd, void *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t count = read(fd, (char *)bytes + at, len - at);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return (int)count;
		at += (size_t)count;
	}
	return 1;
}

static int message_read(int fd, json_t **ret_request)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SAML_WIRE_MAX);
	char head[SAML_WIRE_HEAD];
	struct err ignored = ERR_INIT;
	int result = read_fully(fd, head, sizeof(head));
	size_t len;

	if (result <= 0)
		return result;
	len = wire_head_read(head);
	if (buf_grow(&text, len) < 0)
		return -1;
	result = read_fully(fd, text.data, len);
	if (result <= 0)
		return result;
	return json_parse(text.data, len, ret_request, &ignored) < 0 ? -1 : 1;
}

static int message_write(int fd, const json_t *answer)
{
	size_t len = 0;
	_cleanup_(freep) char *text = json_text_len(answer, &len);
	char head[SAML_WIRE_HEAD];

	wire_head_write(head, len);
	return len <= SAML_WIRE_MAX && write_fully(fd, head, sizeof(head)) == 0 ? write_fully(fd, text, len) : -1;
}

int serve_run(int fd)
{
	for (;;) {
		json_auto_t *request = NULL, *answer = NULL;
		int result = message_read(fd, &request);

		if (result <= 0)
			return result;
		answer = serve_answer(request);
		if (message_write(fd, answer) < 0)
			return -1;
	}
}
