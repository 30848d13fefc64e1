/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * make-trace OUT [CHUNK-REFERENCES] [unclosed]: write a trace from a
 * description on standard input, by the public API alone (but for segments, which no
 * other than a recording writes).  A line is one of
 *
 *	meta KEY VALUE
 *	runs		pack what follows as runs (docs/format.md, section 9)
 *	segments	OUT is a manifest, and what follows goes into segments (section 11)
 *	totals TOTAL R W I P Q USER TRACER	before reduction, from here on
 *	cost INSTRUCTIONS ELAPSED-NS WAIT-NS BYTES REFERENCES	a recording's; before totals
 *	lie N		let chunks say that there were N references before reduction,
 *			which no writer would; only `unclosed`
 *	TYPE REF INSTR CYCLE SPACE ADDRESS LENGTH [FLAGS]
 *					a reference: r, w, i, p, q; SPACE and
 *					ADDRESS in hex; FLAGS of the letters u
 *					(user), s (second), p (page; LENGTH is 0), and of p and q
 *					a (for a read, or sets the accessed bit), d (for a
 *					write, or sets the dirty bit), both (for a fetch)
 *	event TAG REF INSTR CYCLE SPACE TID TGID A,B,... TEXT
 *					numbers in decimal, SPACE and arguments
 *					in hex; - for no arguments, for no text; bytes of TEXT
 *					may be written as \xHH
 *	flush				end a chunk
 *	rotate				end a segment
 *	# ...				nothing
 *
 * meta lines, `runs` and `segments` come first.  With `unclosed` the trace gets no index and keeps
 * the name OUT.part, as if its writer had been killed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include <laplace/trace.h>

#include "container/segments.h"
#include "record/unescape.h"

struct maker {
	const char *path;
	struct lpl_writer_options options;
	struct lpl_meta *meta;
	struct lpl_writer *writer;	/* NULL until the first record */
	bool segmented;
	struct lpl_segments *segments;	/* then the writer is theirs */
	struct lpl_accounts recording;
	uint64_t wait_ns;
	bool lies;
	uint64_t lie;
	struct lpl_report report;
};

static bool open_writer(struct maker *maker)
{
	if (maker->writer)
		return true;
	if (!maker->segmented)
		return !lpl_writer_open(&maker->writer, maker->path, maker->meta,
					&maker->options, true, &maker->report);
	if (lpl_segments_open(&maker->segments, maker->path, maker->meta, &maker->options, NULL,
			      true, &maker->report))
		return false;
	maker->writer = lpl_segments_writer(maker->segments);
	return true;
}

static bool add_meta(struct maker *maker, char *line)
{
	char *value = line + strcspn(line, " ");

	if (*value)
		*value++ = '\0';
	return !maker->writer && !lpl_meta_set(maker->meta, line, value);
}

static bool set_totals(struct maker *maker, const char *line)
{
	struct lpl_totals totals = { .recording = maker->recording, .wait_ns = maker->wait_ns };

	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64, &totals.total, &totals.refs[0],
		   &totals.refs[1], &totals.refs[2], &totals.refs[3], &totals.refs[4],
		   &totals.user_refs, &totals.tracer_refs) != 8 || !open_writer(maker))
		return false;
	lpl_writer_totals(maker->writer, &totals);
	return true;
}

static bool set_cost(struct maker *maker, const char *line)
{
	struct lpl_accounts *recording = &maker->recording;

	return sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		      &recording->instructions, &recording->elapsed_ns, &maker->wait_ns,
		      &recording->sent_bytes, &recording->sent_refs) == 5;
}

static bool add_ref(struct maker *maker, const char *line)
{
	static const char letters[] = "rwipq";
	const char *type = strchr(letters, line[0]);
	struct lpl_ref ref = { 0 };
	struct lpl_sink *sink;
	char flags[8] = "";

	if (!type || sscanf(line + 1, " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx64
			    " %" SCNx64 " %" SCNu16 " %7s", &ref.ref, &ref.instr, &ref.cycle,
			    &ref.space, &ref.address, &ref.length, flags) < 6)
		return false;
	ref.type = (uint8_t)(type - letters);
	ref.flags = (uint8_t)((strchr(flags, 'u') ? LPL_USER : 0) |
			      (strchr(flags, 's') ? LPL_SECOND : 0) |
			      (strchr(flags, 'p') ? LPL_PAGED : 0) |
			      (strchr(flags, 'a') ? LPL_FOR_READ : 0) |
			      (strchr(flags, 'd') ? LPL_FOR_WRITE : 0));
	if (!open_writer(maker))
		return false;
	sink = lpl_writer_sink(maker->writer);
	return !sink->refs(sink, &ref, 1, &maker->report);
}

