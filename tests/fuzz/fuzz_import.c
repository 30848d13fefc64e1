/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the importers (libFuzzer, or anything that calls its entry point).
 *
 * The first byte chooses the format, of all there are, and the page size, the second
 * the memory of a behaviour sequence; the rest is the file.  Whatever comes out has to
 * be a valid stream.  What was read to its end is printed in the same format (in csv,
 * which has everything, where that is only read), read again and printed again: both
 * prints have to be the same.  Where the second byte is odd, formats that are recognised are not
 * named; else it also says what is in the header of pdats and pdats2 when printed.
 *
 * No fuzzer finds the numbers that the records of kVMTrace's log carry, so they are put
 * in unless the second byte is even.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <laplace/convert.h>
#include <laplace/kvmtrace_record.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZES = 3 };

/* The one with this number, modulo how many there are, by which `number` is divided. */
static const struct lpl_format *format_numbered(unsigned int *number)
{
	unsigned int count = 1, index;	/* there is one */

	while (lpl_format_at(count))
		count++;
	index = *number % count;
	*number /= count;
	return lpl_format_at(index);
}

/* Not of one that is to be recognised, which has no traits that matter here. */
static bool is(const struct lpl_format *format, enum lpl_format_trait trait)
{
	return format && (lpl_format_traits(format) & trait) != 0;
}

static bool is_recognised(const struct lpl_format *format)
{
	const char *name = lpl_format_name(format);

	return strcmp(name, "din") == 0 || strcmp(name, "hex") == 0 || strncmp(name, "pdats", 5) == 0;
}

/* A sink that checks what it gets and passes it on. */
struct checker {
	struct lpl_sink sink;
	struct lpl_sink *next;		/* NULL: none */
	uint64_t ref, instr, cycle;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_clocks(struct checker *checker, uint64_t ref, uint64_t instr, uint64_t cycle)
{
	check(ref >= checker->ref && instr >= checker->instr && cycle >= checker->cycle);
	checker->ref = ref;
	checker->instr = instr;
	checker->cycle = cycle;
}

static enum lpl_error check_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct checker *checker = (struct checker *)sink;

	for (size_t i = 0; i < count; i++) {
		const struct lpl_ref *ref = &refs[i];
		const uint64_t offset = ref->address & 4095;

		check(ref->type < LPL_TYPES && ref->reserved == 0 && ref->flags < 16);
		check(ref->flags & LPL_PAGED ? offset == 0 && ref->length == 0 :
		      ref->length >= 1 && ref->length <= 64 && offset + ref->length <= 4096);
		check(ref->ref > checker->ref || (ref->flags & LPL_SYNTHETIC));
		check_clocks(checker, ref->ref, ref->instr, ref->cycle);
	}
	return checker->next ? checker->next->refs(checker->next, refs, count, report) : LPL_OK;
}

static enum lpl_error check_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	struct checker *checker = (struct checker *)sink;

	check(event->text_length <= KTR_TEXT);
	check_clocks(checker, event->ref, event->instr, event->cycle);
	return checker->next ? checker->next->event(checker->next, event, report) : LPL_OK;
}

static enum lpl_error check_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct checker *checker = (struct checker *)sink;

	return checker->next ? checker->next->finish(checker->next, report) : LPL_OK;
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

/* The trace's header, as laplace import would write it. */
static struct lpl_meta *meta_of(const struct lpl_import_options *options)
{
	struct lpl_meta *meta = lpl_meta_new();
	const unsigned long long size = options->page_size ? options->page_size : 4096;
	char text[64], larger[32] = "";

	check(meta != NULL);
	snprintf(text, sizeof(text), "%llu", size);
	check(!lpl_meta_set(meta, LPL_META_PAGE_SIZE, text));
	if (size > 4096)
		snprintf(larger, sizeof(larger), "block:%llu+", size);
	if (is(options->format, LPL_FORMAT_BEHAVIOUR)) {
		snprintf(text, sizeof(text), "%s%s:%llu", larger,
			 is(options->format, LPL_FORMAT_HITS) ? "annotated" : "lrubs",
			 (unsigned long long)options->memory);
		check(!lpl_meta_set(meta, LPL_META_REDUCTION, text));
	}
	return meta;
}

