/* SPDX-License-Identifier: MPL-2.0 */
/* Requests to addresses that users choose, with real sockets, in a network namespace whose loopback device has a
 * public address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <curl/curl.h>

#include "common/err.h"
#include "common/http/answer.h"
#include "common/http/guard.h"
#include "scheduler/api/tasks/test_request.h"

#define PUBLIC "9.9.9.9"

static struct ifreq device(const char *name, const char *address)
{
	struct ifreq request = {.ifr_flags = 0};
	struct sockaddr_in in = {.sin_family = AF_INET};

	text_copy(request.ifr_name, sizeof(request.ifr_name), name);
	if (address) {
		inet_pton(AF_INET, address, &in.sin_addr);
		memcpy(&request.ifr_addr, &in, sizeof(in));
	} else {
		request.ifr_flags = IFF_UP;
	}
	return request;
}

/* Skips the tests if the machine does not allow namespaces. */
static int namespace_enter(void **state)
{
	_cleanup_(closep) int fd = -1;
	struct ifreq up = device("lo", NULL), public = device("lo:1", PUBLIC);

	(void)state;
	if (unshare(CLONE_NEWNET) < 0)
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return ioctl(fd, SIOCSIFFLAGS, &up) < 0 || ioctl(fd, SIOCSIFADDR, &public) < 0;
}

static int listener_open(int *ret_port)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	socklen_t size = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &size), 0);
	*ret_port = ntohs(in.sin_port);
	return fd;
}

/* Starts a process that answers each connection with `text`. */
static pid_t server_start(int listener, const char *text)
{
	pid_t parent = getpid(), child = fork();
	char request[4096];

	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (child == 0 && getppid() != parent)
		_exit(1);

	while (child == 0) {
		int fd = accept(listener, NULL, NULL);

		if (read(fd, request, sizeof(request)) > 0 && write(fd, text, strlen(text)) < 0)
			_exit(1);
		close(fd);
	}
	return child;
}

struct service {
	int port;
	pid_t child;
};

static struct service service_start(const char *text)
{
	_cleanup_(closep) int listener = -1;
	struct service service;

	listener = listener_open(&service.port);
	service.child = server_start(listener, text);
	return service;
}

static void service_stop(struct service *service)
{
	kill(service->child, SIGKILL);
	waitpid(service->child, NULL, 0);
}

static void send_to(const char *allow, const char *host, int port, struct test_request_answer *ret_answer)
{
	_cleanup_(freep) char *url = mem_printf("http://%s:%d/", host, port);
	_cleanup_(freep) char *list = mem_printf(allow, port);
	struct guard *guard = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(guard_parse(list, &guard, &err), 0);
	test_request_send(guard,
		&(struct test_request){
			.url = url, .body = "{}", .signature = "X-S", .signature_value = "", .user_agent = "t"},
		ret_answer);
	guard_free(guard);
}

/* Skips the test if there is no namespace. */
static void namespace_need(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	_cleanup_(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, PUBLIC, &in.sin_addr);
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)) < 0)
		skip();
}

#define ANSWER "HTTP/1.1 404 Not Found\r\nX-Hook: yes\r\nContent-Length: 4\r\n\r\nno!\n"

static void the_answer_of_a_public_address_is_shown(void **state)
{
	_cleanup_(service_stop) struct service service = {.child = 0};
	_cleanup_(test_request_answer_release) struct test_request_answer answer;

	(void)state;
	namespace_need();
	service = service_start(ANSWER);
	send_to("", PUBLIC, service.port, &answer);
	assert_int_equal(answer.status, 404);
	assert_string_equal(buf_str(&answer.body), "no!\n");
	assert_non_null(json_object_get(answer.headers, "x-hook"));
}

