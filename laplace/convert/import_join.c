/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joining two logs by time, as Laplace's post-processor did: a simulator's log of references and a
 * kernel's log of records, both stamped by one cycle counter (docs/formats.md, "Two logs").
 *
 * A record stands before the first reference with a later cycle.  The references of its own cycle
 * come before it, because the store by which a kernel reports is the last thing that its
 * instruction does.  Where references are numbered and the record says after which one it stands,
 * that decides among those of its cycle.
 *
 * One record is held, the next; it is read when the one before it has been sent.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/try.h"
#include "event_text.h"
#include "importer.h"

#define JOIN_LINE (4 * EVENT_TEXT)	/* a line is shorter */

struct join {
	struct lpl_sink sink;
	struct lpl_sink *next;
	struct lpl_importer *importer;	/* of the references */
	struct lpl_importer log;	/* of the records, for what is to be said of a line */
	FILE *file;
	bool begun, held;		/* the file was opened; there is a next record */
	struct lpl_event event;		/* that one */
	uint64_t read_cycle;		/* of the last one read */
	bool any;			/* a reference was sent */
	uint64_t ref, instr;		/* clocks of the last record of either log */
	char line[JOIN_LINE + 1];
};

static const struct lpl_format kernel_log = {
	.name = "events",
	.fields = EVENT_FIELDS,
	.traits = LPL_FORMAT_EVENTS | LPL_WITH_CYCLE,
};

/* ---- the kernel's log ---- */

/* The next line, to its newline; false at the end, and after an error. */
static bool read_line(struct join *join)
{
	size_t length = 0;
	int byte;

	while ((byte = getc_unlocked(join->file)) != EOF && byte != '\n' && length < JOIN_LINE)
		join->line[length++] = (char)byte;
	join->line[length] = '\n';
	if (ferror(join->file)) {
		(void)lpl_fail(join->log.report, LPL_ERR_IO, "%s", join->log.options.input);
		return false;
	}
	if (byte == EOF && length == 0)
		return false;
	join->log.place++;
	join->importer->result.events_no_end = byte == EOF ? join->log.place : 0;
	if (byte == EOF || byte == '\n')
		return true;
	return lpl_import_refuse(&join->log, LPL_ERR_DAMAGED, "longer than %d bytes",
				 JOIN_LINE - 1);
}

/* Is the line a record's?  false, too, after an error. */
static bool scan_record(struct join *join)
{
	const char *at = join->line, *wrong;

	if (scan_line_end(at))
		return false;
	if (*at == '#')		/* as among the lines of csv */
		at = scan_blanks(at + 1);
	if (!lpl_event_is_line(at))
		return lpl_import_refuse(&join->log, LPL_ERR_DAMAGED, "no kernel record (which is "
					 "%s)", kernel_log.fields);
	join->event = (struct lpl_event){ 0 };
	if (!lpl_event_scan(at + 1, &join->event, &wrong))
		return lpl_import_refuse(&join->log, LPL_ERR_DAMAGED, "%s", wrong);
	if (!lpl_import_check_clock(&join->log, "cycle", join->event.cycle, join->read_cycle))
		return false;
	join->read_cycle = join->event.cycle;
	return true;
}

static enum lpl_error hold_next(struct join *join)
{
	join->held = false;
	while (!join->held && read_line(join))
		join->held = scan_record(join) || join->log.report->error;
	return join->log.report->error;
}

/* The first call opens the file: what is wrong with it can be reported there. */
static enum lpl_error begin(struct join *join)
{
	int fd;

	if (join->begun)
		return LPL_OK;
	join->begun = true;
	fd = dup(join->importer->options.events_fd);
	join->file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (join->file)
		return hold_next(join);
	if (fd >= 0)
		close(fd);
	return lpl_fail(join->log.report, LPL_ERR_IO, "%s", join->log.options.input);
}

/* ---- its place ---- */

static unsigned int traits_of(const struct join *join)
{
	return join->importer->options.format->traits;
}

/* Does the next record stand before this reference? */
static bool is_before(const struct join *join, const struct lpl_ref *ref)
{
	const struct lpl_event *event = &join->event;

	if (event->cycle != ref->cycle)
		return event->cycle < ref->cycle;
	return (traits_of(join) & LPL_WITH_REF) && event->ref && event->ref < ref->ref;
}

/* Clocks that the references do not have, or the record does not, are those of what precedes. */
static bool set_clocks(struct join *join)
{
	struct lpl_event *event = &join->event;

	if (!(traits_of(join) & LPL_WITH_REF) || !event->ref)
		event->ref = join->ref;
	if (!(traits_of(join) & LPL_WITH_INSTR) || !event->instr)
		event->instr = join->instr;
	return lpl_import_check_clock(&join->log, "reference", event->ref, join->ref) &&
	       lpl_import_check_clock(&join->log, "instruction", event->instr, join->instr);
}

