# SPDX-License-Identifier: MPL-2.0
#
# cmake -D OUTPUT=migrations.c -P migrations.cmake -- file.sql...: writes the table that migrations.h declares.

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
	cmake_path(GET file STEM LAST_ONLY name)
	file(READ "${file}" sql)
	string(REPLACE "\\" "\\\\" sql "${sql}")
	string(REPLACE "\"" "\\\"" sql "${sql}")
	string(REPLACE "?" "\\?" sql "${sql}")
	string(REPLACE "\n" "\\n\"\n\t \"" sql "${sql}")
	string(APPEND rows "\t{\"${name}\",\n\t \"${sql}\"},\n")
	math(EXPR count "${count} + 1")
endforeach()

# The last row is for the compiler alone: an array has at least one element.
file(WRITE "${OUTPUT}" "#include \"scheduler/store/migrations.h\"\n\n"
	"const struct migration migrations[] = {\n${rows}\t{NULL, NULL},\n};\n"
	"const size_t migrations_count = ${count};\n")
