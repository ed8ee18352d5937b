// SPDX-License-Identifier: MPL-2.0
#include "worker/policy/sentinel/core/regex_engine.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include <re2/re2.h>

extern "C" {
#include "common/text.h"
}

/* ---- memory ---- */

namespace
{

class Account;

/* What stands before the bytes of an allocation. Those of an account are a ring. */
struct alignas(std::max_align_t) Block {
	Block *previous, *next;
	Account *account; /* NULL: of none */
	size_t size;
};

/* The allocations of a pattern's program, and their bytes: RE2 loses some when an exception ends it. */
class Account
{
      public:
	explicit Account(size_t max_) : max(max_)
	{
	}

	~Account()
	{
		while (ring.next != &ring) {
			Block *block = ring.next;
			remove(block);
			free(block);
		}
	}

	Account(const Account &) = delete;
	Account &operator=(const Account &) = delete;

	size_t bytes() const
	{
		return used;
	}

	bool has_room(size_t size) const
	{
		return used <= max && size <= max - used;
	}

	void limit(size_t max_)
	{
		max = max_;
	}

	void add(Block *block)
	{
		*block = {ring.previous, &ring, this, block->size};
		ring.previous->next = block;
		ring.previous = block;
		used += block->size;
	}

	void remove(Block *block)
	{
		block->previous->next = block->next;
		block->next->previous = block->previous;
		used -= block->size;
	}

      private:
	Block ring = {&ring, &ring, this, 0};
	size_t used = 0, max;
};

/* Where this thread's allocations belong; NULL for nowhere. */
thread_local Account *current;

/* While it lives, allocations belong to an account. */
class Counting
{
      public:
	explicit Counting(Account *account)
	{
		current = account;
	}

	~Counting()
	{
		current = nullptr;
	}

	Counting(const Counting &) = delete;
	Counting &operator=(const Counting &) = delete;
};

void *allocate(size_t size) noexcept
{
	if (size > PTRDIFF_MAX || (current != nullptr && !current->has_room(size)))
		return nullptr;
	auto *block = static_cast<Block *>(malloc(sizeof(Block) + size));
	if (block == nullptr)
		return nullptr;
	*block = {nullptr, nullptr, nullptr, size};
	if (current != nullptr)
		current->add(block);
	return block + 1;
}

void *allocate_or_throw(size_t size)
{
	void *memory = allocate(size);
	if (memory == nullptr)
		throw std::bad_alloc();
	return memory;
}

void release(void *memory) noexcept
{
	if (memory == nullptr)
		return;
	Block *block = static_cast<Block *>(memory) - 1;
	if (block->account != nullptr)
		block->account->remove(block);
	free(block);
}

} // namespace

/* All forms are replaced, because a sanitizer brings its own. */
void *operator new(size_t size)
{
	return allocate_or_throw(size);
}

void *operator new[](size_t size)
{
	return allocate_or_throw(size);
}

void *operator new(size_t size, const std::nothrow_t &) noexcept
{
	return allocate(size);
}

void *operator new[](size_t size, const std::nothrow_t &) noexcept
{
	return allocate(size);
}

void operator delete(void *memory) noexcept
{
	release(memory);
}

void operator delete[](void *memory) noexcept
{
	release(memory);
}

void operator delete(void *memory, size_t) noexcept
{
	release(memory);
}

void operator delete[](void *memory, size_t) noexcept
{
	release(memory);
}

void operator delete(void *memory, const std::nothrow_t &) noexcept
{
	release(memory);
}

void operator delete[](void *memory, const std::nothrow_t &) noexcept
{
	release(memory);
}

/* ---- programs ---- */

/* RE2 limits the memory of a program, but not what it needs to make it: up to eleven times as much was measured, and
 * the tree of a pattern has no limit. All may have so many times the program's. */
enum { COMPILING = 16 };

namespace
{

void say(char *ret_error, const char *text)
{
	snprintf(ret_error, REGEX_ERROR_SIZE, "%s", text);
}

/* The length of the beginning that is UTF-8. */
size_t valid_prefix(const char *bytes, size_t len)
{
	size_t at = 0;
	while (at < len) {
		uint64_t block;
		if (len - at >= sizeof(block)) {
			memcpy(&block, bytes + at, sizeof(block));
			if ((block & UINT64_C(0x8080808080808080)) == 0) {
				at += sizeof(block);
				continue;
			}
		}
		uint32_t code;
		const size_t size = utf8_decode(bytes + at, len - at, &code);
		if (size == 0)
			break;
		at += size;
	}
	return at;
}

constexpr char replacement[] = "\xef\xbf\xbd";
constexpr size_t REPLACEMENT_LEN = sizeof(replacement) - 1;

/* The text with U+FFFD in place of each byte that is no UTF-8. */
std::string replaced(const char *bytes, size_t len)
{
	std::string copy;
	copy.reserve(REPLACEMENT_LEN * len);
	while (len > 0) {
		const size_t valid = valid_prefix(bytes, len);
		copy.append(bytes, valid);
		bytes += valid;
		len -= valid;
		if (len > 0) {
			copy.append(replacement, REPLACEMENT_LEN);
			bytes++;
			len--;
		}
	}
	return copy;
}

/* Reads a pattern as far as to tell a group's begin from the same bytes in a class, a quotation or an escape. */
class Rewriter
{
      public:
	explicit Rewriter(const std::string &pattern) : in(pattern)
	{
	}

