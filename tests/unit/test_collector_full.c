/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A collector on a disk that is full, or that fails.  The disk is the test's: it has so many
 * bytes, which may become more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "sender.h"

#define PATIENCE 6000		/* hundredths of a second until something is taken for hanging */
#define FILE_NAME "full.lpl"
#define ROOM 50000		/* bytes, where there is an end */

enum { PARTS = 7, RECORDS = 4000 };

static void nap(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* ---- the disk ---- */

static struct {
	char part[128];			/* path of the file that it is for */
	_Atomic uint64_t capacity;	/* of the file; UINT64_MAX: there is no end */
	bool reserves;			/* it can */
	_Atomic int sync_error;
	_Atomic unsigned int syncs;
} disk;

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

static bool is_ours(int fd)
{
	struct stat file, part;

	return fstat(fd, &file) == 0 && stat(disk.part, &part) == 0 &&
	       file.st_dev == part.st_dev && file.st_ino == part.st_ino;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	uint64_t end, most = atomic_load(&disk.capacity);

	if (most == UINT64_MAX || !is_ours(fd))
		return __real_write(fd, bytes, size);
	end = (uint64_t)lseek(fd, 0, SEEK_CUR);
	if (end >= most) {
		errno = ENOSPC;
		return -1;
	}
	return __real_write(fd, bytes, size < most - end ? size : most - end);
}

int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length)
{
	(void)fd;
	assert_int_equal(mode, FALLOC_FL_KEEP_SIZE);
	if (!disk.reserves) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if ((uint64_t)(offset + length) > atomic_load(&disk.capacity)) {
		errno = ENOSPC;
		return -1;
	}
	return 0;
}

int __wrap_fdatasync(int fd)
{
	atomic_fetch_add(&disk.syncs, 1);
	errno = atomic_load(&disk.sync_error);
	return errno ? -1 : __real_fdatasync(fd);
}

/* Before each case. */
static int clear(void **state)
{
	(void)state;
	(void)unlink(in_directory(FILE_NAME));
	(void)snprintf(disk.part, sizeof(disk.part), "%s", in_directory(FILE_NAME ".part"));
	(void)unlink(disk.part);
	return 0;
}

/* ---- a recording ---- */

struct recording {
	struct lpl_collector *collector;
	struct sender sender;
	struct stream sent, kept;
	atomic_int said;
	char first[1024], last[1024];	/* that were said */
	atomic_bool ending;
};

static void say(void *context, const char *text)
{
	struct recording *r = context;

	if (atomic_load(&r->said) == 0)
		(void)snprintf(r->first, sizeof(r->first), "%s", text);
	(void)snprintf(r->last, sizeof(r->last), "%s", text);
	atomic_fetch_add(&r->said, 1);
}

static bool is_ending(void *context)
{
	return atomic_load(&((struct recording *)context)->ending);
}

static void begin(struct recording *r, bool reserves, bool waits, uint64_t capacity)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = lpl_meta_new();
	struct lpl_plan plan;
	struct lpl_collector_options options = {
		.path = in_directory(FILE_NAME), .plan = &plan, .meta = meta,
		.stage = LPL_STAGE_FILE, .ring_records = 1 << 18, .status_fd = -1,
		.overwrite = true, .wait_for_room = waits, .is_ending = is_ending, .complain = say,
		.sync_ns = capacity == UINT64_MAX ? 1 : 0, .context = r,
	};

	memset(r, 0, sizeof(*r));
	disk.reserves = reserves;
	atomic_store(&disk.capacity, capacity);
	atomic_store(&disk.sync_error, 0);
	atomic_store(&disk.syncs, 0);
	assert_non_null(meta);
	assert_int_equal(lpl_plan_parse(&plan, "window:9", &report), LPL_OK);
	if (lpl_collector_open(&r->collector, &options, &report) != LPL_OK)
		fail_msg("%s", report.text);
	lpl_meta_free(meta);
	r->sender = (struct sender){ lpl_collector_ring(r->collector), 0 };
	stream_init(&r->kept);
	simulate(&r->sent, PARTS * RECORDS, 21);
}

