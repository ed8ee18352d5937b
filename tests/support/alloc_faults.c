/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Simulates lack of memory in libraries. When preloaded, it lets allocations fail whose caller is in one of the
 * libraries in ALLOC_LIBRARIES ("libgnutls libpq": prefixes of file names), and no others. "program" is the program
 * itself, including its allocations for libraries that use its allocators. Mapping memory or a file is an allocation,
 * too.
 *
 * ALLOC_SWITCH names a file of three 64-bit numbers in this machine's byte order. It is mapped once, so that reading
 * the switch costs one load. The numbers are:
 *
 *  - the mode: 0 nothing fails; N > 0 one call in N fails (drawn from ALLOC_SEED and a counter); N < 0 only the -N-th
 *    call fails, counted since the mode was last changed;
 *  - the number of failed calls;
 *  - the number of calls.
 *
 * With ALLOC_TRACE it prints the stack of the first few failing calls to standard error.
 *
 * Programs may also link it (tests/alloc): alloc_use then sets the libraries and the mode.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_RANGES = 64 };

static struct {
	uintptr_t from, to;
} ranges[MAX_RANGES];
static atomic_int range_count;
static _Atomic int64_t *wanted; /* the mode, the number of failed calls, the number of calls */
static _Atomic int64_t wanted_before;
static uint64_t seed;

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_reallocarray)(void *, size_t, size_t);
static char *(*real_strdup)(const char *);
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);

static const char program[] = "program";
static int is_linked; /* not preloaded */

static int is_named(const char *path, const char *at)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *end = name == program ? "" : ".so";

	while (at && *at) {
		size_t len = strcspn(at, " ");

		if (len && strncmp(name, at, len) == 0 && strncmp(name + len, end, strlen(end)) == 0)
			return 1;
		at += len + strspn(at + len, " ");
	}
	return 0;
}

static int range_add(struct dl_phdr_info *info, size_t size, void *data)
{
	int count = atomic_load(&range_count);

	(void)size;
	/* A program that starts the tested program, and has the same environment, is not affected. */
	if (!*info->dlpi_name && !is_linked &&
		strncmp(program_invocation_short_name, "runyard-", strlen("runyard-")) != 0)
		return 0;
	if (!is_named(*info->dlpi_name ? info->dlpi_name : program, data))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && count < MAX_RANGES; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		ranges[count].from = info->dlpi_addr + segment->p_vaddr;
		ranges[count].to = ranges[count].from + segment->p_memsz;
		count++;
	}
	atomic_store(&range_count, count);
	return 0;
}

static _Atomic int64_t *switch_map(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	int kind = path ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
	void *map = path && fd < 0 ? MAP_FAILED : mmap(NULL, 3 * sizeof(int64_t), PROT_READ | PROT_WRITE, kind, fd, 0);

	if (fd >= 0)
		close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void real_find(void)
{
	real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	real_reallocarray = (void *(*)(void *, size_t, size_t))dlsym(RTLD_NEXT, "reallocarray");
	real_strdup = (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");
	real_mmap = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("ALLOC_SEED");

	seed = text ? strtoull(text, NULL, 10) : 1;
	if (!getenv("ALLOC_SWITCH"))
		return;
	dl_iterate_phdr(range_add, getenv("ALLOC_LIBRARIES"));
	wanted = switch_map(getenv("ALLOC_SWITCH"));
	if (range_count)
		unsetenv("LD_PRELOAD"); /* programs that this one starts are not affected */
}

_Atomic int64_t *alloc_use(const char *libraries, int64_t how);

/* Calls of these libraries fail as of `how`, counted from now on. Returns the numbers of ALLOC_SWITCH, shared with
 * children. */
_Atomic int64_t *alloc_use(const char *libraries, int64_t how)
{
	if (!wanted)
		wanted = switch_map(NULL);
	is_linked = 1;
	atomic_store(&range_count, 0);
	dl_iterate_phdr(range_add, (void *)(uintptr_t)libraries);
	for (int i = 1; i < 3; i++)
		atomic_store(&wanted[i], 0);
	atomic_store(&wanted_before, how);
	atomic_store(&wanted[0], how);
	return wanted;
}

/* splitmix64: the n-th number of a seed, without shared state. */
static uint64_t drawn(uint64_t n)
{
	uint64_t z = seed + n * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int is_library(uintptr_t caller)
{
	for (int i = 0, count = atomic_load(&range_count); i < count; i++)
		if (caller >= ranges[i].from && caller < ranges[i].to)
			return 1;
	return 0;
}

static void trace(void)
{
	void *stack[24];

	backtrace_symbols_fd(stack, backtrace(stack, 24), STDERR_FILENO);
}

static int fails(void *caller)
{
	int64_t how = wanted ? atomic_load(&wanted[0]) : 0;
	uint64_t n;

	if (how == 0 && atomic_load(&wanted_before) == 0)
		return 0;
	if (atomic_exchange(&wanted_before, how) != how)
		atomic_store(&wanted[2], 0);
	if (how == 0 || !is_library((uintptr_t)caller))
		return 0;
	n = (uint64_t)atomic_fetch_add(&wanted[2], 1) + 1;
	if (how < 0 ? n != (uint64_t)-how : drawn(n) % (uint64_t)how != 0)
		return 0;
	if (atomic_fetch_add(&wanted[1], 1) < 3 && getenv("ALLOC_TRACE"))
		trace();
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	if (!real_malloc)
		real_find();
	return fails(__builtin_return_address(0)) ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	if (!real_calloc)
		real_find();
	return fails(__builtin_return_address(0)) ? NULL : real_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	if (!real_realloc)
		real_find();
	return size && fails(__builtin_return_address(0)) ? NULL : real_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	if (!real_reallocarray)
		real_find();
	return size && fails(__builtin_return_address(0)) ? NULL : real_reallocarray(old, count, size);
}

char *strdup(const char *text)
{
	if (!real_strdup)
		real_find();
	return fails(__builtin_return_address(0)) ? NULL : real_strdup(text);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (!real_mmap)
		real_find();
	return fails(__builtin_return_address(0)) ? MAP_FAILED
						  : real_mmap(address, size, protection, flags, fd, offset);
}
