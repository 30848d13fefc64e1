/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control socket, by real connections; the test's own thread is the simulator's, which takes
 * requests when a case says so.  What has to come is what collect/control.h promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "collect/control.h"
#include "scratch.h"

static _Atomic uint64_t pokes, flushes;

static void poked(void *context)
{
	(void)context;
	atomic_fetch_add(&pokes, 1);
}

static char *status(void *context)
{
	return strdup(context);
}

static uint64_t flushed(void *context)
{
	(void)context;
	return atomic_load(&flushes);
}

static char status_line[] = "{\"instructions\":7}\n";
static const struct lpl_control_hooks all_hooks = { status_line, poked, status, flushed };

static struct lpl_control *open_control(const char *path)
{
	struct lpl_report report = { 0 };
	struct lpl_control *control;

	if (lpl_control_open(&control, path, &all_hooks, &report))
		fail_msg("%s", report.text);
	return control;
}

static void expect_no_control(const char *path, const char *why)
{
	const struct lpl_control_hooks hooks = { NULL, poked, status, flushed };
	struct lpl_report report = { 0 };
	struct lpl_control *control;

	assert_int_equal(lpl_control_open(&control, path, &hooks, &report), LPL_ERR_USAGE);
	assert_null(control);
	if (!strstr(report.text, why))
		fail_msg("'%s' does not contain '%s'", report.text, why);
}

/* ---- a client ---- */

static int try_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static int connect_to(const char *path)
{
	int fd = try_connect(path);

	assert_true(fd >= 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Up to its newline; "" at the end of the connection. */
static const char *listen_to(int fd)
{
	static char line[4096];
	size_t length = 0;

	while (length < sizeof(line) - 1 && recv(fd, line + length, 1, 0) == 1) {
		if (line[length++] == '\n')
			break;
	}
	line[length] = '\0';
	return line;
}

static void expect(int fd, const char *reply)
{
	assert_string_equal(listen_to(fd), reply);
}

static bool has_reply(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, 0) == 1;
}

/* ---- the simulator ---- */

static struct lpl_control_request taken(struct lpl_control *control)
{
	struct lpl_control_request request;

	while (!lpl_control_take(control, &request))
		sched_yield();
	return request;
}

#define DONE(verb) \
	"{\"laplace\":1,\"ok\":true,\"request\":\"" verb "\",\"status\":{\"instructions\":7}}\n"
#define FAILED(why) "{\"laplace\":1,\"ok\":false,\"error\":\"" why "\"}\n"

/* ---- requests as text ---- */

static void expect_request(const char *line, enum lpl_request what, const char *text)
{
	struct lpl_control_request request;

	assert_int_equal(lpl_control_parse(&request, line, strlen(line), NULL), LPL_OK);
	assert_int_equal(request.what, what);
	assert_string_equal(request.text, text);
}

static void expect_refused(const char *line, size_t length, const char *why)
{
	struct lpl_control_request request;
	struct lpl_report report = { 0 };

	assert_int_equal(lpl_control_parse(&request, line, length, &report), LPL_ERR_USAGE);
	if (!strstr(report.text, why))
		fail_msg("'%s': '%s' does not contain '%s'", line, report.text, why);
}

static void test_parse(void **state)
{
	char line[LPL_CONTROL_LINE] = "mark ";

	(void)state;
	expect_request("status", LPL_REQUEST_status, "");
	expect_request("start", LPL_REQUEST_start, "");
	expect_request("stop", LPL_REQUEST_stop, "");
	expect_request("flush\r", LPL_REQUEST_flush, "");
	expect_request("rotate", LPL_REQUEST_rotate, "");
	expect_request("checkpoint", LPL_REQUEST_checkpoint, "");
	expect_request("quit ", LPL_REQUEST_quit, "");
	expect_request("help", LPL_REQUEST_help, "");
	expect_request("mark a", LPL_REQUEST_mark, "a");
	expect_request("mark  two blanks \xc3\xa9", LPL_REQUEST_mark, " two blanks \xc3\xa9");
	expect_refused("", 0, "no request ''");
	expect_refused("flushy", 6, "no request 'flushy'");
	expect_refused("Flush", 5, "no request");
	expect_refused(" flush", 6, "no request ''");
	expect_refused("mark", 4, "wants a text");
	expect_refused("mark ", 5, "wants a text");
	expect_refused("flush now", 9, "nothing follows flush");
	expect_refused("mark a\tb", 8, "control characters");
	expect_refused("mark a\0b", 8, "control characters");
	expect_refused("mark \x1b[0m", 9, "control characters");
	memset(line + 5, 'x', KTR_TEXT + 1);
	expect_refused(line, 5 + KTR_TEXT + 1, "longer than 256 bytes");
	line[5 + KTR_TEXT] = '\0';
	expect_request(line, LPL_REQUEST_mark, line + 5);
}

/* ---- the socket ---- */

static void test_its_owner_only(void **state)
{
	const char *path = in_directory("owner");
	mode_t before = umask(0);
	struct lpl_control *control = open_control(path);
	struct stat about;

	(void)state;
	assert_int_equal(umask(before), 0);	/* no other thread's files are made by another */
	assert_int_equal(lstat(path, &about), 0);
	assert_true(S_ISSOCK(about.st_mode));
	assert_int_equal(about.st_mode & 0777, 0600);
	lpl_control_close(control, NULL);
	assert_int_equal(lstat(path, &about), -1);
}

static void test_what_has_the_name(void **state)
{
	const char *path = in_directory("name");
	char longer[120];
	struct lpl_control *control;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), file;

	(void)state;
	/* what a killed run leaves */
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(try_connect(path), -1);
	control = open_control(path);
	expect_no_control(path, "another run");
	fd = connect_to(path);
	say(fd, "status\n");
	expect(fd, DONE("status"));
	close(fd);

	/* one that took its name meanwhile is left */
	unlink(path);
	file = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(file >= 0);
	close(file);
	lpl_control_close(control, NULL);
	assert_int_equal(access(path, F_OK), 0);
	expect_no_control(path, "no socket");
	assert_int_equal(access(path, F_OK), 0);

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	expect_no_control(longer, "at most 107 bytes");
}