/* In parts, each flushed; the ring has room for all of them, and no one waits for it. */
static void send_all(struct recording *r)
{
	for (size_t i = 0; i < PARTS; i++) {
		struct stream part = { .items = r->sent.items + i * RECORDS, .count = RECORDS };
		struct stream kept;

		put_windows(&r->sender, &part, &kept, 1);
		for (size_t k = 0; k < kept.count; k++)
			*stream_add(&r->kept) = kept.items[k];
		stream_free(&kept);
		assert_true(put(r->sender.ring, 0, 0, 0, LPL_WIRE_KIND(LPL_WIRE_FLUSH)));
		lpl_ring_publish(r->sender.ring);
	}
}

static struct lpl_collector_status wait_until_waiting(const struct recording *r)
{
	struct lpl_collector_status status;

	for (int tries = 0; tries < PATIENCE; tries++) {
		lpl_collector_status(r->collector, &status);
		if (status.waiting_for_room && status.room_wait_ns > 0)
			return status;
		nap();
	}
	fail_msg("it does not wait for room");
	return status;
}

static void end(struct recording *r)
{
	stream_free(&r->sent);
	stream_free(&r->kept);
}

/* How many records the ".part" has, which ends after a chunk; they are the first that were kept. */
static size_t count_part(const struct recording *r)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader = NULL;
	struct stream found;
	size_t count;

	stream_init(&found);
	assert_int_equal(lpl_reader_open(&reader, in_directory(FILE_NAME ".part"), &report), LPL_OK);
	if (lpl_reader_run(reader, &found.sink, &report) != LPL_OK)
		fail_msg("%s", report.text);
	assert_false(lpl_reader_complete(reader));
	lpl_reader_close(reader);
	count = found.count;
	assert_true(count > 0 && count < r->kept.count);
	assert_int_equal(stream_difference(&r->kept, &found, count), count);
	stream_free(&found);
	return count;
}

/* ---- what is expected ---- */

/* The disk has room again after a while: nothing is missing.  With and without reservation. */
static void waits_and_goes_on(void **state)
{
	(void)state;
	for (int reserves = 0; reserves < 2; reserves++) {
		struct lpl_collector_status status;
		struct recording r;
		struct trace trace;

		begin(&r, reserves, true, ROOM);
		send_all(&r);
		status = wait_until_waiting(&r);
		assert_int_equal(atomic_load(&r.said), 1);
		assert_non_null(strstr(r.first, FILE_NAME ".part: no room for"));
		assert_non_null(strstr(r.first, strerror(ENOSPC)));
		assert_true(status.flushes < PARTS);
		if (reserves)
			(void)count_part(&r);
		atomic_store(&disk.capacity, UINT64_MAX);
		finish(r.collector);
		assert_int_equal(atomic_load(&r.said), 2);
		assert_non_null(strstr(r.last, "goes on"));
		read_trace(&trace, in_directory(FILE_NAME));
		assert_same(&r.kept, &trace.stream, 21);
		stream_free(&trace.stream);
		end(&r);
	}
}

/* How many records the trace has that ended early; they are the first, and after them is a gap. */
static size_t count_ended(const struct recording *r)
{
	const struct item *last;
	struct trace trace;
	size_t count;

	read_trace(&trace, in_directory(FILE_NAME));
	assert_true(trace.stream.count > 1);
	count = trace.stream.count - 1;
	assert_true(count < r->kept.count);
	assert_int_equal(stream_difference(&r->kept, &trace.stream, count), count);
	last = &trace.stream.items[count];
	assert_true(last->is_event);
	assert_int_equal(last->event.tag, LPL_EVENT_GAP);
	assert_true(last->event.arg[LPL_EVENT_GAP_REFERENCES] == KTR_NONE);
	stream_free(&trace.stream);
	return count;
}

/*
 * Waiting is ended from outside, or it is not waited at all: the trace has its name and its index,
 * and says after its last record that others are missing.
 */
