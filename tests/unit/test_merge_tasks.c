/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which task made a reference, and what a task is called. */
#include "merge_keeper.h"

static void exec_gives_a_new_space(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 1);
	anonymous(k, 8, 0x10000, 1);		/* the new stack comes before the exec */
	SEND(k, KTR_SPACE_ASSIGN, 20, 20, 8);
	SEND(k, KTR_EXEC, 20, 20, 8, 8, 1);
	SEND(k, KTR_SPACE_END, 7);
	assert_int_equal(wr(k, 8, 0x10000), 2);
	assert_int_equal(k->last.kind, LPL_PAGE_ANONYMOUS);
	/* the old table's frame is used again */
	anonymous(k, 7, 0x10000, 1);
	assert_int_equal(wr(k, 7, 0x10000), 3);
	assert_int_equal(anomalies(k), 0);
	assert_int_equal(stats(k)->live_spaces, 2);
	assert_int_equal(stats(k)->spaces, 3);
}

static void references_belong_to_tasks(void **state)
{
	struct keeper *k = *state;

	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 0);
	assert_int_equal(k->last_task.serial, 0);
	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	SEND(k, KTR_TASK_CREATE, 21, 20, 7, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 21, 20, 7);
	assert_int_equal(k->event_task.tid, 0);	/* it belongs to the one that goes */
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 21);
	assert_int_equal(k->last_task.tgid, 20);
	assert_int_equal(k->last_task.serial, 2);
	SEND_BY(k, 21, 20, KTR_SCHEDULE, 21, 0, 20, 20, 7);
	assert_int_equal(k->event_task.tid, 21);
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 20);
	assert_int_equal(k->last_task.serial, 1);
	/* a switch reported after it was made */
	SEND_BY(k, 21, 20, KTR_SCHEDULE, 20, 0, 21, 20, 7);
	assert_int_equal(k->event_task.tid, 20);
	assert_int_equal(anomalies(k), 0);
	/* a switch that was not reported: the next event shows it */
	SEND_BY(k, 20, 20, KTR_MARK, 0);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_MISSED_SCHEDULE], 1);
	assert_int_equal(k->event_task.tid, 20);
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 20);
	/* the simulator's own events know no task */
	SEND(k, LPL_EVENT_MARK, 0);
	assert_int_equal(k->event_task.tid, 20);
	assert_int_equal(anomalies(k), 1);
	assert_int_equal(stats(k)->tasks, 2);
}

static void a_second_snapshot_lists_the_same_tasks(void **state)
{
	struct keeper *k = *state;

	for (int i = 0; i < 2; i++) {
		SEND(k, KTR_SNAPSHOT, 1);
		SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
		SEND(k, KTR_TASK_CREATE, 21, 21, 8, 0);
		SEND(k, KTR_SNAPSHOT, 0);
		SEND(k, KTR_SCHEDULE, 0, 0, 21, 21, 8);
		touch(k, LPL_READ, 0, 8, KERNEL);
		assert_int_equal(k->last_task.serial, 2);
		assert_int_equal(k->last_task.process, 2);
	}
	assert_int_equal(stats(k)->tasks, 2);
	/* but one of another process is another */
	SEND(k, KTR_SNAPSHOT, 1);
	SEND(k, KTR_TASK_CREATE, 20, 19, 7, 0);
	SEND(k, KTR_SNAPSHOT, 0);
	assert_int_equal(stats(k)->tasks, 3);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TASK_CREATE], 1);
}

static void tasks_end_and_numbers_return(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_EXIT, 20, 20, 0, 1);
	touch(k, LPL_READ, 0, 7, KERNEL);	/* it runs to its last switch */
	assert_int_equal(k->last_task.tid, 20);
	assert_int_equal(k->last_task.serial, 1);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 64, 0, 0, 0);
	SEND(k, KTR_TASK_CREATE, 20, 20, 9, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 9);
	touch(k, LPL_READ, 0, 9, KERNEL);
	assert_int_equal(k->last_task.serial, 2);
	assert_int_equal(anomalies(k), 0);
	assert_int_equal(stats(k)->live_tasks, 1);
}


