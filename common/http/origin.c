/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/origin.h"

#include <string.h>

#include "common/base.h"
#include "common/log.h"

static bool id_fits(const char *id)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";

	return id && *id && strlen(id) < ORIGIN_ID_SIZE && strspn(id, plain) == strlen(id);
}

static bool is_known(const struct origin *origin)
{
	return *origin->id || origin->sends_no_id;
}

bool origin_accepts(struct origin *origin, const char *id)
{
	bool accepted;

	if (!*origin->id && id_fits(id))
		text_copy(origin->id, sizeof(origin->id), id);
	accepted = *origin->id ? text_equal(origin->id, id) : origin->sends_no_id;
	origin->accepted += accepted;
	return accepted;
}

bool origin_accepts_first(struct origin *origin, int status, const char *id)
{
	return origin_accepts(origin, id) || (!is_known(origin) && status >= 200 && status < 300);
}

void origin_recognize(struct origin *origin, const char *url)
{
	if (is_known(origin))
		return;
	origin->sends_no_id = true;
	log_warn("the scheduler sends no installation id: answers of a proxy can't be distinguished from its own",
		"header", ORIGIN_HEADER, "scheduler", url, NULL);
}