/* Import from `fd`, and print it as `format`, to the file that is returned; -1: neither worked. */
static int print_as(const struct lpl_format *format, struct lpl_import_options *options,
		    const struct lpl_pdats_options *pdats, int fd)
{
	struct checker checker = { .sink = { check_refs, check_event, check_finish } };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_meta *meta = meta_of(options);
	struct lpl_exporter *exporter;
	struct lpl_importer *importer;
	int out = file_of("", 0);

	check(!lpl_exporter_open(&exporter, &(struct lpl_export_options){
		.format = format, .meta = meta, .trace = "trace", .output = "output",
		.fd = out, .events = true, .pdats = *pdats }, &report));
	checker.next = lpl_exporter_sink(exporter);
	check(!lpl_importer_open(&importer, options, &report));
	if (lpl_importer_run(importer, fd, &checker.sink, &report)) {
		check(report.error != LPL_ERR_INTERNAL && report.text[0]);
		close(out);
		out = -1;
	}
	lpl_importer_close(importer);
	lpl_exporter_close(exporter);
	lpl_meta_free(meta);
	close(fd);
	return out;
}

/* ... as it was, unless it cannot be. */
static int print_again(struct lpl_import_options *options,
		       const struct lpl_pdats_options *pdats, int fd)
{
	return print_as(!options->format || is(options->format, LPL_FORMAT_IMPORT_ONLY)
				? lpl_format_find("csv") : options->format, options, pdats, fd);
}

/* A format that is written only gets what the input says in one that has every field. */
static void print_once(const struct lpl_format *format, struct lpl_import_options *options, int fd)
{
	const struct lpl_pdats_options pdats = { 0 };
	int out;

	options->format = lpl_format_find("csv");
	out = print_as(format, options, &pdats, fd);
	if (out >= 0)
		close(out);
}

static size_t contents(int fd, char **bytes)
{
	struct stat about;

	check(fstat(fd, &about) == 0);
	*bytes = malloc((size_t)about.st_size + 1);
	check(*bytes && pread(fd, *bytes, (size_t)about.st_size, 0) == about.st_size);
	return (size_t)about.st_size;
}

/* The input as a log of kVMTrace with numbered records. */
static int numbered_log(const uint8_t *data, size_t size)
{
	uint8_t *log = malloc(size + 1);
	int fd;

	check(log != NULL);
	memcpy(log, data, size);
	for (size_t at = 0; size - at >= sizeof(struct kvmtrace_record);
	     at += sizeof(struct kvmtrace_record))
		for (unsigned int i = 0; i < 4; i++)
			log[at + i] = (uint8_t)(at / sizeof(struct kvmtrace_record) >> (8 * i));
	fd = file_of(log, size);
	free(log);
	return fd;
}

static struct lpl_pdats_options pdats_options(const struct lpl_format *format, unsigned int dice)
{
	const char *name = lpl_format_name(format);
	const bool times = strcmp(name, "pdats") == 0;
	struct lpl_pdats_options options = { .bare = dice >> 1 & 1 };

	if (options.bare)
		return options;
	options.stride = 1U << (dice >> 2) % 5;
	options.address_bits = dice >> 5 & 1 ? 32 : 64;
	options.times = times && dice >> 6 & 1;
	options.modes = times && dice >> 7 & 1;
	return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lpl_import_options options = { .input = "input" };
	struct lpl_pdats_options pdats = { 0 };
	char *first, *second;
	size_t first_size, second_size;
	unsigned int number;
	int in, out, again;

	if (size < 2)
		return 0;
	number = data[0];
	options.format = format_numbered(&number);
	if (is(options.format, LPL_FORMAT_PAGES))
		options.page_size = UINT64_C(4096) << 4 * (number % SIZES);
	if (is(options.format, LPL_FORMAT_BEHAVIOUR))
		options.memory = 1 + data[1] % 8;
	in = strcmp(lpl_format_name(options.format), "kvmtrace") == 0 && data[1] % 2
	   ? numbered_log(data + 2, size - 2) : file_of(data + 2, size - 2);
	if (is(options.format, LPL_FORMAT_EXPORT_ONLY)) {
		print_once(options.format, &options, in);
		return 0;
	}
	if (is_recognised(options.format) && data[1] % 2)
		options.format = NULL;
	else if (strncmp(lpl_format_name(options.format), "pdats", 5) == 0)
		pdats = pdats_options(options.format, data[1]);
	out = print_again(&options, &pdats, in);
	if (out < 0)
		return 0;
	if (!options.format || is(options.format, LPL_FORMAT_IMPORT_ONLY)) {
		options.format = lpl_format_find("csv");
		options.page_size = 0;
	}
	first_size = contents(out, &first);
	check(lseek(out, 0, SEEK_SET) == 0);
	again = print_again(&options, &pdats, out);
	check(again >= 0);
	second_size = contents(again, &second);
	/* clocks of events are made where lines do not have them, and so come to rest */
	check(first_size == second_size && memcmp(first, second, first_size) == 0);
	free(first);
	free(second);
	close(again);
	return 0;
}