static bool check_next(struct join *join, const struct lpl_ref *ref)
{
	const struct lpl_event *event = &join->event;

	if (event->ref < ref->ref && event->instr <= ref->instr)
		return true;
	return lpl_import_refuse(&join->log, LPL_ERR_ORDER, "by its cycle it stands before "
				 "reference %" PRIx64 " (instruction %" PRIx64 "), by its other "
				 "clocks it does not", ref->ref, ref->instr);
}

/* The next record goes out, before `ref` (NULL: after all of them). */
static enum lpl_error send_record(struct join *join, const struct lpl_ref *ref,
				  struct lpl_report *report)
{
	struct lpl_import_result *result = &join->importer->result;

	if (!set_clocks(join) || (ref && !check_next(join, ref)))
		return join->log.report->error;
	LPL_TRY(join->next->event(join->next, &join->event, report));
	join->ref = join->event.ref;
	join->instr = join->event.instr;
	result->events++;
	result->joined++;
	result->joined_inside += join->any && ref;
	return hold_next(join);
}

/* ---- the stream ---- */

static enum lpl_error send_refs(struct join *join, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	if (!count)
		return LPL_OK;
	join->any = true;
	join->ref = refs[count - 1].ref;
	join->instr = refs[count - 1].instr;
	return join->next->refs(join->next, refs, count, report);
}

/* As many of the references as there are until the next record; then that one. */
static enum lpl_error send_some(struct join *join, const struct lpl_ref *refs, size_t count,
				size_t *sent, struct lpl_report *report)
{
	size_t end = count;

	if (join->held && is_before(join, &refs[count - 1]))
		for (end = *sent; !is_before(join, &refs[end]);)
			end++;
	LPL_TRY(send_refs(join, refs + *sent, end - *sent, report));
	*sent = end;
	return end < count ? send_record(join, &refs[end], report) : LPL_OK;
}

/*
 * What is wrong with the kernel's log has a report of its own, because references are sent after the
 * other log has turned out to be wrong, too, up to there.
 */
static enum lpl_error report_log(const struct join *join, enum lpl_error error,
				 struct lpl_report *report)
{
	if (join->log.own_report.error && report && !report->error)
		*report = join->log.own_report;
	return error;
}

static enum lpl_error join_refs(struct lpl_sink *sink, const struct lpl_ref *refs, size_t count,
				struct lpl_report *report)
{
	struct join *join = (struct join *)sink;
	enum lpl_error error = begin(join);
	size_t sent = 0;

	while (!error && sent < count)
		error = send_some(join, refs, count, &sent, report);
	/* the importer has counted all of them */
	if (error)
		join->importer->result.refs -= count - sent;
	return report_log(join, error, report);
}

static enum lpl_error send_until(struct join *join, const struct lpl_event *event,
				 struct lpl_report *report)
{
	const struct lpl_ref place = {
		.ref = event->ref + 1, .instr = event->instr, .cycle = event->cycle,
	};

	LPL_TRY(begin(join));
	while (join->held && join->event.cycle < event->cycle)
		LPL_TRY(send_record(join, &place, report));
	return LPL_OK;
}

/* An event among the references' lines: it comes before records of its cycle. */
static enum lpl_error join_event(struct lpl_sink *sink, const struct lpl_event *event,
				 struct lpl_report *report)
{
	struct join *join = (struct join *)sink;

	LPL_TRY(report_log(join, send_until(join, event, report), report));
	join->ref = event->ref;
	join->instr = event->instr;
	return join->next->event(join->next, event, report);
}

static enum lpl_error send_rest(struct join *join, struct lpl_report *report)
{
	LPL_TRY(begin(join));
	while (join->held)
		LPL_TRY(send_record(join, NULL, report));
	return LPL_OK;
}

static enum lpl_error join_finish(struct lpl_sink *sink, struct lpl_report *report)
{
	struct join *join = (struct join *)sink;

	LPL_TRY(report_log(join, send_rest(join, report), report));
	return join->next->finish(join->next, report);
}

/* ---- the import ---- */

static enum lpl_error run_joined(struct lpl_importer *importer, int fd, struct lpl_sink *sink)
{
	struct join *join = calloc(1, sizeof(*join));
	enum lpl_error error;

	if (!join)
		return lpl_fail(importer->report, LPL_ERR_MEMORY, "no memory");
	join->sink = (struct lpl_sink){ join_refs, join_event, join_finish };
	join->next = sink;
	join->importer = importer;
	join->log.options.format = &kernel_log;
	join->log.options.input = importer->options.events;
	join->log.line = join->line;
	join->log.report = &join->log.own_report;
	error = lpl_import_read(importer, fd, &join->sink);
	if (join->file)
		fclose(join->file);
	free(join);
	return error;
}

enum lpl_error lpl_importer_run(struct lpl_importer *importer, int fd, struct lpl_sink *sink,
				struct lpl_report *report)
{
	importer->report = report ? report : &importer->own_report;
	return importer->options.events ? run_joined(importer, fd, sink) :
					  lpl_import_read(importer, fd, sink);
}
