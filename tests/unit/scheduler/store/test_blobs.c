/* SPDX-License-Identifier: MPL-2.0 */
/* A content is read whole, though it may grow between two reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "common/err.h"
#include "common/memory.h"
#include "scheduler/store/content/blobs.h"

enum { MIB = 1 << 20 };

/* A row whose content has another size at each read. */
struct row {
	const long long *sizes; /* the last one stays */
	size_t count, reads;
};

static int row_read(
	struct store *store, const void *data, long long most, struct buf *out, long long *ret_size, struct err *err)
{
	struct row *row = *(struct row *const *)data;
	size_t at = row->reads < row->count ? row->reads : row->count - 1;

	(void)store;
	(void)err;
	row->reads++;
	*ret_size = row->sizes[at];
	return row->sizes[at] > most ? 0 : buf_printf(out, "%lld bytes", row->sizes[at]);
}

static void check(const long long *sizes, size_t count, const char *expected, size_t reads)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(100);
	struct row row = {sizes, count, 0}, *data = &row;
	struct err err = ERR_INIT;

	assert_int_equal(blob_read_within(NULL, row_read, &data, &out, &err), expected ? 0 : -1);
	assert_string_equal(buf_str(&out), text_or_empty(expected));
	assert_int_equal(row.reads, reads);
	assert_int_equal(err.kind, expected ? ERR_NONE : ERR_UNAVAILABLE);
}

static void a_content_is_read_whole(void **state)
{
	static const long long small[] = {MIB}, large[] = {MIB + 1};
	static const long long growing[] = {2 * MIB, 3 * MIB, 3 * MIB + 1}, shrinking[] = {2 * MIB, 10};

	(void)state;
	check(small, 1, "1048576 bytes", 1);
	check(large, 1, "1048577 bytes", 2);
	check(growing, 3, "3145729 bytes", 4);
	check(shrinking, 2, "10 bytes", 2);
}

static void its_memory_is_returned(void **state)
{
	static const long long fits[] = {3 * MIB, 4 * MIB}, grows_too_large[] = {3 * MIB, 4 * MIB + 1};
	struct err err = ERR_INIT;

	(void)state;
	memory_bound(20 * MIB);
	assert_int_equal(memory_take(4 * MIB, &err), 0);
	check(fits, 2, "4194304 bytes", 3);
	check(grows_too_large, 2, NULL, 2);
	memory_return(4 * MIB);
	assert_int_equal(memory_take(20 * MIB, &err), 0);
	memory_return(20 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_content_is_read_whole),
		cmocka_unit_test(its_memory_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
