/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/hooks/hook_env.h"

#include <string.h>

#include "common/err.h"

static int line_read(char *line, struct texts *env, struct err *err)
{
	char *equals = strchr(line, '=');

	if (!*line)
		return 0;
	if (!equals)
		return err_set(err, ERR_INVALID, "has no \"=\": write KEY=value");
	*equals = '\0';
	if (!variables_name_valid(line))
		return err_set(err, ERR_INVALID,
			"has no valid name before \"=\": letters, digits, \"_\" and \"-\", and no digit first");
	if (variables_reserved(line))
		return err_set(err, ERR_INVALID, "sets %s, which the worker sets itself", line);
	texts_set_env(env, line, equals + 1);
	return 0;
}

int hook_env_read(struct bytes content, struct texts *env, struct err *err)
{
	_cleanup_(freep) char *text = mem_printf("%.*s", (int)content.len, (const char *)content.data);
	char *rest = text, *line;

	if (strlen(text) < content.len)
		return err_set(err, ERR_INVALID, "it has a zero byte");
	for (int number = 1; (line = strsep(&rest, "\n")); number++)
		if (line_read(line, env, err) < 0)
			return err_context(err, "line %d", number);
	return 0;
}
