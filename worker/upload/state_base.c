/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/state_base.h"

#include <string.h>

#include "common/err.h"

enum { HEAD_MAX = 4096, SPARE = 16 * 1024 };

void state_base_drop(struct state_base *base)
{
	difference_base_free(base->bytes);
	*base = (struct state_base)STATE_BASE_INIT;
}

bool state_base_fits(size_t len)
{
	return len >= STATE_BASE_MIN && len <= DIFFERENCE_STATE_MAX;
}

void state_base_set(struct state_base *base, const struct buf *state, const struct state_facts *facts, int64_t now_ms)
{
	state_base_drop(base);
	if (!state_base_fits(state->len))
		return;
	base->bytes = difference_base_new(buf_bytes(state));
	base->facts = *facts;
	base->since_ms = now_ms;
}

/* ---- the head ---- */

static bool text_ends(const struct buf *state, const char *end)
{
	size_t len = strlen(end);

	return state->len >= len && memcmp(state->data + state->len - len, end, len) == 0;
}

/* Reads the head: the engines write version, serial and lineage before the outputs. */
static bool head_facts(const struct buf *state, struct state_facts *ret_facts)
{
	static const char outputs[] = ",\n  \"outputs\":";
	_cleanup_(freep) char *head = NULL;
	const char *end =
		memmem(state->data, state->len < HEAD_MAX ? state->len : HEAD_MAX, outputs, sizeof(outputs) - 1);

	if (!end)
		return false;
	head = mem_printf("%.*s}", (int)(end - state->data), state->data);
	return state_facts_read(head, strlen(head), ret_facts) && *ret_facts->lineage;
}

/* A JSON text can't contain a line break. So a brace at the start of a line can only be the end of an indented
 * document. */
enum state_text state_head_read(const struct buf *state, struct state_facts *ret_facts)
{
	if (!state->len)
		return STATE_TEXT_TORN;
	if (!text_starts(state->data, "{\n"))
		return STATE_TEXT_OTHER;
	if (!text_ends(state, "\n}\n"))
		return STATE_TEXT_TORN;
	return head_facts(state, ret_facts) ? STATE_TEXT_WHOLE : STATE_TEXT_OTHER;
}

/* ---- the form to send ---- */

static bool same_as_base(const struct state_base *base, const struct buf *state)
{
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(state->data, state->len, digest);
	return text_equal(digest, base->facts.digest);
}

/* The differences to one base may add up to the size of a state, because both ends parse and compress each new base. */
static bool difference_pays(const struct state_base *base, size_t state_len, size_t frame_len)
{
	return frame_len <= STATE_DIFFERENCE_MAX && frame_len <= state_len / 4 &&
		base->sent + frame_len <= state_len + SPARE;
}

enum state_form state_base_compare(struct state_base *base, const struct buf *state, const struct state_facts *facts,
	int64_t now_ms, struct buf *frame)
{
	char digest[SHA256_HEX_SIZE];
	struct err err = ERR_INIT;

	if (!base->bytes || !text_equal(base->facts.lineage, facts->lineage))
		return STATE_AS_WHOLE;
	if (!*base->last && same_as_base(base, state))
		return STATE_UNCHANGED;
	if (difference_make(base->bytes, buf_bytes(state), frame, &err) < 0)
		return STATE_AS_WHOLE;
	crypto_sha256_hex(frame->data, frame->len, digest);
	if (text_equal(digest, base->last))
		return STATE_UNCHANGED;
	if (now_ms - base->since_ms >= STATE_BASE_MS || !difference_pays(base, state->len, frame->len))
		return STATE_AS_WHOLE;
	text_copy(base->last, sizeof(base->last), digest);
	base->sent += frame->len;
	return STATE_AS_DIFFERENCE;
}
