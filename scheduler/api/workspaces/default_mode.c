/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces/default_mode.h"

int mode_word_check(const char *mode, const char *pointer, const char *what, struct err *err)
{
	static const char *const modes[] = {"remote", "local", "agent"};

	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (text_equal(modes[i], mode))
			return 0;
	return err_at(err, pointer, "%s must be remote, local or agent", what);
}

int default_mode_change(const struct request *req, const struct pool_use *use, const struct default_mode_body *body,
	struct default_mode *mode, struct err *err)
{
	static const char what[] = "Default agent pool";
	bool agent = text_equal(body->mode, "agent"), none = text_equal(body->pool, "");
	const char *sent = none ? NULL : body->pool, *pool = body->pool ? sent : mode->pool;

	if (body->mode &&
		mode_word_check(body->mode, "/data/attributes/default-execution-mode", "Default execution mode", err) <
			0)
		return -1;
	if (!agent && sent)
		return err_at(
			err, body->pool_pointer, "%s must not be specified unless using 'agent' execution mode", what);
	if (agent && !pool)
		return err_at(err, body->pool_pointer, "%s must be specified when using 'agent' execution mode", what);
	if (sent && pool_use_check(req->store, pool, use, body->pool_pointer, err) < 0)
		return -1;
	mode->mode = body->mode;
	mode->pool = agent ? pool : NULL;
	return 0;
}
