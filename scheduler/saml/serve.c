/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/serve.h"

#include <lasso/lasso.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <xmlsec/errors.h>

#include "common/err.h"
#include "scheduler/saml/logouts.h"
#include "scheduler/saml/metadata.h"
#include "scheduler/saml/requests.h"
#include "scheduler/saml/responses.h"

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

const struct helper_operation saml_operations[] = {
#define OPERATION(name, function, request, answer) {#name, function},
#include "scheduler/saml/operations.def"
#undef OPERATION
	{NULL, NULL},
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
