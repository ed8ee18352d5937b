/* SPDX-License-Identifier: MPL-2.0 */
#include "common/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"

void mem_out(void)
{
	log_error("out of memory", NULL);
	abort();
}

void *mem_check(void *memory)
{
	if (!memory)
		mem_out();
	return memory;
}

void freep(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}

void closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void *mem_new(size_t count, size_t size)
{
	return mem_check(calloc(count ? count : 1, size));
}

void *mem_resize(void *old, size_t count, size_t size)
{
	return mem_check(reallocarray(old, count ? count : 1, size));
}

char *mem_text(const char *text)
{
	return text ? mem_check(strdup(text)) : NULL;
}

char *mem_printf(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return mem_check(text);
}

bool text_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

bool text_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

void text_copy(char *field, size_t size, const char *text)
{
	size_t len = strlen(text_or_empty(text));

	if (len >= size) {
		len = size - 1;
		/* Does not split a UTF-8 character. */
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(field, text_or_empty(text), len);
	field[len] = '\0';
}

void text_label(char *field, size_t size, const char *name)
{
	text_copy(field, size, name);
	for (char *at = field; *at; at++)
		if (*at == '-')
			*at = ' ';
	field[0] = (char)toupper((unsigned char)field[0]);
}

int text_number(const char *text, long long low, long long high, long long *ret_value)
{
	char *end = NULL;
	long long value;

	if (!text || !*text)
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end || value < low || value > high)
		return -1;
	*ret_value = value;
	return 0;
}

int descriptors_raise(
	unsigned long long least, unsigned long long wanted, unsigned long long *ret_limit, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_errno(err, "RLIMIT_NOFILE");
	if (limit.rlim_cur < wanted) {
		limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < least)
		return err_set(err, ERR_INVALID,
			"too few descriptors: this process may open %llu and needs %llu; raise the limit "
			"(ulimit -n, LimitNOFILE= of systemd, --ulimit nofile of a container)",
			(unsigned long long)limit.rlim_cur, least);
	*ret_limit = limit.rlim_cur;
	return 0;
}

void process_protect(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
}
