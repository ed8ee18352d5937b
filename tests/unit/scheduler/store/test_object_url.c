/* SPDX-License-Identifier: MPL-2.0 */
/* Presigned URLs: fixed vectors that an independent implementation of Signature Version 4 made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/store/content/object_url.h"

enum { NOW = 1795412400 }; /* 2026-11-23T05:40:00Z */

static void url_is(const struct objects_settings *settings, const char *expected)
{
	_cleanup_(freep) char *url = object_put_url(settings, "rescue/01/name", NOW);

	assert_string_equal(url, expected);
}

static void test_a_path_is_encoded_and_the_usual_port_left_out(void **fixture)
{
	(void)fixture;
	url_is(&(struct objects_settings){.url = "https://objects.example.com:443/runyard/pre:fix",
		       .region = "eu-test-1",
		       .access_key = "AKID/x",
		       .secret_key = "se cret"},
		"https://objects.example.com/runyard/pre%3Afix/rescue/01/name?X-Amz-Algorithm=AWS4-HMAC-SHA"
		"256&X-Amz-Credential=AKID%2Fx%2F20261123%2Feu-test-1%2Fs3%2Faws4_request&X-Amz-Date=202611"
		"23T054000Z&X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=36857b7fbdba41d01"
		"46f4df4684766b4add9aba072e8bc660bfa31c9d9f76065");
}

static void test_an_address_with_a_port(void **fixture)
{
	(void)fixture;
	url_is(&(struct objects_settings){.url = "http://[::1]:9000/runyard",
		       .region = "us-east-1",
		       .access_key = "AKID",
		       .secret_key = "secret"},
		"http://[::1]:9000/runyard/rescue/01/name?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential"
		"=AKID%2F20261123%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20261123T054000Z&X-Amz-Expires"
		"=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=96b9ba7a83c73f977ec5fedda7d0e8f7a57eb8bda"
		"a8c9bd0d67d08817eb5b1d3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_path_is_encoded_and_the_usual_port_left_out),
		cmocka_unit_test(test_an_address_with_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
