/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * truth-check: does a trace show which processes share a page?  What the guest's kernel
 * says of frames (truth/family.h) is held against canonical pages.
 *
 *	truth-check [-c] TRACE SAMPLES	events and references of a trace, and what
 *					the guest printed; -c: what stands before
 *					the last snapshot is forgotten
 *	truth-check LOG			events as the module logs them, and samples,
 *					in one text: nothing but events is known
 *
 * At each mark of a sample, every page that the kernel says is there is read
 * once more through the merge.  Pages are in one frame (or in swap under one
 * entry) exactly when they are one canonical page; the page of zeros, which
 * stands for pages that are not there yet, is left out.  What is anonymous for
 * the kernel is for the merge.
 *
 * Exit status: 0, 1 it does not or it failed, 2 usage.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/merge.h>
#include <laplace/trace.h>

enum { FAILED = 1, USAGE = 2, IDS = 65536, PRINTED_MAX = 10, PAGE = 4096, TEXT_LINE = 4096 };

/* A page of a process, as the guest's kernel reported it. */
struct sampled {
	unsigned int number;	/* of the sample */
	uint32_t pid;
	uint64_t address;
	char kind;		/* see truth/family.h */
	uint64_t frame;		/* or entry of swap */
	uint64_t page;		/* canonical, by the merge */
	enum lpl_page_kind found;
};

struct checker {
	struct lpl_sink sink;	/* takes what the merge takes */
	struct lpl_merge_output output;
	struct lpl_merge *merge;
	struct lpl_ref last;	/* a question has its clocks */
	struct lpl_merged answer;
	uint64_t space[IDS];	/* of processes */
	struct sampled *sampled;
	size_t samples;
	size_t complete;	/* samples that were complete */
	bool cut;		/* at each snapshot, forget what was before */
	size_t checked, errors;
};

static int failed(const struct lpl_report *report)
{
	fprintf(stderr, "truth-check: %s\n", report->text);
	return FAILED;
}

/* ---- samples ---- */

static bool add_pages(struct checker *c, const struct sampled *first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct sampled *s;

		/* grow at powers of two */
		if (!(c->samples & (c->samples - 1))) {
			size_t room = c->samples ? 2 * c->samples : 1;

			s = realloc(c->sampled, room * sizeof(*s));
			if (!s)
				return false;
			c->sampled = s;
		}
		s = &c->sampled[c->samples++];
		*s = *first;
		s->address += i * PAGE;
		s->frame += i;
	}
	return true;
}

/* What follows "truth ". */
static bool take_sample(struct checker *c, char *line)
{
	struct sampled s = { 0 };
	char *rest, *token;

	s.number = (unsigned int)strtoul(line, &rest, 10);
	if (strncmp(rest, " end", 4) == 0) {
		c->complete++;
		return true;
	}
	s.pid = (uint32_t)strtoul(rest, &rest, 16);
	s.address = strtoull(rest, &rest, 16);
	while ((token = strtok_r(NULL, " \r\n", &rest))) {
		uint64_t count = 1;

		if (*token == '-') {
			count = strtoull(token + 1, NULL, 16);
		} else {
			char *more;

			s.kind = *token;
			s.frame = strtoull(token + 1, &more, 16);
			if (*more == '+')
				count += strtoull(more + 1, NULL, 16);
			if (!strchr("afzs", s.kind) || !add_pages(c, &s, count))
				return false;
		}
		s.address += count * PAGE;
	}
	return true;
}

/* ---- questions ---- */

static enum lpl_error take_answer(struct lpl_merge_output *output, const struct lpl_merged *merged,
				  struct lpl_report *report)
{
	struct checker *c = (struct checker *)((char *)output - offsetof(struct checker, output));

	(void)report;
	c->answer = *merged;
	return LPL_OK;
}

static enum lpl_error take_end(struct lpl_merge_output *output, struct lpl_report *report)
{
	(void)output;
	(void)report;
	return LPL_OK;
}

static bool is_anonymous(char kind)
{
	return kind == 'a' || kind == 's';
}