static void ends_properly(void **state)
{
	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		struct lpl_report report = { .error = LPL_OK };
		struct recording r;
		struct stat status;
		size_t count = 0;

		begin(&r, true, waits, ROOM);
		send_all(&r);
		if (waits) {
			(void)wait_until_waiting(&r);
			count = count_part(&r);
			atomic_store(&r.ending, true);
		}
		assert_int_equal(lpl_collector_close(r.collector, "clean", NULL, &report),
				 LPL_ERR_FULL);
		assert_non_null(strstr(report.text, FILE_NAME ": ends early"));
		assert_non_null(strstr(report.text, strerror(ENOSPC)));
		assert_false(exists(FILE_NAME ".part"));
		assert_int_equal(stat(in_directory(FILE_NAME), &status), 0);
		assert_true(status.st_size <= ROOM);
		if (waits)
			assert_int_equal(count_ended(&r), count);
		else
			assert_true(count_ended(&r) > 0);
		end(&r);
	}
}

/*
 * Nothing could be reserved: the trace ends properly in the room of the chunk that did not fit, or
 * what is whole is in the ".part".
 */
static void ends_in_what_is_left(void **state)
{
	int ended = 0;

	for (uint64_t room = ROOM; room < ROOM + 4000; room += 1000) {
		struct lpl_report report = { .error = LPL_OK };
		struct recording r;

		(void)clear(state);
		begin(&r, false, false, room);
		send_all(&r);
		assert_int_equal(lpl_collector_close(r.collector, "clean", NULL, &report),
				 LPL_ERR_FULL);
		if (exists(FILE_NAME)) {
			assert_non_null(strstr(report.text, FILE_NAME ": ends early"));
			assert_false(exists(FILE_NAME ".part"));
			assert_true(count_ended(&r) > 0);
			ended++;
		} else {
			assert_non_null(strstr(report.text, FILE_NAME ".part: no room for"));
			assert_true(exists(FILE_NAME ".part"));
		}
		end(&r);
	}
	assert_true(ended > 0);
}

/* ---- barriers ---- */

static void syncs(void **state)
{
	struct lpl_collector_status status = { .syncs = 0 };
	struct recording r;
	struct trace trace;

	(void)state;
	begin(&r, true, true, UINT64_MAX);
	for (int tries = 0; tries < PATIENCE && status.syncs < 2; tries++) {
		lpl_collector_status(r.collector, &status);
		nap();
	}
	assert_true(status.syncs >= 2 && status.syncs <= atomic_load(&disk.syncs));
	assert_true(status.sync_ns > 0);
	send_all(&r);
	finish(r.collector);
	read_trace(&trace, in_directory(FILE_NAME));
	assert_same(&r.kept, &trace.stream, 21);
	stream_free(&trace.stream);
	end(&r);
}

/* It is not known what of it is on the disk: nothing more is written. */
static void a_disk_that_fails(void **state)
{
	struct lpl_report report = { .error = LPL_OK };
	struct recording r;

	(void)state;
	begin(&r, true, true, UINT64_MAX);
	atomic_store(&disk.sync_error, EIO);
	for (int tries = 0; tries < PATIENCE; tries++) {
		if (lpl_collector_failure(r.collector, NULL) != LPL_OK)
			break;
		nap();
	}
	assert_int_equal(lpl_collector_close(r.collector, "clean", NULL, &report), LPL_ERR_IO);
	assert_non_null(strstr(report.text, FILE_NAME ".part: cannot be synced"));
	assert_non_null(strstr(report.text, strerror(EIO)));
	assert_false(exists(FILE_NAME));
	assert_true(exists(FILE_NAME ".part"));
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(waits_and_goes_on, clear),
		cmocka_unit_test_setup(ends_properly, clear),
		cmocka_unit_test_setup(ends_in_what_is_left, clear),
		cmocka_unit_test_setup(syncs, clear),
		cmocka_unit_test_setup(a_disk_that_fails, clear),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
