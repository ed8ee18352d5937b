/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/http/late_curl.h"

#include <dlfcn.h>
#include <stdarg.h>

#include <curl/curl.h>

#include "common/base.h"
#include "common/err.h"

_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *), "see late_curl.def");

static const char library_name[] = "libcurl.so.4";

static const char *const names[] = {
#define FUNCTION(result, name, parameters, arguments) #name,
#define VARIADIC(name, option)                        #name,
#include "policy/http/late_curl.def"
#undef FUNCTION
#undef VARIADIC
};

enum {
#define FUNCTION(result, name, parameters, arguments) AT_##name,
#define VARIADIC(name, option)                        AT_##name,
#include "policy/http/late_curl.def"
#undef FUNCTION
#undef VARIADIC
};

static void *functions[ARRAY_LEN(names)];

/* Each function has libcurl's symbol, and a name that the declarations of its header do not meet: they differ between
 * versions, and some of the names are macros. */
#define FUNCTION(result, name, parameters, arguments)                                                                  \
	result late_##name parameters __asm__(#name);                                                                  \
	result late_##name parameters                                                                                  \
	{                                                                                                              \
		return ((result(*) parameters)functions[AT_##name])arguments;                                          \
	}
#define VARIADIC(name, option_type)                                                                                    \
	CURLcode late_##name(CURL *easy, option_type option, ...) __asm__(#name);                                      \
	CURLcode late_##name(CURL *easy, option_type option, ...)                                                      \
	{                                                                                                              \
		va_list list;                                                                                          \
		void *argument;                                                                                        \
                                                                                                                       \
		va_start(list, option);                                                                                \
		argument = va_arg(list, void *);                                                                       \
		va_end(list);                                                                                          \
		return ((CURLcode(*)(CURL *, option_type, ...))functions[AT_##name])(easy, option, argument);          \
	}
#include "policy/http/late_curl.def"
#undef FUNCTION
#undef VARIADIC

int late_curl_load(struct err *err)
{
	void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < ARRAY_LEN(names); i++) {
		functions[i] = dlsym(library, names[i]);
		if (!functions[i])
			library = NULL;
	}
	return library ? 0 : err_set(err, ERR_UNAVAILABLE, "%s", dlerror());
}