static void only_the_status_of_an_address_on_the_allow_list_is_shown(void **state)
{
	static const struct {
		const char *allow, *host;
	} cases[] = {{"127.0.0.1", "127.0.0.1"}, {"127.0.0.0/8:%d", "127.0.0.7"}, {PUBLIC, PUBLIC},
		{PUBLIC ":%d", PUBLIC}, {"[::ffff:127.0.0.1]:%d", "127.0.0.1"}};
	_cleanup_(service_stop) struct service service = {.child = 0};

	(void)state;
	namespace_need();
	service = service_start(ANSWER);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(test_request_answer_release) struct test_request_answer answer;

		send_to(cases[i].allow, cases[i].host, service.port, &answer);
		assert_int_equal(answer.status, 404);
		assert_string_equal(buf_str(&answer.body), "");
		assert_int_equal(json_object_size(answer.headers), 0);
	}
}

static void ports_outside_of_the_allow_list_are_refused(void **state)
{
	_cleanup_(service_stop) struct service service = {.child = 0};

	(void)state;
	namespace_need();
	service = service_start(ANSWER);
	for (int i = 0; i < 2; i++) {
		_cleanup_(test_request_answer_release) struct test_request_answer answer;

		send_to(i ? "127.0.0.1:1" : "[::1]:%d", "127.0.0.1", service.port, &answer);
		assert_int_equal(answer.status, 0);
		assert_non_null(strstr(answer.why, "loopback"));
	}
}

/* The name resolves to a public address when the URL is checked, and to another one when the request is sent. */
static void a_name_that_changes_its_address_is_refused(void **state)
{
	struct guarded guarded = {.guard = NULL};
	struct guard *guard = NULL;
	struct err err = ERR_INIT;
	_cleanup_(service_stop) struct service service = {.child = 0};

	(void)state;
	namespace_need();
	service = service_start("HTTP/1.1 204 No Content\r\n\r\n");
	_cleanup_(freep) char *url = mem_printf("http://rebind.example.com:%d/", service.port);
	assert_int_equal(guard_parse("127.0.0.1:1", &guard, &err), 0);
	for (int i = 0; i < 3; i++) {
		static const char *const addresses[] = {PUBLIC, "127.0.0.1", "169.254.169.254"};
		_cleanup_(freep) char *entry = mem_printf("rebind.example.com:%d:%s", service.port, addresses[i]);
		struct curl_slist *resolve = curl_slist_append(NULL, entry);
		CURL *easy = curl_easy_init();

		guarded = (struct guarded){.guard = guard};
		assert_int_equal(guard_curl(easy, url, &guarded, &err), 0);
		curl_easy_setopt(easy, CURLOPT_URL, url);
		curl_easy_setopt(easy, CURLOPT_RESOLVE, resolve);
		assert_int_equal(curl_easy_perform(easy), i == 0 ? CURLE_OK : CURLE_COULDNT_CONNECT);
		assert_int_equal(guarded.why[0] == '\0', i == 0);
		curl_easy_cleanup(easy);
		curl_slist_free_all(resolve);
	}
	guard_free(guard);
}

static void a_redirect_is_not_followed(void **state)
{
	_cleanup_(test_request_answer_release) struct test_request_answer answer;
	_cleanup_(service_stop) struct service private_service = {.child = 0}, service = {.child = 0};

	(void)state;
	namespace_need();
	private_service = service_start("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ninside");
	_cleanup_(freep) char *redirect =
		mem_printf("HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:%d/\r\nContent-Length: 0\r\n\r\n",
			private_service.port);
	service = service_start(redirect);
	send_to("127.0.0.1", PUBLIC, service.port, &answer);
	assert_int_equal(answer.status, 307);
	assert_string_equal(buf_str(&answer.body), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_of_a_public_address_is_shown),
		cmocka_unit_test(only_the_status_of_an_address_on_the_allow_list_is_shown),
		cmocka_unit_test(ports_outside_of_the_allow_list_are_refused),
		cmocka_unit_test(a_name_that_changes_its_address_is_refused),
		cmocka_unit_test(a_redirect_is_not_followed),
	};

	return cmocka_run_group_tests(tests, namespace_enter, NULL);
}
