/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/rescue.h"

#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "proto/limits.h"

enum { VERSION = 1, KEY_DIGITS = 64 };

bool rescue_key_valid(const char *key)
{
	return strlen(key) == KEY_DIGITS && strspn(key, "0123456789abcdef") == KEY_DIGITS;
}

/* A keyring with the object's own key. */
static int ring_open(const struct rescue_attempt *of, struct keyring **ret_ring, struct err *err)
{
	_cleanup_(freep) char *text = mem_printf("1:%s", of->key);

	return keyring_parse(text, ret_ring, err);
}

static char *context_of(const struct rescue_attempt *of)
{
	return mem_printf("rescue:%s:%d", of->job, of->attempt);
}

int rescue_seal(const struct rescue_attempt *of, json_t *head, struct bytes state, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf plain = BUF_INIT((size_t)MAX_STATE_BYTES + MAX_RESCUE_HEAD);
	_cleanup_(keyring_freep) struct keyring *ring = NULL;
	_cleanup_(freep) char *context = context_of(of), *line = NULL;

	json_object_update_new(
		head, json_pack("{si ss si ss}", "v", VERSION, "job", of->job, "attempt", of->attempt, "run", of->run));
	line = json_text(head);
	if (ring_open(of, &ring, err) < 0)
		return -1;
	if (strlen(line) >= MAX_RESCUE_HEAD || state.len > MAX_STATE_BYTES || buf_printf(&plain, "%s\n", line) < 0 ||
		buf_append(&plain, state.data, state.len) < 0 ||
		keyring_seal(ring, context, buf_bytes(&plain), out) < 0)
		return err_set(err, ERR_TOO_LARGE, "the state or the result is too large for the object store");
	return 0;
}

static bool head_is_of(const json_t *head, const struct rescue_attempt *of)
{
	return json_int_at(head, "v", 0) == VERSION && text_equal(json_string_at(head, "job"), of->job) &&
		text_equal(json_string_at(head, "run"), of->run) && json_int_at(head, "attempt", 0) == of->attempt;
}

static int content_read(
	const struct rescue_attempt *of, const struct buf *plain, struct rescue_content *ret_content, struct err *err)
{
	const char *text = buf_str(plain),
		   *end = memchr(text, '\n', plain->len < MAX_RESCUE_HEAD ? plain->len : MAX_RESCUE_HEAD);
	json_auto_t *head = NULL;

	if (!end || json_parse(text, (size_t)(end - text), &head, err) < 0 || !head_is_of(head, of))
		return err_set(err, ERR_INVALID, "its head is not that of this attempt's data");
	*ret_content = (struct rescue_content){json_incref(head), {end + 1, plain->len - (size_t)(end + 1 - text)}};
	return 0;
}

int rescue_open(const struct rescue_attempt *of, struct bytes sealed, struct buf *plain,
	struct rescue_content *ret_content, struct err *err)
{
	_cleanup_(keyring_freep) struct keyring *ring = NULL;
	_cleanup_(freep) char *context = context_of(of);

	if (ring_open(of, &ring, err) < 0)
		return -1;
	if (sealed.len < SEALED_MORE || keyring_open(ring, context, sealed, plain, err) < 0)
		return err_set(err, ERR_INVALID, "it is not encrypted with the attempt's key, or was changed");
	return content_read(of, plain, ret_content, err);
}

void rescue_content_release(struct rescue_content *content)
{
	json_decref(content->head);
	*content = (struct rescue_content){.head = NULL};
}
