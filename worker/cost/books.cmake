# SPDX-License-Identifier: MPL-2.0
#
# cmake -D OUTPUT=price_books.c -P books.cmake -- file.json...: writes the table that worker/cost/book.h declares.

set(rows "")
set(count 0)
set(own_arguments TRUE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
	set(file "${CMAKE_ARGV${i}}")
	if(own_arguments)
		if(file STREQUAL "--")
			set(own_arguments FALSE)
		endif()
		continue()
	endif()
	cmake_path(GET file FILENAME name)
	file(READ "${file}" text)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REPLACE "?" "\\?" text "${text}")
	string(REPLACE "\n" "\\n\"\n\t \"" text "${text}")
	string(APPEND rows "\t{\"${name}\",\n\t \"${text}\"},\n")
	math(EXPR count "${count} + 1")
endforeach()

# The last row is for the compiler alone: an array has at least one element.
file(WRITE "${OUTPUT}" "#include \"worker/cost/book.h\"\n\n"
	"const struct embedded_book embedded_books[] = {\n${rows}\t{NULL, NULL},\n};\n"
	"const size_t embedded_books_count = ${count};\n")
