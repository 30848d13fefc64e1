/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kill -9 of a program that writes a trace, at random moments.  What it had flushed is there, and
 * up to the last whole chunk nothing else than what it had written.  $TRIALS: how many times.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "../unit/trace_file.h"

#define RECORDS 12000

/* What the program reports; it survives it. */
struct progress {
	_Atomic bool opened;
	_Atomic size_t sent, flushed;	/* records */
};

/* Never ends: whenever it is killed, it is at work, or has closed nothing yet. */
static _Noreturn void write_for_ever(const struct stream *stream, uint64_t seed,
				     struct progress *progress)
{
	const struct lpl_writer_options options = {
		.chunk_refs = 30 + seed % 100, .level = 1, .blocks = seed % 3 == 0,
		.jobs = 1 + seed % 2
	};
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = some_meta();
	struct lpl_writer *writer;
	uint64_t random = seed;
	size_t done = 0;

	if (lpl_writer_open(&writer, in_directory("kill.lpl"), meta, &options, true, &report))
		_exit(1);
	atomic_store(&progress->opened, true);
	while (done < stream->count) {
		size_t most = stream->count - done, count = 1 + next_random(&random) % 90;

		count = count < most ? count : most;
		if (stream_send(stream, done, count, lpl_writer_sink(writer), random, &report))
			_exit(1);
		done += count;
		atomic_store(&progress->sent, done);
		if (next_random(&random) % 4 != 0)
			continue;
		if (lpl_writer_flush(writer, &report))
			_exit(1);
		atomic_store(&progress->flushed, done);
	}
	for (;;)
		(void)pause();
}

static void nap(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = 10000 }, NULL);
}

/* What the file holds, which may end within a chunk and is not damaged. */
static void check_part(const struct stream *stream, const struct progress *progress, uint64_t seed)
{
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;
	struct stream found;
	enum lpl_error error;

	assert_false(exists("kill.lpl"));
	stream_init(&found);
	if (lpl_reader_open(&reader, in_directory("kill.lpl.part"), &report) != LPL_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, report.text);
	lpl_reader_compare_hash(reader);
	error = lpl_reader_run(reader, &found.sink, &report);
	if ((error != LPL_OK && error != LPL_ERR_TRUNCATED) || lpl_reader_complete(reader))
		fail_msg("seed %" PRIu64 ": %s", seed, report.text);
	lpl_reader_close(reader);
	if (found.count < atomic_load(&progress->flushed))
		fail_msg("seed %" PRIu64 ": %zu records of %zu that were flushed", seed, found.count,
			 atomic_load(&progress->flushed));
	if (stream_difference(stream, &found, found.count) != found.count)
		fail_msg("seed %" PRIu64 ": another stream", seed);
	stream_free(&found);
}

static void what_was_flushed_is_there(void **unused)
{
	const char *trials = getenv("TRIALS");
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct stream stream;

	(void)unused;
	assert_true(progress != MAP_FAILED);
	stream_random(&stream, RECORDS, STREAM_RAW, 1);
	for (uint64_t seed = 1; seed <= (trials ? strtoull(trials, NULL, 10) : 120); seed++) {
		uint64_t random = seed;
		size_t target = next_random(&random) % RECORDS;
		int status = 0;
		pid_t pid;

		memset(progress, 0, sizeof(*progress));
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			write_for_ever(&stream, seed, progress);
		while (!atomic_load(&progress->opened) || atomic_load(&progress->sent) < target) {
			assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
			nap();
		}
		for (uint64_t naps = next_random(&random) % 4; naps > 0; naps--)
			nap();
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		check_part(&stream, progress, seed);
	}
	stream_free(&stream);
	(void)munmap(progress, sizeof(*progress));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_flushed_is_there),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