/* ---- requests and replies ---- */

static void test_requests(void **state)
{
	struct lpl_control *control = open_control(in_directory("requests"));
	int fd = connect_to(in_directory("requests"));
	struct lpl_control_request request;

	(void)state;
	atomic_store(&pokes, 0);
	assert_false(lpl_control_take(control, &request));
	say(fd, "mark here it is\n");
	request = taken(control);
	assert_int_equal(request.what, LPL_REQUEST_mark);
	assert_string_equal(request.text, "here it is");
	assert_true(atomic_load(&pokes) > 0);
	assert_false(has_reply(fd));
	assert_false(lpl_control_take(control, &request));
	lpl_control_done(control, 0);
	expect(fd, DONE("mark"));

	say(fd, "rotate\n");
	assert_int_equal(taken(control).what, LPL_REQUEST_rotate);
	lpl_control_refuse(control, "not \"recorded\" in\nsegments");
	expect(fd, FAILED("not \\\"recorded\\\" in?segments"));

	/* the simulator has nothing to do with these */
	say(fd, "status\n");
	expect(fd, DONE("status"));
	say(fd, "help\n");
	assert_non_null(strstr(listen_to(fd), "\"mark TEXT\":"));
	say(fd, "nonsense\n");
	expect(fd, FAILED("no request 'nonsense'; try help"));
	close(fd);
	lpl_control_close(control, NULL);
}

/* Be it the client that is served, or one that waits for it; until the client that asks leaves. */
static void test_end_is_asked(void **state)
{
	struct lpl_control *control = open_control(in_directory("end"));
	int first = connect_to(in_directory("end")), second = connect_to(in_directory("end"));

	(void)state;
	atomic_store(&pokes, 0);
	say(first, "mark x\n");
	while (atomic_load(&pokes) == 0)
		sched_yield();
	assert_false(lpl_control_end_asked(control));
	say(second, "quit\n");
	while (!lpl_control_end_asked(control))
		sched_yield();
	close(second);
	while (lpl_control_end_asked(control))
		sched_yield();
	assert_int_equal(taken(control).what, LPL_REQUEST_mark);
	lpl_control_done(control, 0);
	expect(first, DONE("mark"));
	say(first, "quit\n");
	assert_int_equal(taken(control).what, LPL_REQUEST_quit);
	assert_true(lpl_control_end_asked(control));
	lpl_control_ending(control);
	lpl_control_close(control, NULL);
	expect(first, DONE("quit"));
	close(first);
}

