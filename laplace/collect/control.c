/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that serves the control socket; control.h says what for.
 *
 * Two threads meet at the *desk*, under a lock: at most one request lies there.  The socket's
 * thread puts it there, the simulator's thread takes it and leaves the result, and the socket's
 * thread sends the reply and puts the next request there.
 *
 *	FREE ── a client's request ──► WAITING ── take ──► TAKEN ── done, refuse ──► ANSWERED ──► FREE
 *	                                  └── its client disconnects ──► FREE
 *
 * While one waits, the simulator is poked every POKE_MS, for a poke may be lost.  All else that
 * the thread does is sleep in poll().
 *
 * A client is one connection.  It has at most one request in the works: nothing more is read
 * from it before its reply was sent.  So it costs a fixed amount of memory, and a client that does
 * not read its replies holds up no other.  There are at most CLIENTS; when another one connects, the
 * one that has been silent longest is disconnected.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/host.h"
#include "control.h"
#include "control_socket.h"

#define CLIENTS 16
#define POKE_MS 10
#define GOODBYE_MS 1000		/* for clients to take their last replies */

struct client {
	int fd;				/* -1: none */
	uint64_t received;		/* a count of requests: when its last one was received */
	bool over;			/* it will send nothing more */
	bool asking;			/* its request is at the desk, or waits for it: */
	struct lpl_control_request request;
	char line[LPL_CONTROL_LINE];	/* received: not a whole line yet, or not looked at */
	size_t length;
	char *reply;			/* NULL: none */
	size_t sent;
};

enum desk_state { FREE, WAITING, TAKEN, ANSWERED };

struct lpl_control {
	struct lpl_control_hooks hooks;
	struct lpl_control_socket socket;
	int wake;			/* an eventfd: the desk has changed */
	pthread_t thread;
	struct client client[CLIENTS];
	uint64_t received;

	_Atomic bool waiting;		/* as the desk's state says; to be asked often */
	_Atomic bool end_asked;		/* a request for the end is at the desk or waits for it */
	pthread_mutex_t lock;		/* of what follows */
	enum desk_state state;
	struct client *asker;		/* made the request at the desk; NULL: it has disconnected */
	struct lpl_control_request request;
	char refusal[LPL_REPORT_SIZE];	/* "": it was done */
	uint64_t flushes;		/* ... when there have been so many */
	bool ending;
	char *last_status;		/* when ending */
	bool closed;
	bool leaving;			/* and the run continues in another process */
	char problem[LPL_REPORT_SIZE];	/* of the end */
};

static void set_state(struct lpl_control *c, enum desk_state state)
{
	c->state = state;
	atomic_store_explicit(&c->waiting, state == WAITING, memory_order_relaxed);
}

static void wake(struct lpl_control *c)
{
	const uint64_t one = 1;

	/* it can fail only if the thread has been woken and did not look yet */
	if (write(c->wake, &one, sizeof(one)) < 0)
		return;
}

/* ---- the simulator's thread ---- */

