/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * relay: tasks that hand something on to each other, so that a part of their order is known whatever
 * machine they run on.  A task that hands something on leaves a note before: a store to a page that is
 * for this once alone; the one that gets it reads the note after.
 *
 * The notes are at NOTES, a page each; from FIRST_PASSED on they are of messages that were there before
 * they were read (cases/schedule.sh).
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOTES ((volatile unsigned char *)0x300000000000UL)
#define PAGE 4096UL

enum {
	ROUNDS = 8,			/* of each kind, but for: */
	CHILDREN = 4,
	CROWD = 32,			/* threads that are there all the time, beside the kernel's */
	FIRST_PASSED = 32,
	PASSED = 18,
	LARGE = 3 * 4096,		/* a message of which a part may be in a pipe */
	WRITERS = 3,
	ALL = FIRST_PASSED + 3 * PASSED
};

static void require(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void leave_note(int n)
{
	NOTES[(unsigned long)n * PAGE] = 1;
}

static void read_note(int n)
{
	require(NOTES[(unsigned long)n * PAGE] == 1, "a note is not there");
}

static void nap(long milliseconds)
{
	const struct timespec time = {.tv_nsec = milliseconds * 1000000};

	require(nanosleep(&time, NULL) == 0, "nanosleep");
}

static void open_pipe(int fd[2])
{
	require(pipe(fd) == 0, "pipe");
}

/* A message is the number of its note; `size` bytes, the first of which say it. */
static void send(int fd, int n, size_t size)
{
	static unsigned char message[LARGE];

	message[0] = (unsigned char)n;
	leave_note(n);
	require(write(fd, message, size) == (ssize_t)size, "write");
}

static int receive(int fd, size_t size)
{
	static unsigned char message[LARGE];
	size_t got = 0;

	while (got < size) {
		const ssize_t bytes = read(fd, message + got, size - got);

		require(bytes > 0, "read");
		got += (size_t)bytes;
	}
	read_note(message[0]);
	return message[0];
}

static pid_t begin(void)
{
	const pid_t child = fork();

	require(child >= 0, "fork");
	return child;
}

static void end(pid_t child)
{
	int status;

	require(waitpid(child, &status, 0) == child && status == 0, "a child");
}

/* ---- where the one that gets it waits ---- */

/* There and back again: each waits for the other. */
static void ping_pong(int note)
{
	int there[2], back[2];
	pid_t child;

	open_pipe(there);
	open_pipe(back);
	child = begin();
	for (int i = 0; i < ROUNDS; i++, note += 2) {
		if (child == 0) {
			require(receive(there[0], 1) == note, "another message");
			send(back[1], note + 1, 1);
		} else {
			send(there[1], note, 1);
			require(receive(back[0], 1) == note + 1, "another message");
		}
	}
	if (child == 0)
		_exit(0);
	end(child);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

/* A parent that waits for its child. */
static void children(int note)
{
	for (int i = 0; i < CHILDREN; i++) {
		const pid_t child = begin();

		if (child == 0) {
			nap(1);
			leave_note(note + i);
			_exit(0);
		}
		end(child);
		read_note(note + i);
	}
}

struct lock {
	pthread_mutex_t mutex;
	atomic_int held;		/* so often by the first one */
	int note;
};

static void *second_holder(void *argument)
{
	struct lock *lock = argument;

	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_load(&lock->held) == i)
			nap(1);
		require(pthread_mutex_lock(&lock->mutex) == 0, "lock");
		read_note(lock->note + i);
		require(pthread_mutex_unlock(&lock->mutex) == 0, "unlock");
	}
	return NULL;
}

/* A lock that is wanted while another thread has it. */
static void locks(int note)
{
	struct lock lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .note = note};
	pthread_t thread;

	require(pthread_create(&thread, NULL, second_holder, &lock) == 0, "pthread_create");
	for (int i = 0; i < ROUNDS; i++) {
		require(pthread_mutex_lock(&lock.mutex) == 0, "lock");
		atomic_fetch_add(&lock.held, 1);
		nap(4);
		leave_note(note + i);
		require(pthread_mutex_unlock(&lock.mutex) == 0, "unlock");
		nap(2);
	}
	require(pthread_join(thread, NULL) == 0, "pthread_join");
}

/* ---- where data was there already ---- */

/* The reader comes when all is written that a pipe has room for. */
static void ahead(int note, size_t size, int writers)
{
	pid_t child[WRITERS], reader;
	int fd[2];

	open_pipe(fd);
	reader = begin();
	if (reader == 0) {
		nap(30);
		for (int i = 0; i < PASSED; i++)
			receive(fd[0], size);
		_exit(0);
	}
	for (int w = 0; w < writers; w++) {
		child[w] = begin();
		if (child[w] != 0)
			continue;
		for (int i = w; i < PASSED; i += writers)
			send(fd[1], note + i, size);
		_exit(0);
	}
	for (int w = 0; w < writers; w++)
		end(child[w]);
	end(reader);
	close(fd[0]);
	close(fd[1]);
}

/* ---- */

static void *stay(void *pipe)
{
	char byte;

	require(read(*(int *)pipe, &byte, 1) == 0, "the end of a pipe");
	return NULL;
}

/*
 * A process with threads that do nothing until the pipe is closed.  They are not the one's that goes
 * on, for it forks, and their stacks would be copied each time.
 */
static pid_t gather(int fd[2])
{
	pthread_t thread[CROWD];
	pthread_attr_t small;
	pid_t child;

	open_pipe(fd);
	child = begin();
	if (child != 0)
		return child;
	close(fd[1]);
	require(pthread_attr_init(&small) == 0 &&
		pthread_attr_setstacksize(&small, 4 * PAGE) == 0, "attributes");
	for (int i = 0; i < CROWD; i++)
		require(pthread_create(&thread[i], &small, stay, fd) == 0, "pthread_create");
	for (int i = 0; i < CROWD; i++)
		require(pthread_join(thread[i], NULL) == 0, "pthread_join");
	_exit(0);
}

int main(void)
{
	int fd[2];
	pid_t crowd;

	require(mmap((void *)NOTES, ALL * PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == NOTES, "mmap");
	crowd = gather(fd);
	ping_pong(0);
	locks(2 * ROUNDS);
	children(3 * ROUNDS);
	ahead(FIRST_PASSED, 1, 1);
	ahead(FIRST_PASSED + PASSED, LARGE, 1);
	ahead(FIRST_PASSED + 2 * PASSED, 1, WRITERS);
	close(fd[1]);
	end(crowd);
	puts("relay: all notes were there");
	return 0;
}