/* Between its exit and its last switch a task may be preempted, and may wait. */
static void exiting_takes_time(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_EXIT, 20, 20, 256, 1);
	assert_int_equal(stats(k)->live_tasks, 0);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0, 0, 0, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 0);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0x402, 0, 0, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 0);
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.serial, 1);
	assert_int_equal(k->last_task.references, 1);
	assert_int_equal(k->final[1], LPL_TASK_LIVES);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0x80, 0, 0, 0);
	assert_int_equal(k->event_task.serial, 1);
	assert_int_equal(k->final[1], LPL_TASK_EXITED);
	assert_int_equal(k->task.exit_code, 256);
	assert_int_equal(k->task.references, 1);
	/* a second exit makes no sense, nor does the exit of one that has ended */
	SEND(k, KTR_EXIT, 20, 20, 0, 1);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TASK_UNKNOWN], 1);
	SEND(k, KTR_TASK_CREATE, 20, 20, 9, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 9);
	SEND_BY(k, 20, 20, KTR_EXIT, 20, 20, 0, 1);
	SEND_BY(k, 20, 20, KTR_EXIT, 20, 20, 0, 1);
	assert_int_equal(anomalies(k), 2);
	/* its id is given away while it waits for a switch that is never reported */
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0, 0, 0, 0);
	SEND(k, KTR_TASK_CREATE, 20, 20, 11, 0);
	assert_int_equal(k->final[2], LPL_TASK_EXITED);
	assert_int_equal(anomalies(k), 2);
	finish(k);
	assert_int_equal(k->final[3], LPL_TASK_LEFT);
	assert_int_equal(k->final[0], LPL_TASK_LEFT);
	assert_int_equal(stats(k)->live_tasks, 1);
}

/*
 * linux-module/README.md: a thread that executes takes its leader's id after the
 * leader's exit, and says so by SPACE_ASSIGN, SCHEDULE, EXIT and EXEC.
 */
static void a_thread_takes_its_leaders_id(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_TASK_CREATE, 21, 20, 7, 0x10100);
	SEND_BY(k, 20, 20, KTR_EXIT, 20, 20, 0, 0);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0x80, 21, 20, 7);
	SEND_BY(k, 20, 20, KTR_SPACE_ASSIGN, 20, 20, 8);
	assert_int_equal(k->event_task.serial, 2);
	SEND_BY(k, 20, 20, KTR_SPACE_END, 7);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 21, 0x80, 20, 20, 8);
	SEND_BY(k, 20, 20, KTR_EXIT, 21, 20, 0, 0);
	SEND_TEXT(k, 20, 20, "/bin/true", KTR_EXEC, 20, 20, 8, 2, 5);
	touch(k, LPL_FETCH, LPL_USER, 8, 0x400000);
	assert_int_equal(k->last_task.serial, 2);
	assert_int_equal(k->last_task.tid, 20);
	assert_int_equal(k->last_task.process, 1);
	assert_int_equal(k->last_task.name_length, 4);
	SEND_BY(k, 20, 20, KTR_EXIT, 20, 20, 0, 1);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 0x80, 0, 0, 0);
	assert_int_equal(k->final[1], LPL_TASK_EXITED);
	assert_int_equal(k->final[2], LPL_TASK_EXITED);
	assert_int_equal(anomalies(k), 0);
	assert_int_equal(stats(k)->tasks, 2);
	assert_int_equal(stats(k)->live_tasks, 0);
}

static void processes_are_numbered(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_TASK_CREATE, 2, 2, 0, 0);		/* a kernel thread */
	assert_int_equal(k->task.process, 0);
	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	assert_int_equal(k->task.process, 1);
	SEND(k, KTR_TASK_CREATE, 21, 20, 7, 0x10100);
	assert_int_equal(k->task.process, 1);
	SEND(k, KTR_TASK_CREATE, 22, 22, 8, 0);
	assert_int_equal(k->task.process, 2);
	/* it lasts as long as any of its tasks */
	SEND(k, KTR_EXIT, 20, 20, 0, 0);
	SEND(k, KTR_TASK_CREATE, 23, 20, 7, 0x10100);
	assert_int_equal(k->task.process, 1);
	SEND(k, KTR_EXIT, 21, 20, 0, 0);
	SEND(k, KTR_EXIT, 23, 20, 0, 1);
	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);		/* and then it is another */
	assert_int_equal(k->task.process, 3);
	/* a kernel thread that executes a program */
	SEND(k, KTR_SCHEDULE, 0, 0, 2, 2, 0);
	SEND_BY(k, 2, 2, KTR_TASK_CREATE, 30, 30, 0, 0);
	assert_int_equal(k->task.process, 0);
	assert_int_equal(k->task.parent, 1);
	SEND_BY(k, 2, 2, KTR_SCHEDULE, 2, 1, 30, 30, 0);
	SEND_BY(k, 30, 30, KTR_SPACE_ASSIGN, 30, 30, 9);
	assert_int_equal(k->task.process, 4);
	assert_int_equal(k->task.space, 9);
	/* giving up its space in its exit it remains a process */
	SEND_BY(k, 30, 30, KTR_SCHEDULE, 30, 0, 2, 2, 0);
	SEND_BY(k, 2, 2, KTR_SCHEDULE, 2, 1, 30, 30, 0);
	touch(k, LPL_READ, 0, 9, KERNEL);
	assert_int_equal(k->last_task.process, 4);
	assert_int_equal(anomalies(k), 0);
}