static void test_pieces(void **state)
{
	struct lpl_control *control = open_control(in_directory("pieces"));
	int fd = connect_to(in_directory("pieces"));
	char longest[LPL_CONTROL_LINE + 2];

	(void)state;
	for (const char *p = "status\n"; *p; p++) {
		char byte[] = { *p, '\0' };

		say(fd, byte);
		sched_yield();
	}
	expect(fd, DONE("status"));
	/* several at once are answered one after the other, and after the end of what is said */
	say(fd, "start\nstatus\nwhat\nstop\n");
	shutdown(fd, SHUT_WR);
	assert_int_equal(taken(control).what, LPL_REQUEST_start);
	lpl_control_done(control, 0);
	expect(fd, DONE("start"));
	expect(fd, DONE("status"));
	expect(fd, FAILED("no request 'what'; try help"));
	assert_int_equal(taken(control).what, LPL_REQUEST_stop);
	lpl_control_done(control, 0);
	expect(fd, DONE("stop"));
	expect(fd, "");
	close(fd);

	fd = connect_to(in_directory("pieces"));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	say(fd, longest);
	expect(fd, FAILED("a request is longer than 511 bytes"));
	expect(fd, "");
	close(fd);
	lpl_control_close(control, NULL);
}

static void test_flush_is_waited_for(void **state)
{
	struct lpl_control *control = open_control(in_directory("flush"));
	int fd = connect_to(in_directory("flush")), other = connect_to(in_directory("flush"));

	(void)state;
	atomic_store(&flushes, 4);
	say(fd, "flush\n");
	assert_int_equal(taken(control).what, LPL_REQUEST_flush);
	lpl_control_done(control, 6);
	atomic_store(&flushes, 5);
	/* by the time that another has its answer, the thread has looked */
	for (int i = 0; i < 3; i++) {
		say(other, "status\n");
		expect(other, DONE("status"));
		assert_false(has_reply(fd));
	}
	atomic_store(&flushes, 6);
	expect(fd, DONE("flush"));
	close(fd);
	close(other);
	lpl_control_close(control, NULL);
}

/* ---- clients that do not behave ---- */

static void test_client_leaves(void **state)
{
	const char *path = in_directory("away");
	struct lpl_control *control = open_control(path);
	int fd = connect_to(path), other;

	(void)state;
	/* before it was taken: it is withdrawn */
	atomic_store(&pokes, 0);
	say(fd, "mark of the one that left\n");
	while (atomic_load(&pokes) == 0)
		sched_yield();
	close(fd);
	other = connect_to(path);
	/* once it has answered a later client, it knows that the first has left */
	say(other, "status\n");
	expect(other, DONE("status"));
	say(other, "mark of the other\n");
	assert_string_equal(taken(control).text, "of the other");
	/* and after that: the answer goes to no client, and the next one is served */
	close(other);
	fd = connect_to(path);
	say(fd, "stop\n");
	lpl_control_done(control, 0);
	assert_int_equal(taken(control).what, LPL_REQUEST_stop);
	lpl_control_done(control, 0);
	expect(fd, DONE("stop"));
	close(fd);
	lpl_control_close(control, NULL);
}

static void test_client_does_not_read(void **state)
{
	const char *path = in_directory("unread");
	struct lpl_control *control = open_control(path);
	int fd = connect_to(path), other = connect_to(path);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };

	(void)state;
	/* as long as it can: then all that it may have on the way is full */
	while (poll(&wait, 1, 200) == 1)
		(void)send(fd, "help\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
	say(other, "status\n");
	expect(other, DONE("status"));
	close(other);
	lpl_control_close(control, NULL);
	close(fd);
}

static void test_many_clients(void **state)
{
	const char *path = in_directory("many");
	struct lpl_control *control = open_control(path);
	int fd[100], asking = connect_to(path);

	(void)state;
	say(asking, "flush\n");
	(void)taken(control);
	/* a client that waits for a reply keeps its place, and new ones are always served */
	for (int i = 0; i < 100; i++) {
		fd[i] = connect_to(path);
		say(fd[i], "status\n");
		expect(fd[i], DONE("status"));
	}
	lpl_control_done(control, 0);
	expect(asking, DONE("flush"));
	for (int i = 0; i < 100; i++)
		close(fd[i]);
	close(asking);
	lpl_control_close(control, NULL);
}

