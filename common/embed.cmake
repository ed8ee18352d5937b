# SPDX-License-Identifier: MPL-2.0
#
# cmake -D OUTPUT=C_FILE -D HEADER=... -D TYPE=... -D TABLE=... -D NAME=STEM|FILENAME -P embed.cmake -- FILE...: writes
# the table of the files' names and texts, and how many they are, that the header declares.

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
	cmake_path(GET file ${NAME} name)
	file(READ "${file}" text)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REPLACE "?" "\\?" text "${text}")
	string(REPLACE "\n" "\\n\"\n\t \"" text "${text}")
	string(APPEND rows "\t{\"${name}\",\n\t \"${text}\"},\n")
	math(EXPR count "${count} + 1")
endforeach()

# The last row is for the compiler alone: an array has at least one element.
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"\n\n"
	"const struct ${TYPE} ${TABLE}[] = {\n${rows}\t{NULL, NULL},\n};\n"
	"const size_t ${TABLE}_count = ${count};\n")
