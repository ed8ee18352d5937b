// SPDX-License-Identifier: MPL-2.0
#include "worker/policy/sentinel/core/regex_engine.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <new>
#include <string>

#include <re2/re2.h>

extern "C" {
#include "worker/policy/sentinel/core/utf8.h"
}

/* ---- memory ---- */

namespace
{

/* What is allocated by operators while it lives, which is added to *bytes. More than `max` there is no memory. */
class Counting
{
      public:
	Counting(size_t *bytes_, size_t max_) : bytes(bytes_), max(max_)
	{
		current = this;
	}

	~Counting()
	{
		current = nullptr;
	}

	Counting(const Counting &) = delete;
	Counting &operator=(const Counting &) = delete;

	static bool add(size_t size)
	{
		if (current == nullptr)
			return true;
		if (*current->bytes > current->max || size > current->max - *current->bytes)
			return false;
		*current->bytes += size;
		return true;
	}

	static void subtract(size_t size)
	{
		if (current != nullptr)
			*current->bytes -= size;
	}

      private:
	static thread_local Counting *current;
	size_t *bytes, max;
};

thread_local Counting *Counting::current;

void *allocate(size_t size) noexcept
{
	void *memory = malloc(size > 0 ? size : 1);
	if (memory == nullptr || Counting::add(malloc_usable_size(memory)))
		return memory;
	free(memory);
	return nullptr;
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
	if (memory != nullptr)
		Counting::subtract(malloc_usable_size(memory));
	free(memory);
}

} // namespace

/* RE2 has no other way to know or limit its memory. All forms are replaced, because a sanitizer brings its own. */
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

/* RE2 limits the memory of a program, but not of the tree that it parses a pattern to. Both may have so many times the
 * program's. */
enum { PARSING = 4 };

struct regex_program {
      public:
	regex_program(const std::string &pattern, const RE2::Options &options) : re2(pattern, options)
	{
	}

	/* NULL if it is a pattern. */
	const char *error() const
	{
		return re2.ok() ? nullptr : re2.error().c_str();
	}

	bool matches(const char *text, size_t len) const
	{
		return re2.Match(re2::StringPiece(text, len), 0, len, RE2::UNANCHORED, nullptr, 0);
	}

	size_t size() const
	{
		return static_cast<size_t>(re2.ProgramSize());
	}

	size_t memory = 0; /* see regex_program_memory */

      private:
	RE2 re2;
};

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

/* The text with U+FFFD in place of each byte that is no UTF-8. */
std::string replaced(const char *bytes, size_t len)
{
	std::string copy;
	copy.reserve(len + 16);
	while (len > 0) {
		const size_t valid = valid_prefix(bytes, len);
		copy.append(bytes, valid);
		bytes += valid;
		len -= valid;
		if (len > 0) {
			copy.append("\xef\xbf\xbd");
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

regex_program *compile(const std::string &pattern, size_t max_memory, char *ret_error)
{
	RE2::Options options;
	std::string rewritten;

	options.set_log_errors(false);
	options.set_max_mem(static_cast<int64_t>(max_memory));
	if (!Rewriter(pattern).rewrite(&rewritten)) {
		say(ret_error, "\\C is not supported");
		return nullptr;
	}
	auto program = std::make_unique<regex_program>(rewritten, options);
	if (program->error() != nullptr) {
		say(ret_error, program->error());
		return nullptr;
	}
	return program.release();
}

} // namespace

regex_program *regex_program_new(const char *pattern, size_t len, size_t max_memory, char ret_error[REGEX_ERROR_SIZE])
try {
	size_t memory = 0;
	regex_program *program;
	{
		const Counting counting(&memory, PARSING * max_memory);
		program = compile(std::string(pattern, len), max_memory, ret_error);
	}
	if (program != nullptr)
		program->memory = memory;
	return program;
} catch (...) {
	say(ret_error, "no memory for the pattern");
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
	return program->memory;
}

int regex_program_match(
	regex_program *program, const char *text, size_t len, size_t max_memory, char ret_error[REGEX_ERROR_SIZE])
try {
	const Counting counting(&program->memory, max_memory);
	if (valid_prefix(text, len) == len)
		return program->matches(text, len);
	const std::string copy = replaced(text, len);
	return program->matches(copy.data(), copy.size());
} catch (...) {
	say(ret_error, "no memory for the match");
	return -1;
}