/* ---- the end ---- */

static void test_end(void **state)
{
	const char *path = in_directory("end");
	struct lpl_control *control = open_control(path);
	int fd = connect_to(path), waits = connect_to(path), watches = connect_to(path);

	(void)state;
	say(fd, "quit\n");
	assert_int_equal(taken(control).what, LPL_REQUEST_quit);
	say(waits, "flush\n");
	lpl_control_ending(control);
	/* meanwhile the trace is closed, which may take its time */
	say(watches, "status\n");
	expect(watches, DONE("status"));
	assert_false(has_reply(fd));
	lpl_control_close(control, NULL);
	expect(fd, DONE("quit"));
	expect(waits, FAILED("the run has ended"));
	expect(watches, "");
	assert_int_equal(access(path, F_OK), -1);
	close(fd);
	close(waits);
	close(watches);
}

static void test_bad_end(void **state)
{
	const char *path = in_directory("bad");
	struct lpl_control *control = open_control(path);
	int fd = connect_to(path);

	(void)state;
	say(fd, "quit\n");
	(void)taken(control);
	lpl_control_close(control, "no room for the trace");
	expect(fd, FAILED("no room for the trace"));
	close(fd);
}

/* What is not taken when the end comes is not taken any more. */
static void test_end_before_it_is_taken(void **state)
{
	const char *path = in_directory("untaken");
	struct lpl_control *control = open_control(path);
	int fd = connect_to(path);
	struct lpl_control_request request;

	(void)state;
	atomic_store(&pokes, 0);
	say(fd, "flush\n");
	while (atomic_load(&pokes) == 0)
		sched_yield();
	lpl_control_ending(control);
	assert_false(lpl_control_take(control, &request));
	lpl_control_close(control, NULL);
	expect(fd, FAILED("the run has ended"));
	close(fd);
}

/*
 * One leaves the socket, another takes it over: a client that has asked is answered, one that
 * connects in between waits.
 */
static void test_another_goes_on(void **state)
{
	const char *path = in_directory("left");
	struct lpl_control *control = open_control(path);
	int asked = connect_to(path), late = connect_to(path), early, between, listening;
	int idle = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct lpl_report report = { 0 };

	(void)state;
	say(asked, "checkpoint\n");
	assert_int_equal(taken(control).what, LPL_REQUEST_checkpoint);
	/* what is not begun is not done, an end neither */
	say(late, "status\nquit\n");
	expect(late, DONE("status"));
	/* a client that connects before the reply waits, too */
	lpl_control_leaving(control);
	early = connect_to(path);
	say(early, "status\n");
	lpl_control_done(control, 0);
	expect(asked, DONE("checkpoint"));
	listening = lpl_control_leave(control);
	assert_true(listening >= 0);
	assert_int_equal(recv(early, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	expect(late, FAILED("not done: the machine was being saved; ask again"));
	close(late);
	between = connect_to(path);
	say(between, "status\n");
	assert_int_equal(lpl_control_take_over(&control, path, listening, &all_hooks, &report), LPL_OK);
	expect(early, DONE("status"));
	expect(between, DONE("status"));
	close(early);
	close(asked);
	close(between);
	lpl_control_close(control, NULL);
	assert_int_equal(access(path, F_OK), -1);
	/* what listens nowhere is no such socket, also if it has the name */
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(idle, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(lpl_control_take_over(&control, path, idle, &all_hooks, &report),
			 LPL_ERR_IO);
	assert_null(control);
	close(idle);
	assert_int_equal(lpl_control_take_over(&control, path, STDIN_FILENO, &all_hooks, &report),
			 LPL_ERR_IO);
	assert_null(control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_its_owner_only),
		cmocka_unit_test(test_what_has_the_name),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_end_is_asked), cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_flush_is_waited_for),
		cmocka_unit_test(test_client_leaves),
		cmocka_unit_test(test_client_does_not_read),
		cmocka_unit_test(test_many_clients),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_bad_end),
		cmocka_unit_test(test_end_before_it_is_taken),
		cmocka_unit_test(test_another_goes_on),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
