/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Memory that runs out inside of libraries. Preloaded, it lets allocations fail whose caller is code of one of the
 * libraries in SHORT_LIBRARIES ("libcurl libpq": the beginnings of file names), and no others: what the program itself
 * allocates is there.
 *
 * SHORT_SWITCH names a file of two 64-bit numbers of this machine, which is mapped once, so that asking costs a load.
 * The first says how: 0 nothing fails, N > 0 one call in N (drawn from SHORT_SEED and a counter), N < 0 the -N-th call
 * alone, counted since the number was last changed. The second counts what failed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_RANGES = 64 };

static struct {
	uintptr_t from, to;
} ranges[MOST_RANGES];
static atomic_int range_count;
static _Atomic int64_t *wanted; /* how, and how many failed */
static _Atomic int64_t wanted_before;
static _Atomic uint64_t calls;
static uint64_t seed;

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static char *(*real_strdup)(const char *);

static int is_named(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *at = getenv("SHORT_LIBRARIES");

	while (at && *at) {
		size_t len = strcspn(at, " ");

		if (len && strncmp(name, at, len) == 0 && strncmp(name + len, ".so", 3) == 0)
			return 1;
		at += len + strspn(at + len, " ");
	}
	return 0;
}

static int range_add(struct dl_phdr_info *info, size_t size, void *data)
{
	int count = atomic_load(&range_count);

	(void)size, (void)data;
	if (!is_named(info->dlpi_name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && count < MOST_RANGES; i++) {
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
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void real_find(void)
{
	real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	real_strdup = (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("SHORT_SEED");

	seed = text ? strtoull(text, NULL, 10) : 1;
	dl_iterate_phdr(range_add, NULL);
	wanted = switch_map(getenv("SHORT_SWITCH"));
	if (range_count)
		unsetenv("LD_PRELOAD"); /* the programs that this one starts are none of ours */
}

/* splitmix64: the n-th number of a seed without a state to share. */
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

static int fails(void *caller)
{
	int64_t how = wanted ? atomic_load(&wanted[0]) : 0;
	uint64_t n;

	if (how == 0 && atomic_load(&wanted_before) == 0)
		return 0;
	if (atomic_exchange(&wanted_before, how) != how)
		atomic_store(&calls, 0);
	if (how == 0 || !is_library((uintptr_t)caller))
		return 0;
	n = atomic_fetch_add(&calls, 1) + 1;
	if (how < 0 ? n != (uint64_t)-how : drawn(n) % (uint64_t)how != 0)
		return 0;
	atomic_fetch_add(&wanted[1], 1);
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

char *strdup(const char *text)
{
	if (!real_strdup)
		real_find();
	return fails(__builtin_return_address(0)) ? NULL : real_strdup(text);
}
