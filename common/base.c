/* SPDX-License-Identifier: MPL-2.0 */
#include "common/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
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