static void names_are_the_last_known(void **state)
{
	struct keeper *k = *state;

	SEND_TEXT(k, 0, 0, "sh", KTR_TASK_CREATE, 20, 20, 7, 0);
	assert_int_equal(k->task.name_length, 2);
	assert_memory_equal(k->task.name, "sh", 2);
	SEND_TEXT(k, 0, 0, "sh: worker", KTR_SCHEDULE, 0, 0, 20, 20, 7);
	assert_memory_equal(k->task.name, "sh: worker", 10);
	SEND_TEXT(k, 20, 20, "/usr/bin/a-rather-long-name-of-a-program-that-is-longer-than-64-"
		  "bytes-in-its-last-part", KTR_EXEC, 20, 20, 7, 1, 1);
	assert_int_equal(k->task.name_length, LPL_TASK_NAME);
	assert_memory_equal(k->task.name, "a-rather-long-name", 18);
	SEND_TEXT(k, 20, 20, "/bin/", KTR_EXEC, 20, 20, 7, 1, 1);	/* no name at all */
	assert_memory_equal(k->task.name, "a-rather-long-name", 18);
	SEND_TEXT(k, 20, 20, "idle", KTR_SCHEDULE, 20, 1, 0, 0, 0);
	assert_int_equal(k->task.serial, 0);
	assert_memory_equal(k->task.name, "idle", 4);
	assert_int_equal(anomalies(k), 0);
}

/* A program that loads a module reports all that exist already. */
static void a_snapshot_knows_no_parents(void **state)
{
	struct keeper *k = *state;

	/* seen before it is reported */
	SEND_BY(k, 1, 1, KTR_SCHEDULE, 1, 0, 15, 15, 0);
	SEND_BY(k, 15, 15, KTR_SCHEDULE, 15, 2, 1, 1, 7);
	SEND_BY(k, 1, 1, KTR_TASK_CREATE, 1, 1, 7, 0);
	SEND_BY(k, 1, 1, KTR_TASK_CREATE, 2, 2, 0, 0);
	assert_int_equal(k->task.parent, 0);
	SEND_BY(k, 1, 1, KTR_TASK_CREATE, 15, 15, 0, 0);
	SEND_BY(k, 1, 1, KTR_TASK_CREATE, 18, 18, 9, 0);
	assert_int_equal(k->task.parent, 0);
	SEND_BY(k, 1, 1, KTR_SPACE_ASSIGN, 18, 18, 9);
	/* and this is a fork */
	SEND_BY(k, 1, 1, KTR_SPACE_DUPLICATE, 7, 11);
	SEND_BY(k, 1, 1, KTR_TASK_CREATE, 19, 19, 11, 0);
	assert_int_equal(k->task.parent, 1);		/* 1 was the first to be met */
	/* and this a thread */
	SEND_BY(k, 1, 1, KTR_TASK_CREATE, 20, 1, 7, 0x10100);
	assert_int_equal(k->task.parent, 1);
	finish(k);
	assert_int_equal(anomalies(k), 0);
	assert_int_equal(stats(k)->tasks, 6);
}