	/* False if the pattern has \C. */
	bool rewrite(std::string *ret_pattern)
	{
		while (at < in.size()) {
			if (in[at] == '\\') {
				if (!escape())
					return false;
			} else if (in[at] == '[') {
				copy_class();
			} else {
				if (begins("(?<") && !begins("(?<=") && !begins("(?<!")) {
					out += "(?P";
					at += 2;
				}
				copy(1);
			}
		}
		*ret_pattern = std::move(out);
		return true;
	}

      private:
	bool begins(const char *text) const
	{
		return in.compare(at, strlen(text), text) == 0;
	}

	void copy(size_t count)
	{
		count = count < in.size() - at ? count : in.size() - at;
		out.append(in, at, count);
		at += count;
	}

	bool escape()
	{
		if (begins("\\C"))
			return false;
		if (!begins("\\Q")) {
			copy(2);
			return true;
		}
		const size_t end = in.find("\\E", at);
		copy(end == std::string::npos ? in.size() - at : end + 2 - at);
		return true;
	}

	/* [^]…]: a bracket right after the begin is of the class. [:alpha:] is a name in it. */
	void copy_class()
	{
		copy(1);
		if (begins("^"))
			copy(1);
		if (begins("]"))
			copy(1);
		while (at < in.size() && in[at] != ']') {
			const size_t end = begins("[:") ? in.find(":]", at) : std::string::npos;
			if (end != std::string::npos)
				copy(end + 2 - at);
			else
				copy(in[at] == '\\' ? 2 : 1);
		}
		copy(1);
	}

	const std::string &in;
	size_t at = 0;
	std::string out;
};

} // namespace

struct regex_program {
      public:
	explicit regex_program(size_t max_memory_) : max_memory(max_memory_), account(COMPILING * max_memory_)
	{
	}

	/* False with a message if it is no pattern. */
	bool compile(const char *pattern, size_t len, char *ret_error)
	{
		const Counting counting(&account);
		RE2::Options options;
		std::string rewritten;

		options.set_log_errors(false);
		options.set_max_mem(static_cast<int64_t>(max_memory));
		if (!Rewriter(std::string(pattern, len)).rewrite(&rewritten)) {
			say(ret_error, "\\C is not supported");
			return false;
		}
		re2 = std::make_unique<RE2>(rewritten, options);
		if (!re2->ok())
			say(ret_error, re2->error().c_str());
		account.limit(SIZE_MAX); /* in matches RE2 keeps to max_memory */
		return re2->ok();
	}

	regex_result match(const char *text, size_t len, size_t max_copy)
	{
		const Counting counting(&account);
		if (valid_prefix(text, len) == len)
			return matches(text, len);
		if (len > max_copy / REPLACEMENT_LEN)
			return REGEX_LIMIT;
		const std::string copy = replaced(text, len);
		return matches(copy.data(), copy.size());
	}

	size_t size() const
	{
		return static_cast<size_t>(re2->ProgramSize());
	}

	size_t memory() const
	{
		return account.bytes();
	}

      private:
	regex_result matches(const char *text, size_t len) const
	{
		return re2->Match(re2::StringPiece(text, len), 0, len, RE2::UNANCHORED, nullptr, 0) ? REGEX_MATCH
												    : REGEX_NO_MATCH;
	}

	size_t max_memory;
	Account account;
	std::unique_ptr<RE2> re2; /* of the account, so it ends first */
};

regex_program *regex_program_new(const char *pattern, size_t len, size_t max_memory, char ret_error[REGEX_ERROR_SIZE])
try {
	static const RE2 first(""); /* makes what RE2 keeps for all patterns, outside of any account */
	auto program = std::make_unique<regex_program>(max_memory);

	return program->compile(pattern, len, ret_error) ? program.release() : nullptr;
} catch (...) {
	say(ret_error, "it needs too much memory");
	return nullptr;
}

void regex_program_free(regex_program *program)
{
	delete program;
}

size_t regex_program_size(const regex_program *program)
{
	return program->size();
}

size_t regex_program_memory(const regex_program *program)
{
	return program->memory();
}

regex_result regex_program_match(regex_program *program, const char *text, size_t len, size_t max_copy)
try {
	return program->match(text, len, max_copy);
} catch (...) {
	return REGEX_NO_MEMORY;
}
