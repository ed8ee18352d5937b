/* SPDX-License-Identifier: MPL-2.0 */
/* Differences of states: every state can be restored from its own base, and from no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/err.h"
#include "common/terraform/difference.h"

/* A state with so many resources; the resource `changed` has another id. */
static struct buf state_of(int serial, int resources, int changed)
{
	struct buf state = BUF_INIT(1 << 26);

	buf_printf(&state, "{\n  \"version\": 4,\n  \"serial\": %d,\n  \"resources\": [\n", serial);
	for (int i = 0; i < resources; i++)
		buf_printf(&state, "    {\"type\": \"terraform_data\", \"name\": \"item_%05d\", \"id\": \"%08x\"},\n",
			i, (unsigned)(i + (i == changed)) * 2654435761u);
	buf_text(&state, "    null\n  ]\n}\n");
	return state;
}

static int frame_create(struct bytes base, struct bytes state, struct buf *frame, struct err *err)
{
	struct difference_base *of = base.len ? difference_base_new(base) : NULL;
	int result = difference_make(of, state, frame, err);

	difference_base_free(of);
	return result;
}

static void check_round_trip(struct bytes base, const struct buf *state, size_t max)
{
	_cleanup_(buf_release) struct buf frame = BUF_INIT(1 << 26), back = BUF_INIT(1 << 26);
	struct err err = ERR_INIT;

	assert_int_equal(frame_create(base, buf_bytes(state), &frame, &err), 0);
	if (frame.len > max)
		fail_msg("a frame of %zu bytes", frame.len);
	assert_int_equal(difference_size(buf_bytes(&frame)), (long long)state->len);
	buf_text(&back, "before ");
	assert_int_equal(difference_apply(base, buf_bytes(&frame), &back, &err), 0);
	assert_int_equal(back.len, state->len + strlen("before "));
	assert_memory_equal(back.data, "before ", strlen("before "));
	assert_memory_equal(back.data + strlen("before "), buf_str(state), state->len);
}

static void a_state_is_restored_from_its_difference(void **state)
{
	_cleanup_(buf_release) struct buf base = state_of(1, 5000, -1), same = state_of(1, 5000, -1);
	_cleanup_(buf_release) struct buf one = state_of(2, 5000, 2500);
	_cleanup_(buf_release) struct buf more = state_of(3, 5100, 17), fewer = state_of(4, 100, -1);
	const struct buf nothing = BUF_INIT(1);

	(void)state;
	check_round_trip(buf_bytes(&base), &one, 1500);
	check_round_trip(buf_bytes(&base), &same, 100);
	check_round_trip(buf_bytes(&base), &more, 6000);
	check_round_trip(buf_bytes(&base), &fewer, 2000);
	check_round_trip((struct bytes){.len = 0}, &base, base.len / 2);
	check_round_trip(buf_bytes(&base), &nothing, 100);
	check_round_trip((struct bytes){.len = 0}, &nothing, 100);
}

/* zstd has limits for what it searches of a base, which versions change. */
static void a_large_state_has_a_small_difference(void **state)
{
	_cleanup_(buf_release) struct buf base = state_of(1, 500000, -1), one = state_of(2, 500000, 1000);

	(void)state;
	check_round_trip(buf_bytes(&base), &one, 10000);
}

static void many_differences_have_one_base(void **state)
{
	_cleanup_(buf_release) struct buf first = state_of(1, 3000, -1);
	struct difference_base *base = difference_base_new(buf_bytes(&first));
	struct err err = ERR_INIT;

	(void)state;
	for (int serial = 2; serial < 12; serial++) {
		_cleanup_(buf_release) struct buf next = state_of(serial, 3000 + serial, 200 * serial);
		_cleanup_(buf_release) struct buf frame = BUF_INIT(1 << 26), back = BUF_INIT(1 << 26);

		assert_int_equal(difference_make(base, buf_bytes(&next), &frame, &err), 0);
		assert_true(frame.len < 2000);
		assert_int_equal(difference_apply(buf_bytes(&first), buf_bytes(&frame), &back, &err), 0);
		assert_int_equal(back.len, next.len);
		assert_memory_equal(back.data, next.data, next.len);
	}
	difference_base_free(base);
}

static void check_invalid(struct bytes base, struct bytes frame)
{
	_cleanup_(buf_release) struct buf back = BUF_INIT(1 << 26);
	struct err err = ERR_INIT;

	assert_int_equal(difference_apply(base, frame, &back, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_int_equal(back.len, 0);
}

static void a_difference_needs_its_own_base(void **state)
{
	_cleanup_(buf_release) struct buf base = state_of(1, 500, -1), other = state_of(1, 500, 3);
	_cleanup_(buf_release) struct buf next = state_of(2, 501, -1), shorter = state_of(1, 499, -1);
	_cleanup_(buf_release) struct buf frame = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(frame_create(buf_bytes(&base), buf_bytes(&next), &frame, &err), 0);
	check_invalid(buf_bytes(&other), buf_bytes(&frame));
	check_invalid(buf_bytes(&shorter), buf_bytes(&frame));
	check_invalid(buf_bytes(&next), buf_bytes(&frame));
	check_invalid((struct bytes){.len = 0}, buf_bytes(&frame));
}

static void a_damaged_difference_is_refused(void **state)
{
	_cleanup_(buf_release) struct buf base = state_of(1, 50, -1), next = state_of(2, 53, 7);
	_cleanup_(buf_release) struct buf frame = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(frame_create(buf_bytes(&base), buf_bytes(&next), &frame, &err), 0);
	for (size_t len = 0; len < frame.len; len++)
		check_invalid(buf_bytes(&base), (struct bytes){frame.data, len});
	for (size_t bit = 0; bit < 8 * frame.len; bit++) {
		_cleanup_(buf_release) struct buf back = BUF_INIT(1 << 20);

		frame.data[bit / 8] = (char)(frame.data[bit / 8] ^ (1 << bit % 8));
		/* zstd ignores some bits, so the result must be unchanged. */
		if (difference_apply(buf_bytes(&base), buf_bytes(&frame), &back, &err) == 0) {
			assert_int_equal(back.len, next.len);
			assert_memory_equal(back.data, next.data, next.len);
		}
		frame.data[bit / 8] = (char)(frame.data[bit / 8] ^ (1 << bit % 8));
	}
	check_invalid(buf_bytes(&base), (struct bytes){"no frame at all", 15});
}

static void sizes_have_a_limit(void **state)
{
	_cleanup_(freep) char *large = mem_new(DIFFERENCE_STATE_MAX + 1, 1);
	_cleanup_(buf_release) struct buf frame = BUF_INIT((size_t)2 * DIFFERENCE_STATE_MAX), back = BUF_INIT(100);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(difference_make(NULL, (struct bytes){large, DIFFERENCE_STATE_MAX + 1}, &frame, &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
	assert_int_equal(
		frame_create((struct bytes){large, DIFFERENCE_STATE_MAX}, (struct bytes){large, 200}, &frame, &err), 0);
	/* The size in the frame is trusted only up to the buffer's limit. */
	assert_int_equal(
		difference_apply((struct bytes){large, DIFFERENCE_STATE_MAX}, buf_bytes(&frame), &back, &err), -1);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
	assert_int_equal(difference_size((struct bytes){NULL, 0}), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_is_restored_from_its_difference),
		cmocka_unit_test(a_large_state_has_a_small_difference),
		cmocka_unit_test(many_differences_have_one_base),
		cmocka_unit_test(a_difference_needs_its_own_base),
		cmocka_unit_test(a_damaged_difference_is_refused),
		cmocka_unit_test(sizes_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