static int by_frame(const void *a, const void *b)
{
	const struct sampled *x = a, *y = b;

	if ((x->kind == 's') != (y->kind == 's'))
		return x->kind == 's' ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static int by_page(const void *a, const void *b)
{
	const struct sampled *x = a, *y = b;

	return x->page < y->page ? -1 : x->page > y->page;
}

static void wrong(struct checker *c, const char *what, const struct sampled *a,
		  const struct sampled *b)
{
	if (c->errors++ >= PRINTED_MAX)
		return;
	printf("sample %u: %s:\n", a->number, what);
	for (int i = 0; i < 2; i++) {
		const struct sampled *s = i ? b : a;

		if (s)
			printf("\tprocess %u, %" PRIx64 ": %c, frame %" PRIx64 "; page %" PRIx64
			       ", %s\n", s->pid, s->address, s->kind, s->frame, s->page,
			       lpl_page_kind_name(s->found));
	}
}

/* The samples of one number, which are [first, first + count). */
static void compare(struct checker *c, struct sampled *first, size_t count)
{
	size_t shared = 0;

	qsort(first, count, sizeof(*first), by_frame);
	for (size_t i = 1; i < count; i++) {
		if (by_frame(&first[i - 1], &first[i]) != 0)
			continue;
		shared++;
		if (first[i - 1].page != first[i].page)
			wrong(c, "one frame, but not one page", &first[i - 1], &first[i]);
	}
	qsort(first, count, sizeof(*first), by_page);
	for (size_t i = 1; i < count; i++)
		/* one may have come back from swap, and the other not yet */
		if (first[i - 1].page == first[i].page &&
		    first[i - 1].kind != 's' && first[i].kind != 's' &&
		    first[i - 1].frame != first[i].frame)
			wrong(c, "one page, but not one frame", &first[i - 1], &first[i]);
	printf("sample %u: %zu pages, %zu of them shared\n", first->number, count, shared);
	c->checked++;
	if (!shared)
		wrong(c, "nothing is shared, which proves nothing", first, NULL);
}

static int check(struct checker *c, unsigned int number, struct lpl_report *report)
{
	struct lpl_sink *sink = lpl_merge_sink(c->merge);
	struct sampled *asked = calloc(c->samples + 1, sizeof(*asked));
	size_t count = 0;
	int error = LPL_OK;

	if (!asked)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory for a sample");
	for (size_t i = 0; i < c->samples && error == LPL_OK; i++) {
		struct sampled *s = &c->sampled[i];
		struct lpl_ref ref = c->last;

		if (s->number != number || s->kind == 'z')
			continue;
		ref.address = s->address;
		ref.space = s->pid < IDS ? c->space[s->pid] : 0;
		ref.type = LPL_READ;
		ref.flags = LPL_USER;
		ref.length = 1;
		error = sink->refs(sink, &ref, 1, report);
		s->page = c->answer.page;
		s->found = c->answer.kind;
		if (is_anonymous(s->kind) != (s->found == LPL_PAGE_ANONYMOUS) ||
		    s->found == LPL_PAGE_UNRESOLVED)
			wrong(c, "of another kind", s, NULL);
		asked[count++] = *s;
	}
	if (error == LPL_OK && count)
		compare(c, asked, count);
	free(asked);
	return error;
}

/* ---- the stream ---- */

static enum lpl_error take_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct checker *c = (struct checker *)sink;
	struct lpl_sink *merge = lpl_merge_sink(c->merge);

	if (count)
		c->last = refs[count - 1];
	return merge->refs(merge, refs, count, report);
}

static enum lpl_error take_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct checker *c = (struct checker *)sink;
	char text[KTR_TEXT + 1];
	struct lpl_sink *merge;
	unsigned int number;
	int error = LPL_OK;

	if (c->cut && event->tag == KTR_SNAPSHOT && event->arg[KTR_SNAPSHOT_BEGINS]) {
		lpl_merge_close(c->merge);
		error = lpl_merge_open(&c->merge, &c->output, NULL, report);
	}
	if (error == LPL_OK) {
		merge = lpl_merge_sink(c->merge);
		error = merge->event(merge, event, report);
	}
	if (error != LPL_OK)
		return error;
	switch (event->tag) {
	case KTR_TASK_CREATE:
	case KTR_SPACE_ASSIGN:
	case KTR_EXEC:
		if (event->arg[KTR_TASK_TID] < IDS)
			c->space[event->arg[KTR_TASK_TID]] = event->arg[KTR_TASK_SPACE];
		break;
	case KTR_MARK:
		memcpy(text, event->text, event->text_length);
		text[event->text_length] = '\0';
		if (sscanf(text, "truth %u", &number) == 1)
			return check(c, number, report);
		break;
	default:
		break;
	}
	return LPL_OK;
}

