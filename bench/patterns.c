/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patterns TRACE STRIDE: the statistics of the figures 3 to 5 in Johnson, "PDATS II".
 *
 *	figure 3	runs: a fetch that does not follow the one before, and the fetches in sequence
 *			after it, up to the next data reference
 *	figure 4	clusters: a data reference, and the fetches in sequence after it, one or more
 *	figure 5	offsets of data references from the one of the same type before
 *
 * A fetch is in sequence where it begins at the end of the one before.  STRIDE is how long a fetch is
 * in a trace of a format without lengths; 0: as long as the trace says.  The part of an instruction
 * that lies on the next page belongs to it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <laplace/trace.h>

enum { LONGEST = 32, FARTHEST = 64, SHOWN = 12 };

struct patterns {
	struct lpl_sink sink;
	unsigned int stride;
	uint64_t next;			/* where a fetch in sequence begins */
	uint64_t data[2];		/* of the last read, and write */
	/* the fetches since a jump, or a data reference, of which there are none yet ... */
	enum { NEITHER, RUN, CLUSTER } kind;
	size_t length;
	/* fetches in runs and clusters, by how many are in one; longer ones are in the last */
	uint64_t in_runs[LONGEST + 1], in_clusters[LONGEST + 1];
	uint64_t refs, fetches, data_refs, jumps;
	uint64_t offsets[2 * FARTHEST + 1];	/* how many, from -FARTHEST on */
};

/* ---- counting ---- */

static void end_sequence(struct patterns *patterns)
{
	const size_t length = patterns->length < LONGEST ? patterns->length : LONGEST;

	if (patterns->kind == RUN)
		patterns->in_runs[length] += patterns->length;
	if (patterns->kind == CLUSTER)
		patterns->in_clusters[length] += patterns->length;
	patterns->kind = NEITHER;
	patterns->length = 0;
}

static void count_fetch(struct patterns *patterns, const struct lpl_ref *ref)
{
	if (ref->flags & LPL_SECOND && ref->address == patterns->next) {
		patterns->next += ref->length;
		return;
	}
	patterns->fetches++;
	if (ref->address != patterns->next) {
		end_sequence(patterns);
		patterns->kind = RUN;
		patterns->jumps++;
	}
	patterns->length++;
	patterns->next = ref->address + (patterns->stride ? patterns->stride : ref->length);
}

static void count_datum(struct patterns *patterns, const struct lpl_ref *ref)
{
	uint64_t *last = &patterns->data[ref->type == LPL_WRITE || ref->type == LPL_WALK_WRITE];
	const uint64_t offset = ref->address - *last + FARTHEST;

	end_sequence(patterns);
	patterns->kind = CLUSTER;
	patterns->data_refs++;
	if (offset <= (uint64_t)2 * FARTHEST)
		patterns->offsets[offset]++;
	*last = ref->address;
}

static enum lpl_error count_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				 struct lpl_report *report)
{
	struct patterns *patterns = (struct patterns *)sink;

	(void)report;
	patterns->refs += count;
	for (size_t i = 0; i < count; i++)
		(refs[i].type == LPL_FETCH ? count_fetch : count_datum)(patterns, &refs[i]);
	return LPL_OK;
}

static enum lpl_error count_event(struct lpl_sink *sink, const struct lpl_event *event,
				  struct lpl_report *report)
{
	(void)sink;
	(void)event;
	(void)report;
	return LPL_OK;
}

static enum lpl_error finish(struct lpl_sink *sink, struct lpl_report *report)
{
	(void)report;
	end_sequence((struct patterns *)sink);
	return LPL_OK;
}

/* ---- printing ---- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_lengths(const struct patterns *patterns)
{
	static const size_t shown[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 31 };
	uint64_t runs = 0, clusters = 0;
	size_t next = 0;

	puts("percent of all fetches in sequences of at most so many (figures 3 and 4)");
	puts("length  after a jump  after a datum");
	for (size_t length = 1; length < LONGEST; length++) {
		runs += patterns->in_runs[length];
		clusters += patterns->in_clusters[length];
		if (length != shown[next])
			continue;
		printf("%6zu %13.2f %14.2f\n", length, percent(runs, patterns->fetches),
		       percent(clusters, patterns->fetches));
		next++;
	}
	printf("longer %13.2f %14.2f\n",
	       percent(runs + patterns->in_runs[LONGEST], patterns->fetches),
	       percent(clusters + patterns->in_clusters[LONGEST], patterns->fetches));
}

static void print_offsets(struct patterns *patterns)
{
	puts("data offsets, percent of all data references (figure 5)");
	for (unsigned int shown = 0; shown < SHOWN; shown++) {
		size_t most = 0;

		for (size_t i = 1; i <= 2 * FARTHEST; i++)
			most = patterns->offsets[i] > patterns->offsets[most] ? i : most;
		if (!patterns->offsets[most])
			break;
		printf("%6d %13.2f\n", (int)most - FARTHEST,
		       percent(patterns->offsets[most], patterns->data_refs));
		patterns->offsets[most] = 0;
	}
}

int main(int argc, char **argv)
{
	struct patterns patterns = { .sink = { count_refs, count_event, finish } };
	struct lpl_report report = { .error = LPL_OK };
	struct lpl_reader *reader;

	if (argc != 3) {
		fputs("usage: patterns TRACE STRIDE\n", stderr);
		return 2;
	}
	patterns.stride = (unsigned int)strtoul(argv[2], NULL, 10);
	if (lpl_reader_open(&reader, argv[1], &report) ||
	    lpl_reader_run(reader, &patterns.sink, &report)) {
		fprintf(stderr, "patterns: %s\n", report.text);
		return 1;
	}
	lpl_reader_close(reader);
	printf("%" PRIu64 " references, %" PRIu64 " instructions, %.2f %% of them after a jump\n",
	       patterns.refs, patterns.fetches, percent(patterns.jumps, patterns.fetches));
	print_lengths(&patterns);
	print_offsets(&patterns);
	return 0;
}