static bool add_event(struct maker *maker, const char *line)
{
	struct lpl_event event = { 0 };
	struct lpl_sink *sink;
	char args[512], text[4 * KTR_TEXT + 1] = "";
	char *rest = args, *arg;
	size_t n = 0;

	if (sscanf(line, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx64
		   " %" SCNu32 " %" SCNu32 " %511s %1024[^\n]", &event.tag, &event.ref,
		   &event.instr, &event.cycle, &event.space, &event.tid, &event.tgid, args,
		   text) != 9)
		return false;
	while (strcmp(args, "-") != 0 && n < KTR_ARGS && (arg = strsep(&rest, ",")))
		event.arg[n++] = strtoull(arg, NULL, 16);
	if (strcmp(text, "-") != 0 && !lpl_text_unescape(&event, text, text + strlen(text)))
		return false;
	if (!open_writer(maker))
		return false;
	sink = lpl_writer_sink(maker->writer);
	return !sink->event(sink, &event, &maker->report);
}

static bool take_line(struct maker *maker, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	if (!line[0] || line[0] == '#')
		return true;
	if (strncmp(line, "meta ", 5) == 0)
		return add_meta(maker, line + 5);
	if (strcmp(line, "runs") == 0)
		return maker->options.blocks = !maker->writer;
	if (strncmp(line, "totals ", 7) == 0)
		return set_totals(maker, line + 7);
	if (strncmp(line, "cost ", 5) == 0)
		return set_cost(maker, line + 5);
	if (strncmp(line, "lie ", 4) == 0)
		return maker->lies = sscanf(line + 4, "%" SCNu64, &maker->lie) == 1;
	if (strncmp(line, "event ", 6) == 0)
		return add_event(maker, line + 6);
	if (strcmp(line, "flush") == 0)
		return open_writer(maker) &&
		       !lpl_writer_flush(maker->writer, &maker->report);
	if (strcmp(line, "segments") == 0)
		return maker->segmented = !maker->writer;
	if (strcmp(line, "rotate") == 0)
		return maker->segments && !lpl_segments_rotate(maker->segments, &maker->report);
	return add_ref(maker, line);
}

static void put(unsigned char *at, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		at[i] = (unsigned char)(number >> 8 * i);
}

/* docs/format.md, section 2.1: `references before` in the header of each DATA chunk. */
static bool add_lie(const struct maker *maker)
{
	unsigned char header[144];
	char path[4096];
	FILE *file;
	long at = 0;

	(void)snprintf(path, sizeof(path), "%s.part", maker->path);
	file = fopen(path, "r+b");
	if (!file)
		return false;
	while (fseek(file, at, SEEK_SET) == 0 && fread(header, sizeof(header), 1, file) == 1) {
		long stored = header[16] | header[17] << 8 | (long)header[18] << 16;

		if (header[10] == 2) {
			put(header + 120, maker->lie);
			put(header + 136, XXH3_64bits(header, 136));
			if (fseek(file, at, SEEK_SET) != 0 ||
			    fwrite(header, sizeof(header), 1, file) != 1)
				break;
		}
		at += (long)sizeof(header) + stored;
	}
	bool done = feof(file) != 0;
	return fclose(file) == 0 && done;
}

static bool end(struct maker *maker, bool unclosed)
{
	struct lpl_sink *sink;

	if (!open_writer(maker))
		return false;
	sink = lpl_writer_sink(maker->writer);
	if (sink->finish(sink, &maker->report))
		return false;
	if (!unclosed && maker->segments)
		return !lpl_segments_close(maker->segments, &maker->report);
	if (!unclosed)
		return !lpl_writer_close(maker->writer, &maker->report);
	if (lpl_writer_flush(maker->writer, &maker->report))
		return false;
	if (maker->segments)
		lpl_segments_abandon(maker->segments);
	else
		lpl_writer_abandon(maker->writer);
	return !maker->lies || add_lie(maker);
}

int main(int argc, char **argv)
{
	struct maker maker = { .path = argv[1] };
	bool unclosed = argc > 3 && strcmp(argv[3], "unclosed") == 0;
	bool good = true;
	char *line = NULL;
	size_t room = 0;
	int number = 0;

	if (argc < 2)
		return 2;
	if (argc > 2)
		maker.options.chunk_refs = strtoul(argv[2], NULL, 10);
	maker.meta = lpl_meta_new();
	while (good && getline(&line, &room, stdin) >= 0) {
		number++;
		good = take_line(&maker, line);
		if (!good)
			fprintf(stderr, "make-trace: line %d: %.100s %s\n", number, line,
				maker.report.text);
	}
	free(line);
	if (!good && maker.segments)
		lpl_segments_abandon(maker.segments);
	else if (!good && maker.writer)
		lpl_writer_abandon(maker.writer);
	if (good && !end(&maker, unclosed)) {
		fprintf(stderr, "make-trace: %s\n", maker.report.text);
		good = false;
	}
	lpl_meta_free(maker.meta);
	return good ? 0 : 1;
}
