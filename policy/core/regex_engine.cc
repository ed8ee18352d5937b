// SPDX-License-Identifier: MPL-2.0
#include "policy/core/regex_engine.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <re2/re2.h>

extern "C" {
#include "common/text.h"
}

/* RE2 limits the memory of a program, but not of the tree that it parses a pattern to. Only properties of characters
 * make it large: one takes up to 26 KiB. */
enum { MAX_PROPERTIES = 1000 };

namespace
{

void say(char *ret_error, const char *text)
{
	snprintf(ret_error, REGEX_ERROR_SIZE, "%s", text);
}

/* The number of \p and \P. Some that are escaped are counted, too. */
size_t property_count(const char *pattern, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i + 1 < len; i++)
		count += pattern[i] == '\\' && (pattern[i + 1] == 'p' || pattern[i + 1] == 'P');
	return count;
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
	regex_program(const std::string &pattern, const RE2::Options &options) : re2(pattern, options)
	{
	}

	/* "" for a pattern that is right. */
	const std::string &error() const
	{
		return re2.error();
	}

	size_t size() const
	{
		return static_cast<size_t>(re2.ProgramSize());
	}

	bool matches(const char *text, size_t len) const
	{
		return re2.Match(re2::StringPiece(text, len), 0, len, RE2::UNANCHORED, nullptr, 0);
	}

      private:
	const RE2 re2;
};

/* NULL with a message if it is no pattern. */
static regex_program *compile(const char *pattern, size_t len, size_t max_memory, char *ret_error)
{
	RE2::Options options;
	std::string rewritten;

	options.set_log_errors(false);
	options.set_max_mem(static_cast<int64_t>(max_memory));
	/* RE2 itself accepts surrogates, which no text has. */
	if (valid_prefix(pattern, len) != len) {
		say(ret_error, "it is not UTF-8");
		return nullptr;
	}
	if (property_count(pattern, len) > MAX_PROPERTIES) {
		say(ret_error, "it has more than 1,000 properties (\\p)");
		return nullptr;
	}
	if (!Rewriter(std::string(pattern, len)).rewrite(&rewritten)) {
		say(ret_error, "\\C is not supported");
		return nullptr;
	}
	auto program = std::make_unique<regex_program>(rewritten, options);
	if (!program->error().empty()) {
		say(ret_error, program->error().c_str());
		return nullptr;
	}
	return program.release();
}

regex_program *regex_program_new(const char *pattern, size_t len, size_t max_memory, char ret_error[REGEX_ERROR_SIZE])
try {
	return compile(pattern, len, max_memory, ret_error);
} catch (...) {
	say(ret_error, "there is no memory for it");
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

regex_result regex_program_match(const regex_program *program, const char *text, size_t len)
try {
	bool matched;

	if (valid_prefix(text, len) == len) {
		matched = program->matches(text, len);
	} else {
		const std::string copy = replaced(text, len);
		matched = program->matches(copy.data(), copy.size());
	}
	return matched ? REGEX_MATCH : REGEX_NO_MATCH;
} catch (...) {
	return REGEX_NO_MEMORY;
}
