/* SPDX-License-Identifier: MPL-2.0 */
/*
 * log_reader PORT POLL_MS LIMIT < paths: reads each log as the terraform CLI does, with a thread and a connection of
 * its own: GET path?limit=LIMIT&offset=N, again at once after a full answer, otherwise after POLL_MS, until the log
 * ends. For each of the writer's lines (log_writer.c) it takes the time since the line was written, and checks that its
 * number follows the one before. At the end it prints as JSON: lines, bytes, complete logs, the delay in ms (p50,
 * p99, max), and its own seconds of CPU.
 */

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DELAY = 60000, MAX_READERS = 1000, MAX_ANSWER = 2 << 20 };

struct reader {
	pthread_t thread;
	char path[512];
	int fd;
	long long offset, lines;
	long delays[MAX_DELAY + 1];
	char *text; /* the incomplete last line, followed by the next answer */
	size_t held;
	int ended, gap;
};

static int port, poll_ms;
static long limit;

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int dial(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		exit(1);
	return fd;
}

/* Appends the answer's body to the text. Returns its length. */
static size_t ask(struct reader *reader, char *answer)
{
	int len = snprintf(answer, MAX_ANSWER, "GET %s?limit=%ld&offset=%lld HTTP/1.1\r\nHost: x\r\n\r\n", reader->path,
		limit, reader->offset);
	size_t got = 0, head = 0, body = 0;

	if (write(reader->fd, answer, (size_t)len) != len)
		exit(1);
	while (!head || got < head + body) {
		ssize_t part = read(reader->fd, answer + got, MAX_ANSWER - 1 - got);

		if (part <= 0)
			exit(1);
		got += (size_t)part;
		answer[got] = '\0';
		if (!head && strstr(answer, "\r\n\r\n")) {
			head = (size_t)(strstr(answer, "\r\n\r\n") + 4 - answer);
			if (strncmp(answer, "HTTP/1.1 200", 12) != 0)
				exit(1);
			body = (size_t)strtol(strcasestr(answer, "content-length:") + 15, NULL, 10);
		}
	}
	memcpy(reader->text + reader->held, answer + head, body);
	reader->text[reader->held + body] = '\0';
	return body;
}

static void read_line(struct reader *reader, const char *line, long long now)
{
	const char *us = strstr(line, "\"us\":"), *number = us ? strstr(us, "\"n\":") : NULL;
	long long delay;

	if (!number)
		return;
	delay = (now - strtoll(us + 5, NULL, 10)) / 1000;
	reader->delays[delay < MAX_DELAY ? delay : MAX_DELAY]++;
	reader->gap |= strtoll(number + 4, NULL, 10) != reader->lines++;
}

static void read_lines(struct reader *reader, size_t len)
{
	long long now = now_us();
	char *at = reader->text, *end;

	reader->held += len;
	reader->ended = len && reader->text[reader->held - 1] == '\x03';
	for (; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		read_line(reader, at, now);
	}
	reader->held -= (size_t)(at - reader->text);
	memmove(reader->text, at, reader->held + 1);
}

static void *follow(void *data)
{
	struct reader *reader = data;
	const struct timespec pause = {.tv_sec = poll_ms / 1000, .tv_nsec = poll_ms % 1000 * 1000000L};
	char *answer = malloc(MAX_ANSWER);
	size_t len;

	reader->text = malloc(2 * MAX_ANSWER);
	reader->fd = dial();
	while (!reader->ended) {
		len = ask(reader, answer);
		reader->offset += (long long)len;
		read_lines(reader, len);
		if (!reader->ended && (long)len < limit)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static long percentile(struct reader *const *readers, int count, long long rank)
{
	long long seen = 0;

	for (long ms = 0; ms < MAX_DELAY; ms++) {
		for (int i = 0; i < count; i++)
			seen += readers[i]->delays[ms];
		if (seen >= rank)
			return ms;
	}
	return MAX_DELAY;
}

static void report(struct reader *const *readers, int count)
{
	long long lines = 0, bytes = 0;
	int whole = 0;

	for (int i = 0; i < count; i++) {
		lines += readers[i]->lines;
		bytes += readers[i]->offset;
		whole += !readers[i]->gap;
	}
	printf("{\"lines\": %lld, \"bytes\": %lld, \"whole\": %d, \"p50\": %ld, \"p99\": %ld, "
	       "\"max\": %ld, \"cpu\": %.2f}\n",
		lines, bytes, whole, percentile(readers, count, (lines + 1) / 2),
		percentile(readers, count, lines - lines / 100), percentile(readers, count, lines),
		(double)clock() / CLOCKS_PER_SEC);
}

int main(int argc, char **argv)
{
	static struct reader *readers[MAX_READERS];
	int count = 0;

	if (argc != 4)
		return 1;
	port = (int)strtol(argv[1], NULL, 10);
	poll_ms = (int)strtol(argv[2], NULL, 10);
	limit = strtol(argv[3], NULL, 10);
	for (; count < MAX_READERS; count++) {
		readers[count] = calloc(1, sizeof(*readers[count]));
		if (scanf("%511s", readers[count]->path) != 1)
			break;
		pthread_create(&readers[count]->thread, NULL, follow, readers[count]);
	}
	for (int i = 0; i < count; i++)
		pthread_join(readers[i]->thread, NULL);
	report(readers, count);
	return 0;
}