static enum lpl_error finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_sink *merge = lpl_merge_sink(((struct checker *)sink)->merge);

	return merge->finish(merge, report);
}

/* "EVENT tid tgid space: arg0 ... arg8 "text"", as the module logs it. */
static bool parse_event(char *line, struct lpl_event *event)
{
	char *rest = strchr(line, ' '), *quote = strchr(line, '"');

	memset(event, 0, sizeof(*event));
	if (!rest || !quote)
		return false;
	*rest++ = '\0';
	for (char *s = line; *s; s++)
		*s = (char)(*s == '_' ? '-' : tolower((unsigned char)*s));
	for (uint32_t tag = 1; tag < KTR_TAGS && !event->tag; tag++)
		if (strcmp(lpl_event_name(tag), line) == 0)
			event->tag = tag;
	event->tid = (uint32_t)strtoul(rest, &rest, 10);
	event->tgid = (uint32_t)strtoul(rest, &rest, 10);
	event->space = strtoull(rest, &rest, 16);
	if (*rest++ != ':')
		return false;
	for (int i = 0; i < 9; i++)
		event->arg[i] = strtoull(rest, &rest, 16);
	for (quote++; quote[0] && quote[1] && event->text_length < KTR_TEXT; quote++)
		event->text[event->text_length++] = *quote;
	return event->tag != 0;
}

/* Samples first, for they stand after the events; the log has both. */
static int read_text(struct checker *c, const char *path, bool events, struct lpl_report *report)
{
	static const char logged[] = "laplace: ", sampled[] = "truth ";
	FILE *file = fopen(path, "re");
	char line[TEXT_LINE];
	int error = LPL_OK;

	if (!file)
		return lpl_fail(report, LPL_ERR_IO, "%s", path);
	while (error == LPL_OK && fgets(line, sizeof(line), file)) {
		struct lpl_event event;

		line[strcspn(line, "\r\n")] = '\0';
		if (events && strncmp(line, logged, sizeof(logged) - 1) == 0 &&
		    parse_event(line + sizeof(logged) - 1, &event))
			error = take_event(&c->sink, &event, report);
		else if (!events && strncmp(line, sampled, sizeof(sampled) - 1) == 0 &&
			 !take_sample(c, line + sizeof(sampled) - 1))
			error = lpl_fail(report, LPL_ERR_FORMAT, "%s: no sample: %s", path, line);
	}
	fclose(file);
	return error;
}

static int read_trace(struct checker *c, const char *path, struct lpl_report *report)
{
	struct lpl_reader *reader = NULL;
	int error = lpl_reader_open(&reader, path, report);

	if (error == LPL_OK)
		error = lpl_reader_run(reader, &c->sink, report);
	lpl_reader_close(reader);
	return error;
}

int main(int argc, char *argv[])
{
	static struct checker c = {
		.sink = { take_refs, take_event, finish },
		.output = { .reference = take_answer, .finish = take_end },
	};
	struct lpl_report report = { 0 };
	int error;

	if (argc == 4 && !strcmp(argv[1], "-c")) {
		c.cut = true;
		argc--;
		argv++;
	}
	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: truth-check [-c] TRACE SAMPLES\n"
				"       truth-check LOG\n");
		return USAGE;
	}
	error = read_text(&c, argv[argc - 1], false, &report);
	if (error == LPL_OK)
		error = lpl_merge_open(&c.merge, &c.output, NULL, &report);
	if (error == LPL_OK)
		error = argc == 3 ? read_trace(&c, argv[1], &report) :
				    read_text(&c, argv[1], true, &report);
	if (error == LPL_OK)
		lpl_merge_stats_print(lpl_merge_stats(c.merge), stdout);
	lpl_merge_close(c.merge);
	free(c.sampled);
	if (error != LPL_OK)
		return failed(&report);
	printf("%zu samples, %zu of them checked, %zu errors\n", c.complete, c.checked, c.errors);
	return c.errors || !c.complete || c.checked != c.complete ? FAILED : 0;
}
