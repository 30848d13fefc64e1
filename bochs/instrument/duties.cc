/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is to be done between two instructions; see duties.h. */
#include "duties.h"

#include "stream.h"

static struct laplace_duty *duties;

void laplace_duty_add(struct laplace_duty *duty)
{
	struct laplace_duty **last = &duties;

	while (*last)
		last = &(*last)->next;
	*last = duty;
}

void laplace_duty_is_due(struct laplace_duty *duty)
{
	duty->due.store(true, std::memory_order_relaxed);
	laplace_time_jumps();
}

void laplace_duties_do(void)
{
	for (struct laplace_duty *duty = duties; duty; duty = duty->next)
		if (duty->due.load(std::memory_order_relaxed))
			duty->act();
}

/* ---- requests ---- */

static struct laplace_duty requests;
static unsigned wanted;			/* enum laplace_wants */

void laplace_requests_begin(void (*act)(void))
{
	requests.act = act;
	laplace_duty_add(&requests);
}

void laplace_request(unsigned wants)
{
	wanted |= wants;
	laplace_duty_is_due(&requests);
}

void laplace_request_look(void)
{
	requests.due.store(true, std::memory_order_release);
	laplace_ask_look();
}

bool laplace_requests_are_due(void)
{
	return requests.due.load(std::memory_order_relaxed);
}

unsigned laplace_requests_take(void)
{
	const unsigned wants = wanted;

	wanted = 0;
	requests.due.store(false, std::memory_order_relaxed);
	std::atomic_thread_fence(std::memory_order_acquire);
	return wants;
}