bool lpl_control_take(struct lpl_control *c, struct lpl_control_request *request)
{
	bool taken;

	if (!atomic_load_explicit(&c->waiting, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&c->lock);
	taken = c->state == WAITING && !c->ending;
	if (taken) {
		*request = c->request;
		set_state(c, TAKEN);
	}
	pthread_mutex_unlock(&c->lock);
	return taken;
}

bool lpl_control_end_asked(const struct lpl_control *c)
{
	return atomic_load_explicit(&c->end_asked, memory_order_relaxed);
}

static void answer(struct lpl_control *c, const char *refusal, uint64_t flushes)
{
	pthread_mutex_lock(&c->lock);
	assert(c->state == TAKEN);
	snprintf(c->refusal, sizeof(c->refusal), "%s", refusal);
	c->flushes = flushes;
	set_state(c, ANSWERED);
	pthread_mutex_unlock(&c->lock);
	wake(c);
}

void lpl_control_refuse(struct lpl_control *c, const char *why)
{
	answer(c, why, 0);
}

void lpl_control_done(struct lpl_control *c, uint64_t flushes)
{
	answer(c, "", flushes);
}

void lpl_control_ending(struct lpl_control *c)
{
	pthread_mutex_lock(&c->lock);
	if (!c->ending)
		c->last_status = c->hooks.status(c->hooks.context);
	c->ending = true;
	pthread_mutex_unlock(&c->lock);
}

/* End the thread, once all clients that wait are answered. */
static void end(struct lpl_control *c, const char *problem)
{
	lpl_control_ending(c);
	pthread_mutex_lock(&c->lock);
	c->closed = true;
	snprintf(c->problem, sizeof(c->problem), "%s", problem != NULL ? problem : "");
	pthread_mutex_unlock(&c->lock);
	wake(c);
	pthread_join(c->thread, NULL);
	(void)close(c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c->last_status);
}

void lpl_control_close(struct lpl_control *c, const char *problem)
{
	if (c == NULL)
		return;
	end(c, problem);
	lpl_control_socket_close(&c->socket);
	free(c);
}

void lpl_control_leaving(struct lpl_control *c)
{
	pthread_mutex_lock(&c->lock);
	c->leaving = true;
	pthread_mutex_unlock(&c->lock);
}

int lpl_control_leave(struct lpl_control *c)
{
	int listening;

	lpl_control_leaving(c);
	end(c, NULL);
	listening = lpl_control_socket_leave(&c->socket);
	free(c);
	return listening;
}

/* ---- replies ---- */

static void reply(struct client *client, char *line)
{
	assert(client->reply == NULL);	/* one at a time: the next request is not looked at */
	client->reply = line;
	client->sent = 0;
	client->asking = false;
	if (line == NULL)	/* no memory: the client sees its connection end without a reply */
		client->over = true;
}

static void reply_done(struct lpl_control *c, struct client *client)
{
	char *status = NULL;

	pthread_mutex_lock(&c->lock);
	if (!c->ending)
		status = c->hooks.status(c->hooks.context);
	else if (c->last_status != NULL)
		status = strdup(c->last_status);
	pthread_mutex_unlock(&c->lock);
	reply(client, lpl_control_reply_done(client->request.what, status));
	free(status);
}

/* ---- the desk ---- */

/* Answered, and the flush that it waits for, if any, has happened. */
static bool is_done(struct lpl_control *c)
{
	return c->state == ANSWERED &&
	       (c->flushes == 0 || c->ending || c->hooks.flushes(c->hooks.context) >= c->flushes);
}

/* What has been answered goes to its client, and the desk is free again. */
static void clear_desk(struct lpl_control *c)
{
	char refusal[LPL_REPORT_SIZE];
	struct client *client;
	bool done;

	pthread_mutex_lock(&c->lock);
	done = is_done(c);
	client = c->asker;
	memcpy(refusal, c->refusal, sizeof(refusal));
	if (done) {
		set_state(c, FREE);
		c->asker = NULL;
	}
	pthread_mutex_unlock(&c->lock);
	if (!done || client == NULL)
		return;
	if (refusal[0] != '\0')
		reply(client, lpl_control_reply_failed(refusal));
	else
		reply_done(c, client);
}

/* The request that has waited longest is next. */
static void fill_desk(struct lpl_control *c)
{
	struct client *next = NULL;

	for (struct client *client = c->client; client < c->client + CLIENTS; client++) {
		if (client->fd >= 0 && client->asking &&
		    (next == NULL || client->received < next->received))
			next = client;
	}
	pthread_mutex_lock(&c->lock);
	if (c->state == FREE && !c->ending && next != NULL) {
		c->asker = next;
		c->request = next->request;
		set_state(c, WAITING);
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- clients ---- */

static void note_end(struct lpl_control *c)
{
	bool asked = false;

	for (int i = 0; i < CLIENTS; i++)
		asked |= c->client[i].asking && c->client[i].request.what == LPL_REQUEST_quit;
	atomic_store_explicit(&c->end_asked, asked, memory_order_relaxed);
}

static void part_with(struct lpl_control *c, struct client *client)
{
	pthread_mutex_lock(&c->lock);
	if (c->asker == client) {
		c->asker = NULL;
		if (c->state == WAITING)
			set_state(c, FREE);
	}
	pthread_mutex_unlock(&c->lock);
	(void)close(client->fd);
	free(client->reply);
	memset(client, 0, sizeof(*client));
	client->fd = -1;
	note_end(c);
}

static void take_request(struct lpl_control *c, struct client *client, size_t length)
{
	struct lpl_report report = { 0 };

	client->received = ++c->received;
	if (lpl_control_parse(&client->request, client->line, length, &report))
		reply(client, lpl_control_reply_failed(report.text));
	else if (client->request.what == LPL_REQUEST_help)
		reply(client, lpl_control_reply_help());
	else if (client->request.what == LPL_REQUEST_status)
		reply_done(c, client);
	else
		client->asking = true;
	note_end(c);
}

/* The next line, if it is there and the one before is done with. */
static void look_at_line(struct lpl_control *c, struct client *client)
{
	char *newline = memchr(client->line, '\n', client->length);
	size_t length, used;

	if (client->asking || client->reply != NULL)
		return;
	if (newline == NULL && client->length == sizeof(client->line)) {
		reply(client, lpl_control_reply_failed("a request is longer than 511 bytes"));
		client->over = true;
		client->length = 0;
		return;
	}
	if (newline == NULL)
		return;
	length = (size_t)(newline - client->line);
	used = length + 1;
	take_request(c, client, length);
	client->length -= used;
	memmove(client->line, client->line + used, client->length);
}

static void receive(struct lpl_control *c, struct client *client)
{
	ssize_t n = recv(client->fd, client->line + client->length,
			 sizeof(client->line) - client->length, 0);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0)
		return part_with(c, client);
	client->over |= n == 0;
	client->length += (size_t)n;
	assert(client->length <= sizeof(client->line));
}

static void send_reply(struct lpl_control *c, struct client *client)
{
	size_t left = strlen(client->reply) - client->sent;
	ssize_t n = send(client->fd, client->reply + client->sent, left, MSG_NOSIGNAL);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0)
		return part_with(c, client);
	client->sent += (size_t)n;
	if (client->sent < strlen(client->reply))
		return;
	free(client->reply);
	client->reply = NULL;
}

/* Room for one more: a free one, or that of the client silent longest that waits for nothing. */
static struct client *find_room(struct lpl_control *c)
{
	struct client *room = NULL;

	for (struct client *client = c->client; client < c->client + CLIENTS; client++) {
		if (client->fd < 0)
			return client;
		if (!client->asking && (room == NULL || client->received < room->received))
			room = client;
	}
	if (room != NULL)
		part_with(c, room);
	return room;
}

/* A flag that another thread sets. */
static bool is_set(struct lpl_control *c, const bool *flag)
{
	bool set;

	pthread_mutex_lock(&c->lock);
	set = *flag;
	pthread_mutex_unlock(&c->lock);
	return set;
}

static void welcome(struct lpl_control *c)
{
	int fd = accept4(c->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client;

	if (fd < 0)
		return;
	client = find_room(c);
	if (client == NULL) {
		(void)close(fd);
		return;
	}
	*client = (struct client){ .fd = fd, .received = ++c->received };
	if (!lpl_control_peer_is_owner(fd)) {
		reply(client, lpl_control_reply_failed("only the run's owner may steer it"));
		client->over = true;
	}
}

/* What happened at its connection. */
static void serve(struct lpl_control *c, struct client *client, short happened)
{
	if (happened & POLLIN)
		receive(c, client);
	if (client->fd >= 0 && (happened & POLLOUT) && client->reply != NULL)
		send_reply(c, client);
	if (client->fd >= 0 && (happened & (POLLHUP | POLLERR)) && !(happened & POLLIN))
		return part_with(c, client);
	if (client->fd >= 0)
		look_at_line(c, client);
	if (client->fd >= 0 && client->over && !client->asking && client->reply == NULL)
		part_with(c, client);
}

/* ---- the thread ---- */

static short interest(const struct client *client)
{
	if (client->reply != NULL)
		return POLLOUT;
	return client->asking || client->over || client->length == sizeof(client->line) ? 0 : POLLIN;
}

/* Wait until something happens, or for so long; and do what is to be done at the sockets. */
static void wait_and_serve(struct lpl_control *c, int milliseconds)
{
	struct pollfd fd[CLIENTS + 2];
	uint64_t woken;

	for (int i = 0; i < CLIENTS; i++)
		fd[i] = (struct pollfd){ c->client[i].fd, interest(&c->client[i]), 0 };
	fd[CLIENTS] = (struct pollfd){ c->wake, POLLIN, 0 };
	/* those that connect now are for the other program */
	fd[CLIENTS + 1] = (struct pollfd){ is_set(c, &c->leaving) ? -1 : c->socket.fd, POLLIN, 0 };
	if (poll(fd, CLIENTS + 2, milliseconds) < 0)
		return;
	for (int i = 0; i < CLIENTS; i++) {
		if (c->client[i].fd >= 0)
			serve(c, &c->client[i], fd[i].revents);
	}
	if (fd[CLIENTS].revents && read(c->wake, &woken, sizeof(woken)) < 0)
		return;
	if (fd[CLIENTS + 1].revents && !is_set(c, &c->leaving))
		welcome(c);
}

/* What is at the desk: poke the simulator for it.  Returns how long poll() may wait. */
static int look_at_desk(struct lpl_control *c)
{
	enum desk_state state;

	clear_desk(c);
	fill_desk(c);
	pthread_mutex_lock(&c->lock);
	state = c->ending ? FREE : c->state;
	if (state == WAITING)
		c->hooks.poke(c->hooks.context);
	pthread_mutex_unlock(&c->lock);
	/* what was answered waits for a flush */
	return state == WAITING || state == ANSWERED ? POKE_MS : -1;
}

/* The clients that still wait for something get a reply: done, if it was the end. */
static void send_end(struct lpl_control *c)
{
	const uint64_t until = lpl_now_ns() + GOODBYE_MS * UINT64_C(1000000);
	bool left = true;

	for (struct client *client = c->client; client < c->client + CLIENTS; client++) {
		if (client->fd < 0 || !client->asking)
			continue;
		if (c->leaving)		/* the run continues: a request to end it was not taken */
			reply(client, lpl_control_reply_failed("not done: the machine was being "
							       "saved; ask again"));
		else if (client->request.what != LPL_REQUEST_quit)
			reply(client, lpl_control_reply_failed("the run has ended"));
		else if (c->problem[0] != '\0')
			reply(client, lpl_control_reply_failed(c->problem));
		else
			reply_done(c, client);
	}
	while (left && lpl_now_ns() < until) {
		left = false;
		for (int i = 0; i < CLIENTS; i++)
			left |= c->client[i].fd >= 0 && c->client[i].reply != NULL;
		if (left)
			wait_and_serve(c, 50);
	}
}

static void *run(void *argument)
{
	struct lpl_control *c = argument;

	while (!is_set(c, &c->closed))
		wait_and_serve(c, look_at_desk(c));
	clear_desk(c);
	send_end(c);
	for (struct client *client = c->client; client < c->client + CLIENTS; client++) {
		if (client->fd >= 0)
			part_with(c, client);
	}
	return NULL;
}

/* It blocks all signals: they are for other threads. */
static int start_thread(struct lpl_control *c)
{
	sigset_t all, before;
	int problem;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	problem = pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return problem;
}

static enum lpl_error open_at(struct lpl_control **control, const char *path, int listening,
			      const struct lpl_control_hooks *hooks, struct lpl_report *report)
{
	struct lpl_control *c = calloc(1, sizeof(*c));
	enum lpl_error error;

	*control = NULL;
	if (c == NULL)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for the control socket");
	c->hooks = *hooks;
	for (int i = 0; i < CLIENTS; i++)
		c->client[i].fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->wake < 0)
		error = lpl_fail(report, LPL_ERR_IO, "%s: no eventfd", path);
	else if (listening >= 0)
		error = lpl_control_socket_take(&c->socket, path, listening, report);
	else
		error = lpl_control_socket_open(&c->socket, path, report);
	if (!error && (errno = start_thread(c)) != 0) {
		error = lpl_fail(report, LPL_ERR_IO, "%s: no thread", path);
		lpl_control_socket_close(&c->socket);
	}
	if (error) {
		if (c->wake >= 0)
			(void)close(c->wake);
		pthread_mutex_destroy(&c->lock);
		free(c);
		return error;
	}
	*control = c;
	return LPL_OK;
}

enum lpl_error lpl_control_open(struct lpl_control **control, const char *path,
				const struct lpl_control_hooks *hooks, struct lpl_report *report)
{
	return open_at(control, path, -1, hooks, report);
}

int lpl_control_listen(const char *path, struct lpl_report *report)
{
	struct lpl_control_socket s;

	return lpl_control_socket_open(&s, path, report) == LPL_OK ? lpl_control_socket_leave(&s) :
								    -1;
}

enum lpl_error lpl_control_take_over(struct lpl_control **control, const char *path, int listening,
				     const struct lpl_control_hooks *hooks,
				     struct lpl_report *report)
{
	return open_at(control, path, listening, hooks, report);
}
