/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/protocol.h"

#include "common/err.h"

enum { MAX_VERSIONS = 16, MAX_NUMBER = 10000 };

json_t *protocol_versions(void)
{
	json_t *versions = json_array();

	for (int version = PROTOCOL_OLDEST; version <= PROTOCOL_VERSION; version++)
		json_array_append_new(versions, json_integer(version));
	return versions;
}

static int refuse(long long newest, const char *who, struct err *err)
{
	if (newest < PROTOCOL_OLDEST)
		return err_set(err, ERR_UPGRADE,
			"this %s is too old: it supports version %lld of the protocol at most, and this scheduler "
			"needs "
			"version %d at least. Install a newer %s",
			who, newest, PROTOCOL_OLDEST, who);
	return err_set(err, ERR_UPGRADE,
		"this %s is too new: this scheduler supports the versions %d to %d of the protocol. Upgrade the "
		"schedulers first",
		who, PROTOCOL_OLDEST, PROTOCOL_VERSION);
}

int protocol_agree(const json_t *versions, const char *who, int *ret_version, struct err *err)
{
	int agreed = versions ? 0 : 1;
	long long newest = versions ? 0 : 1;
	const json_t *item;
	size_t i;

	if (versions && (!json_is_array(versions) || json_array_size(versions) > MAX_VERSIONS))
		return err_set(err, ERR_INVALID, "'protocols' must be an array of at most %d numbers", MAX_VERSIONS);
	json_array_foreach((json_t *)versions, i, item)
	{
		json_int_t version = json_integer_value(item);

		if (!json_is_integer(item) || version < 1 || version > MAX_NUMBER)
			return err_set(
				err, ERR_INVALID, "'protocols' must have whole numbers from 1 to %d", MAX_NUMBER);
		newest = version > newest ? version : newest;
		if (version > agreed && version <= PROTOCOL_VERSION)
			agreed = (int)version;
	}
	if (agreed < PROTOCOL_OLDEST)
		return refuse(newest, who, err);
	*ret_version = agreed;
	return 0;
}

void protocol_refusal(const char *body, size_t len, char ret_reason[PROTOCOL_REFUSAL_SIZE])
{
	json_auto_t *answer = NULL;
	struct err ignored = ERR_INIT;
	const json_t *first;

	ret_reason[0] = '\0';
	if (json_parse(body, len, &answer, &ignored) < 0)
		return;
	first = json_array_get(json_at(answer, "errors"), 0);
	text_copy(ret_reason, PROTOCOL_REFUSAL_SIZE, text_or_empty(json_string_at(first, "detail")));
}
