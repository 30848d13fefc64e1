/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads: ROUNDS times a few short-lived ones, with memory and stacks of their
 * own, that add to a sum; and each time one that no thread waits for.
 */
#include "busy.h"

#include <pthread.h>
#include <semaphore.h>

enum { THREADS = 6, PAGES = 5 };

struct work {
	pthread_mutex_t lock;
	sem_t detached;
	uint64_t sum;
};

struct share {
	struct work *work;
	uint64_t number;
};

static _Thread_local uint64_t mine[64];

static void *add(void *argument)
{
	const struct share *share = argument;
	unsigned char *pages = malloc(PAGES * PAGE);

	require(pages != NULL, "malloc");
	fill(pages, PAGES, share->number);
	for (int i = 0; i < 64; i++)
		mine[i] = scramble(share->number + (uint64_t)i);
	verify(pages, PAGES, share->number, "a thread's memory");
	free(pages);
	pthread_mutex_lock(&share->work->lock);
	share->work->sum += mine[share->number % 64];
	pthread_mutex_unlock(&share->work->lock);
	return argument;
}

static void *add_and_go(void *argument)
{
	const struct share *share = add(argument);

	sem_post(&share->work->detached);
	return NULL;
}

static void one_round(struct work *work, uint64_t number)
{
	struct share share[THREADS];
	pthread_t thread[THREADS];

	for (unsigned int i = 0; i < THREADS; i++) {
		share[i] = (struct share){ work, number + i };
		errno = pthread_create(&thread[i], NULL, i == 0 ? add_and_go : add, &share[i]);
		if (errno)
			die("pthread_create");
	}
	pthread_detach(thread[0]);
	for (unsigned int i = 1; i < THREADS; i++) {
		void *result;

		require(pthread_join(thread[i], &result) == 0 && result == &share[i], "join");
	}
	while (sem_wait(&work->detached) < 0)
		;
}

void threads(int argc, char *argv[])
{
	struct work work = { .lock = PTHREAD_MUTEX_INITIALIZER };
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	uint64_t sum = 0;

	call(sem_init(&work.detached, 0, 0), "sem_init");
	for (unsigned int i = 0; i < rounds; i++)
		one_round(&work, (uint64_t)i * THREADS);
	for (uint64_t i = 0; i < (uint64_t)rounds * THREADS; i++)
		sum += scramble(i + i % 64);
	require(work.sum == sum, "the threads' sum");
}