/* Without a snapshot those that were there before are never reported. */
static void without_a_snapshot_tasks_are_implied(void **state)
{
	struct keeper *k = *state;

	SEND_BY(k, 5, 4, KTR_MARK, 0);
	touch(k, LPL_READ, 0, 7, KERNEL);
	assert_int_equal(k->last_task.tid, 5);
	assert_int_equal(k->last_task.tgid, 4);
	SEND_BY(k, 5, 4, KTR_SCHEDULE, 5, 1, 9, 9, 8);
	touch(k, LPL_READ, LPL_USER, 8, 0x1000);
	assert_int_equal(k->last_task.space, 8);
	SEND_BY(k, 9, 9, KTR_EXIT, 9, 9, 0, 1);
	assert_int_equal(anomalies(k), 0);
	SEND_BY(k, 9, 9, KTR_SCHEDULE, 9, 0x80, 5, 4, 7);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_SCHEDULE], 1);
	finish(k);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_SCHEDULE], 2);
	assert_int_equal(anomalies(k), 2);
}

static void missed_events_show(void **state)
{
	struct keeper *k = *state;

	SEND(k, KTR_TASK_CREATE, 20, 20, 7, 0);
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 7);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 1, 0, 0, 0);
	/* it executed meanwhile */
	SEND(k, KTR_SCHEDULE, 0, 0, 20, 20, 8);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_MISSED_ASSIGN], 1);
	assert_int_equal(k->task.space, 8);
	/* it exited, and its id was used again */
	SEND_BY(k, 20, 20, KTR_TASK_CREATE, 20, 20, 9, 0);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TASK_CREATE], 1);
	assert_int_equal(k->final[1], LPL_TASK_LOST);
	touch(k, LPL_READ, 0, 9, KERNEL);
	assert_int_equal(k->last_task.serial, 2);
	assert_int_equal(anomalies(k), 2);
	/* a tid in another process than before is another task, whatever reports it */
	SEND_BY(k, 20, 20, KTR_TASK_CREATE, 30, 30, 11, 0);
	SEND_BY(k, 20, 20, KTR_SCHEDULE, 20, 1, 30, 29, 11);
	assert_int_equal(k->final[3], LPL_TASK_LOST);
	SEND_BY(k, 30, 28, KTR_MARK, 0);
	assert_int_equal(k->final[4], LPL_TASK_LOST);
	assert_int_equal(k->event_task.serial, 5);
	SEND_BY(k, 30, 28, KTR_EXEC, 30, 27, 12, 0, 0);
	assert_int_equal(k->final[5], LPL_TASK_LOST);
	touch(k, LPL_READ, 0, 9, KERNEL);
	assert_int_equal(k->last_task.serial, 6);
	assert_int_equal(k->last_task.tgid, 27);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TASK_OTHER], 3);
	SEND_BY(k, 30, 27, KTR_EXIT, 30, 26, 0, 1);
	assert_int_equal(stats(k)->anomalies[LPL_ANOMALY_TASK_UNKNOWN], 1);
	assert_int_equal(k->final[6], LPL_TASK_LIVES);
	/* those that were never reported count when they end */
	assert_int_equal(anomalies(k), 2 + 3 + 1 + stats(k)->anomalies[LPL_ANOMALY_SCHEDULE]);
}

/* A state, whoever wrote it, may put it into a process with a leader that has exited. */
static void the_idle_task_takes_no_id(void **state)
{
	struct keeper *k = *state;

	SEND(k, LPL_EVENT_STATE, 1);
	SEND(k, LPL_EVENT_TASK_STATE, 0, 0, 0, 0, 5, 1, 0, 0, 0, 1, 1, KTR_NONE);
	SEND(k, LPL_EVENT_STATE, 0, 0, LPL_STATE_NO_SNAPSHOT, 0, 0);
	SEND_BY(k, 5, 5, KTR_MARK, 0);
	assert_int_equal(k->event_task.serial, 1);
	SEND_BY(k, 5, 7, KTR_MARK, 0);
	assert_int_equal(k->event_task.serial, 2);
	SEND_BY(k, 0, 0, KTR_MARK, 0);
	assert_int_equal(k->event_task.serial, 0);
	assert_int_equal(k->event_task.tid, 0);
	finish(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(exec_gives_a_new_space),
		T(references_belong_to_tasks),
		T(a_second_snapshot_lists_the_same_tasks),
		T(tasks_end_and_numbers_return),
		T(exiting_takes_time),
		T(a_thread_takes_its_leaders_id),
		T(processes_are_numbered),
		T(names_are_the_last_known),
		T(a_snapshot_knows_no_parents),
		T(without_a_snapshot_tasks_are_implied),
		T(missed_events_show),
		T(the_idle_task_takes_no_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
