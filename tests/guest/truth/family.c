/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The family and its head, which decides which of them does what next (family.h).  One works
 * at a time and all others wait, so that the same seed makes the same family.
 */
#include "family.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Orders to each member; and which member is ready for the next. */
static int orders[MEMBERS][2], ready[2];

struct answer {
	uint32_t member;
	int32_t pid;
};

static const char self[] = "/proc/self/exe";

static _Noreturn void be_member(unsigned int number);

/* A new image of this program, which finds the pipes by their numbers. */
static _Noreturn void execute(unsigned int number)
{
	char text[MEMBERS + 2][12];
	char *argv[MEMBERS + 5] = { "truth", "member" };

	snprintf(text[0], sizeof(text[0]), "%u", number);
	snprintf(text[1], sizeof(text[1]), "%d", ready[1]);
	for (unsigned int i = 0; i < MEMBERS; i++)
		snprintf(text[2 + i], sizeof(text[0]), "%d", orders[i][0]);
	for (unsigned int i = 0; i < MEMBERS + 2; i++)
		argv[2 + i] = text[i];
	execv(self, argv);
	die("exec");
}

static void begin_again(char *argv[])
{
	ready[1] = atoi(argv[1]);
	for (unsigned int i = 0; i < MEMBERS; i++)
		orders[i][0] = atoi(argv[2 + i]);
	map_areas();
	be_member((unsigned int)atoi(argv[0]));
}

static _Noreturn void be_member(unsigned int number)
{
	for (;;) {
		struct answer answer = { number, getpid() };
		struct order order;

		if (write(ready[1], &answer, sizeof(answer)) != sizeof(answer) ||
		    read(orders[number][0], &order, sizeof(order)) != sizeof(order))
			die("member");
		switch ((enum operation)order.operation) {
		case FORK:
			if (!call(fork(), "fork"))
				number = order.first;
			break;
		case EXECUTE:
			execute(number);
		case EXIT:
			_exit(0);
		default:
			obey(&order);
		}
	}
}

/* The head, which is member 0 as well. */
struct head {
	uint64_t state;		/* of what is drawn */
	pid_t pid[MEMBERS];	/* 0: no such member now */
};

static unsigned int draw(struct head *head, unsigned int below)
{
	head->state = head->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(head->state >> 33) % below;
}

static void await(struct head *head, unsigned int answers)
{
	struct answer answer;

	while (answers--) {
		if (read(ready[0], &answer, sizeof(answer)) != sizeof(answer))
			die("answer");
		head->pid[answer.member] = answer.pid;
	}
}

static void send(struct head *head, unsigned int member, const struct order *order)
{
	bool forks = order->operation == FORK;

	if (member == 0) {
		if (!forks)
			obey(order);
		else if (!call(fork(), "fork"))
			be_member(order->first);
		await(head, forks);
		return;
	}
	if (write(orders[member][1], order, sizeof(*order)) != sizeof(*order))
		die("order");
	if (order->operation != EXIT) {
		await(head, 1 + forks);
		return;
	}
	/* Wait until nothing is left of it. */
	while (!kill(head->pid[member], 0))
		usleep(1000);
	head->pid[member] = 0;
}

static void one_order(struct head *head)
{
	unsigned int lot = draw(head, 60), member, pages;
	struct order order = { .operation = (uint8_t)draw(head, OPERATIONS),
			       .area = (uint8_t)draw(head, AREAS) };

	do {
		member = draw(head, MEMBERS);
	} while (!head->pid[member]);
	pages = area_pages(order.area);
	order.first = (uint8_t)draw(head, pages);
	order.count = (uint8_t)(1 + draw(head, pages - order.first));
	if (lot < 8) {
		order.operation = FORK;
		order.first = (uint8_t)draw(head, MEMBERS);
		if (head->pid[order.first])
			return;
	} else if (lot < 11) {
		order.operation = lot < 9 ? EXECUTE : EXIT;
		if (member == 0)
			return;
	} else if (lot < 30) {
		order.operation = lot < 20 ? READ : WRITE;
	}
	send(head, member, &order);
}

/* By a process of its own: that one's memory is no part of it. */
static void take_sample(unsigned int number)
{
	char text[12];
	char *argv[] = { "truth", "sample", text, NULL };
	char *environment[] = { NULL };
	pid_t child;

	snprintf(text, sizeof(text), "%u", number);
	errno = posix_spawn(&child, self, NULL, NULL, argv, environment);
	if (errno)
		die("sampler");
	/* Its status is lost, as is everybody's; but it says how it ends. */
	waitpid(child, NULL, 0);
}

static void use_huge_pages(void)
{
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "madvise", 7) != 7)
		die("transparent_hugepage");
	close(fd);
}

static void lead(unsigned int seed, unsigned int rounds, unsigned int operations,
		 unsigned int rest)
{
	static const struct order end = { .operation = EXIT };
	struct head head = { .state = seed, .pid = { getpid() } };

	/* No process waits for another, and those without a parent are ours. */
	signal(SIGCHLD, SIG_IGN);
	call(prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
	use_huge_pages();
	call(pipe(ready), "pipe");
	for (unsigned int i = 0; i < MEMBERS; i++)
		call(pipe(orders[i]), "pipe");
	map_areas();
	for (unsigned int round = 1; round <= rounds; round++) {
		for (unsigned int i = 0; i < operations; i++)
			one_order(&head);
		if (!rest)
			take_sample(round);
		if (round == rest)
			raise(SIGSTOP);
	}
	for (unsigned int i = 1; i < MEMBERS; i++)
		if (head.pid[i])
			send(&head, i, &end);
}

int main(int argc, char *argv[])
{
	unsigned int number[4] = { 1, 8, 60, 0 };

	if (argc == MEMBERS + 4 && !strcmp(argv[1], "member")) {
		begin_again(argv + 2);
	} else if (argc == 3 && !strcmp(argv[1], "sample")) {
		sample((unsigned int)atoi(argv[2]));
	} else {
		for (int i = 1; i < argc && i <= 4; i++)
			number[i - 1] = (unsigned int)atoi(argv[i]);
		lead(number[0], number[1], number[2], number[3]);
	}
	return 0;
}
