/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion by the library alone (convert.h) when the disk or the memory is full. */
#include <laplace/kvmtrace_record.h>

#include "conversion.h"

/* ---- a disk and a memory that fail: calls come by here (--wrap) ---- */

static struct {
	int fd;			/* on which nothing is ever written, without a reason */
	unsigned int tries;	/* there */
	long allocations;	/* that still work; negative: all */
} broken = { .fd = -1, .allocations = -1 };

ssize_t __real_write(int fd, const void *bytes, size_t count);
ssize_t __wrap_write(int fd, const void *bytes, size_t count);
ssize_t __real_pwrite64(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool is_broken(int fd)
{
	if (fd != broken.fd)
		return false;
	if (++broken.tries > 1000)
		fail_msg("it is tried again and again");
	return true;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t count)
{
	return is_broken(fd) ? 0 : __real_write(fd, bytes, count);
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
	return is_broken(fd) ? 0 : __real_pwrite64(fd, bytes, count, offset);
}

static bool is_full(void)
{
	if (broken.allocations < 0)
		return false;
	if (broken.allocations == 0)
		return true;
	broken.allocations--;
	return false;
}

void *__wrap_malloc(size_t size)
{
	return is_full() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_full() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return is_full() ? NULL : __real_realloc(memory, size);
}

/* ---- a full disk ---- */

/* write() of a regular file may return 0 instead of an error; it is one. */
static void nothing_written_is_an_error(void **unused)
{
	static const char *const formats[] = { "csv", "npy" };	/* write(), and pwrite() */
	const struct lpl_ref ref = { .ref = 1, .length = 4 };

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		struct lpl_meta *meta = meta_of("none");
		const struct lpl_export_options options = {
			.format = format_of(formats[i]), .meta = meta, .fd = file_of(""),
			.trace = "trace", .output = "output",
		};
		struct lpl_report report = { .error = LPL_OK };
		struct lpl_exporter *exporter;
		struct lpl_sink *sink;
		int error = LPL_OK;

		assert_int_equal(lpl_exporter_open(&exporter, &options, &report), LPL_OK);
		sink = lpl_exporter_sink(exporter);
		/* npy: enough that its header is in the file before it is completed */
		for (size_t j = 0; j < (i == 0 ? 1 : 30000) && !error; j++)
			error = sink->refs(sink, &ref, 1, &report);
		assert_int_equal(error, LPL_OK);
		broken.tries = 0;
		broken.fd = options.fd;
		assert_int_equal(sink->finish(sink, &report), LPL_ERR_IO);
		broken.fd = -1;
		assert_int_equal(report.system_errno, ENOSPC);
		lpl_exporter_close(exporter);
		lpl_meta_free(meta);
		close(options.fd);
	}
}

/* ---- a full memory ---- */

static struct lpl_sink ignore;

static enum lpl_error ignore_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				  struct lpl_report *report)
{
	(void)sink;
	(void)refs;
	(void)count;
	(void)report;
	return LPL_OK;
}

static enum lpl_error ignore_event(struct lpl_sink *sink, const struct lpl_event *event,
				   struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error ignore_end(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)sink;
	(void)report;
	return LPL_OK;
}

/* A log with something for each of an importer's maps. */
static int kvmtrace_log(void)
{
	struct kvmtrace_record log[] = {
		{ .kind = KVMTRACE_START, .address = KVMTRACE_MAGIC,
		  .is.word = { KVMTRACE_VERSION, 16, 0, 48 } },
		{ .kind = KVMTRACE_TASK, .pid = 2, .tgid = 2, .space = 11, .is.name = "sh" },
		{ .kind = KVMTRACE_REFERENCE, .pid = 2, .tgid = 2, .space = 11,
		  .address = 0x8049000, .is.word = { 0, 0, 0, 0x51 } },
		{ .kind = KVMTRACE_REFERENCE, .pid = 2, .tgid = 2, .space = 11,
		  .address = 0x40000000, .is.word = { 0x301, 42, 3, 0x52 } },
		{ .kind = KVMTRACE_FORK, .pid = 2, .tgid = 2, .space = 11,
		  .is.word = { 3, 3, 22, 0 } },
		{ .kind = KVMTRACE_FILE, .pid = 3, .tgid = 3, .space = 22,
		  .is.word = { 0x301, 43, 3, 0x53 } },
		{ .kind = KVMTRACE_REMAP, .pid = 3, .tgid = 3, .space = 22, .address = 0x8049000,
		  .is.word = { 0x60000000, 0x1000, 0, 0 } },
		{ .kind = KVMTRACE_SPACE_END, .pid = 3, .tgid = 3, .space = 22 },
		{ .kind = KVMTRACE_STOP },
	};
	const int fd = memfd_create("log", MFD_CLOEXEC);

	for (uint32_t i = 0; i < sizeof(log) / sizeof(log[0]); i++)
		log[i].sequence = i;
	assert_int_equal(write(fd, log, sizeof(log)), sizeof(log));
	return fd;
}

static void no_memory_is_an_error(void **unused)
{
	static const char *const formats[] = { "kvmtrace", "pages" };

	(void)unused;
	ignore = (struct lpl_sink){ ignore_refs, ignore_event, ignore_end };
	for (size_t i = 0; i < 2; i++) {
		const struct lpl_import_options options = { .format = format_of(formats[i]),
							    .input = "input" };
		const int log = i == 0 ? kvmtrace_log() : file_of("1\n2\n");
		enum lpl_error error;
		long most = 0;

		do {
			struct lpl_report report = { .error = LPL_OK };
			const int fd = dup(log);

			assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
			broken.allocations = most++;
			error = import(&options, fd, &ignore, &report);
			broken.allocations = -1;
			if (error)
				assert_int_equal(error, LPL_ERR_MEMORY);
			assert_int_equal(report.error, error);
		} while (error);
		/* the importer, its buffer; and the log's seven maps and two arrays */
		assert_true(most > (i == 0 ? 10 : 2));
		close(log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_written_is_an_error),
		cmocka_unit_test(no_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
