/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other formats: traces of other tools read, and ours written for other tools.
 * docs/formats.md specifies them.
 *
 * An exporter is a sink that writes what it is sent in a format.  An importer reads a file
 * and sends a sink what is in it, or makes a trace of it.  What a format cannot express, and
 * what had to be guessed or was passed over, is counted: the caller decides what to say.
 */
#ifndef LAPLACE_CONVERT_H
#define LAPLACE_CONVERT_H

#include <laplace/error.h>
#include <laplace/record.h>
#include <laplace/reducer.h>
#include <laplace/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- formats ---- */

struct lpl_format;

/* What a format is, and what it says about a reference besides its page. */
enum lpl_format_trait {
	LPL_FORMAT_IMPORT_ONLY = 0x01,	/* is read, and not written */
	LPL_FORMAT_BINARY = 0x02,	/* records, not lines of text */
	LPL_FORMAT_PAGES = 0x04,	/* has pages, not addresses: the page size counts */
	LPL_FORMAT_REDUCED = 0x08,	/* may be of a reduced trace, and does not say so */
	LPL_FORMAT_BEHAVIOUR = 0x10,	/* is a behaviour sequence (`lrubs:K`), or ... */
	LPL_FORMAT_EVENTS = 0x20,	/* may have events among its lines */
	LPL_FORMAT_SEEKS = 0x40,	/* is completed as it is written: goes to files only */
	LPL_FORMAT_WHOLE = 0x80,	/* has every field */
	/* clocks; those that it does not have are made on import */
	LPL_WITH_REF = 0x100,
	LPL_WITH_INSTR = 0x200,
	LPL_WITH_CYCLE = 0x400,
	LPL_WITH_SPACE = 0x800,
	LPL_WITH_LENGTH = 0x1000,
	LPL_FORMAT_DIRECTORY = 0x2000,	/* is no file, but a directory of them */
	LPL_FORMAT_CANONICAL = 0x4000,	/* has canonical pages */
	LPL_FORMAT_HITS = 0x8000,	/* ... has the hits, too (`annotated:K`) */
	LPL_FORMAT_EXPORT_ONLY = 0x10000,	/* is written, and not read */
	LPL_FORMAT_PHYSICAL = 0x20000,	/* is of simulators of physical memory */
	/* types; which one a reference is of, of those that are not known, is lost */
	LPL_WITH_WRITES = 0x40000,	/* reads and writes are known from each other */
	LPL_WITH_FETCHES = 0x80000,	/* ... and from instruction fetches */
	LPL_WITH_WALKS = 0x100000,	/* ... and from reads and writes of page tables */
	LPL_WITH_TYPES = 0x1c0000,	/* all three */
	LPL_WITH_MODE = 0x200000,	/* LPL_USER */
	LPL_FORMAT_CODE = 0x400000,	/* has instructions: it wants a trace that has their bytes (code.h), with
					 * the addresses that were used, and all events */
	LPL_FORMAT_EITHER = 0x800000	/* is a directory, or one file of such a one */
};

/* By its name ("raw", "oracleGeneral"); NULL: there is no such format. */
const struct lpl_format *lpl_format_find(const char *name);
/* All of them, from index 0 on; NULL after the last. */
const struct lpl_format *lpl_format_at(size_t index);
const char *lpl_format_name(const struct lpl_format *format);
unsigned int lpl_format_traits(const struct lpl_format *format);	/* enum lpl_format_trait */

/*
 * The names of the formats that have none of the traits `without`, for people: "raw, diff or
 * sad" where `last` is " or ", as it stands before the last one.  Returns `list`.
 */
#define LPL_FORMAT_LIST_SIZE 512
char *lpl_format_list(char list[LPL_FORMAT_LIST_SIZE], unsigned int without, const char *last);

/* Room for all warnings that one conversion can give. */
#define LPL_WARNINGS_SIZE 2048

/* ---- exporting ---- */

struct lpl_exporter;

/* Of pdats and pdats2 alone (docs/formats.md): what a file's header says.  All 0 is fine. */
struct lpl_pdats_options {
	bool bare;		/* no header: 32 bits, a stride of 4, nothing of what follows */
	bool times, modes;	/* of pdats: time stamps (cycles), user or supervisor */
	unsigned int stride;	/* of instructions, in bytes: 1, 2, 4, 8, 16; 0: 1 (pdats: 4) */
	unsigned int address_bits;	/* 32 or 64; 0: 64 */
};

struct lpl_export_options {
	const struct lpl_format *format;
	const struct lpl_meta *meta;	/* the trace's header; read while opening only */
	int fd;				/* where to write, from its present offset on */
	const char *trace, *output;	/* names, for reports; used until closed */
	bool events;			/* write them, too, in formats that can have them */
	struct lpl_pdats_options pdats;
	/*
	 * The addresses are those of physical memory, as LPL_ADDRESSES_PHYSICAL has them: one from
	 * 2^63 on is none, because the frame is not known.  A format of LPL_FORMAT_PHYSICAL leaves
	 * such references out.
	 */
	bool physical;
	/*
	 * Nothing may be lost that lpl_losses_text() says, nor, if `events` are wanted, an event:
	 * the sink fails at it with LPL_ERR_UNSUPPORTED.
	 */
	bool strict;
	/*
	 * Of drmemtrace alone: in place of threads, what its scheduler takes for system calls and switches of threads
	 * (docs/formats.md).
	 */
	bool templates;
	/*
	 * Of drmemtrace alone: files are packed as zip, in parts of so many instructions, each of which can be read
	 * without those before.  0: they are not packed.
	 */
	uint64_t part_size;
};

/*
 * On failure *exporter is NULL: LPL_ERR_UNSUPPORTED when the format is import-only, or cannot
 * express what the trace is (its page size is none, it is no behaviour sequence); LPL_ERR_USAGE
 * when a format that seeks is to go to something else than an empty file, and for options of pdats
 * that do not go together or with the format; LPL_ERR_MEMORY.
 */
enum lpl_error lpl_exporter_open(struct lpl_exporter **exporter,
				 const struct lpl_export_options *options,
				 struct lpl_report *report);

/*
 * Where to send the stream; owned by the exporter.  Its finish() writes all that is held
 * back; the descriptor is left open.  It fails with LPL_ERR_IO, with LPL_ERR_UNSUPPORTED at a
 * record that the format could only misrepresent, and with LPL_ERR_DAMAGED at one
 * that cannot stand where it is.
 */
struct lpl_sink *lpl_exporter_sink(struct lpl_exporter *exporter);

/* What the format left out of what was written. */
struct lpl_losses {
	uint64_t addresses;	/* references of which only the page was known: it is written */
	uint64_t lengths;	/* ... and 0 for the length */
	uint64_t spaces;	/* changes of address space; pages of several look alike */
	uint64_t fetches;	/* written as reads */
	uint64_t fetches_left_out;
	uint64_t walks;		/* of page tables, written as reads and writes */
	uint64_t purposes;	/* LPL_WALK_FLAGS, which no format has */
	uint64_t frames;	/* not known: references to pages that count as ones of their own */
	uint64_t frames_left_out;	/* ... which were left out for that */
	uint64_t instructions;	/* of which the bytes are not known */
	uint64_t data_left_out;	/* by a format with instructions: of none, or more than it has room for */
	uint64_t events;	/* left out */
	/* where a format has instructions, and what each of them refers to by its operands */
	uint64_t walks_left_out;
	uint64_t own;		/* data references that no operand makes, left out; but these: */
	uint64_t delivered;	/* of interrupts, exceptions and returns from them: markers stand for them */
	uint64_t incomplete;	/* instructions that did not complete, left out, as they are ... */
	uint64_t undecoded;	/* ... that are none of 64-bit mode, or not known ... */
	uint64_t unfollowed;	/* ... or of which it is not known where they went on */
	uint64_t gaps;		/* places where instructions are missing */
};

struct lpl_export_result {
	uint64_t refs;		/* written; or, of what templates are chosen from, read */
	uint64_t bytes;		/* written; all of them after finish() */
	uint64_t calls, switches;	/* kinds of them that there are templates of */
	struct lpl_losses losses;
};

void lpl_exporter_result(const struct lpl_exporter *exporter, struct lpl_export_result *result);
void lpl_exporter_close(struct lpl_exporter *exporter);		/* NULL is fine */

/*
 * A directory of .npy files, one for each field of the references (docs/formats.md).  It grows as
 * "PATH.part".  LPL_ERR_USAGE: PATH is there, or "PATH.part" is; LPL_ERR_IO; LPL_ERR_MEMORY.
 * On failure *columns is NULL.
 */
struct lpl_npy_columns;
enum lpl_error lpl_npy_columns_open(struct lpl_npy_columns **columns, const char *path,
				    struct lpl_report *report);
/* Where to send the stream; owned by the columns.  Events are counted as lost. */
struct lpl_sink *lpl_npy_columns_sink(struct lpl_npy_columns *columns);
const struct lpl_export_result *lpl_npy_columns_result(const struct lpl_npy_columns *columns);
/* After finish(): it gets its name, unless that exists by then.  Frees, in any case. */
enum lpl_error lpl_npy_columns_commit(struct lpl_npy_columns *columns, struct lpl_report *report);
/* Instead: nothing is left of it.  NULL is fine. */
void lpl_npy_columns_discard(struct lpl_npy_columns *columns);

/*
 * A directory for DynamoRIO's drmemtrace (docs/formats.md): a file for each thread.  It grows as "PATH.part".
 * Of the options, `meta`, `trace` (used until it is freed), `templates` and `strict` count; for that nothing is lost for which a
 * marker stands (`delivered`, `incomplete`, `gaps`), nor what the trace does not know (`unfollowed`).  LPL_ERR_USAGE: PATH is there, or
 * "PATH.part" is; LPL_ERR_UNSUPPORTED: the trace has no instructions (code.h), or Laplace was built without a decoder;
 * LPL_ERR_IO; LPL_ERR_MEMORY.  On failure *made is NULL.
 */
struct lpl_drmemtrace;
enum lpl_error lpl_drmemtrace_open_directory(struct lpl_drmemtrace **made, const char *path,
					     const struct lpl_export_options *options, struct lpl_report *report);
/* Where to send the stream, with all events; owned by it.  With `strict` it fails as an exporter's does. */
struct lpl_sink *lpl_drmemtrace_sink(struct lpl_drmemtrace *made);
/* As of now; owned by it. */
const struct lpl_export_result *lpl_drmemtrace_result(const struct lpl_drmemtrace *made);
/* After finish(): it gets its name, unless that exists by then.  Frees, in any case. */
enum lpl_error lpl_drmemtrace_commit(struct lpl_drmemtrace *made, struct lpl_report *report);
/* Instead: nothing is left of it.  NULL is fine. */
void lpl_drmemtrace_discard(struct lpl_drmemtrace *made);

/* What was lost in words: a line for each, which ends in a newline.  Returns `text`. */
char *lpl_losses_text(const struct lpl_losses *losses, char text[LPL_WARNINGS_SIZE]);

/* ---- importing ---- */

struct lpl_importer;

struct lpl_import_options {
	const struct lpl_format *format;	/* NULL: to be recognised (docs/formats.md) */
	const char *input;		/* the file's (or directory's) name, for reports */
	/*
	 * What it was reduced by before, as lpl_reducer_open() has it, or "unknown".  NULL:
	 * "unknown" for formats of reduced traces, and for one that has lengths when its
	 * first reference is to a whole page; else "none".
	 */
	const char *reduction;
	uint64_t memory;		/* pages; with LPL_FORMAT_BEHAVIOUR, else 0 */
	uint64_t page_size;		/* of the pages that the format has: a power of two from
					 * 4096 to 2^30; 0: by `reduction`, or 4096 */
	/*
	 * A second log, of a kernel's records: lines of events, each of which gets its place among
	 * the references by its cycle (docs/formats.md, "Two logs").  Its name, for reports; NULL:
	 * there is none.  And the open file, which is read from its present offset on.
	 */
	const char *events;
	int events_fd;
	/* called now and then, to show how far it is; may be NULL */
	void (*progress)(const struct lpl_importer *importer, void *context);
	void *context;

	/* ---- of the trace that lpl_importer_write() makes ---- */

	const char *title, *producer;	/* for its header; may be NULL */
	bool canonical;			/* its pages are, else they are virtual, unless the
					 * format has canonical ones */
	bool overwrite;
	struct lpl_writer_options writer;
};

/*
 * Checks the options; no file is touched.  They are copied, but not the strings, which have to
 * stay until the importer is closed.  On failure *importer is NULL: LPL_ERR_USAGE for a
 * reduction that is none, for a format that is written only, and for what does not go together (a second log needs a format with
 * LPL_WITH_CYCLE and LPL_WITH_SPACE that is not LPL_FORMAT_IMPORT_ONLY); LPL_ERR_MEMORY.
 */
enum lpl_error lpl_importer_open(struct lpl_importer **importer,
				 const struct lpl_import_options *options,
				 struct lpl_report *report);

/*
 * Read `fd` to its end (a format that is a directory: what is below it), send `sink` all of it,
 * then finish() it.  Once for each importer.  LPL_ERR_FORMAT where a format is not recognised.
 * Where the input is wrong (LPL_ERR_FORMAT, LPL_ERR_DAMAGED, LPL_ERR_TRUNCATED, LPL_ERR_ORDER:
 * the report names the line or the byte) everything before that place has been sent, and
 * finish() was not called.  LPL_ERR_IO, LPL_ERR_MEMORY, and what the sink returns.
 */
enum lpl_error lpl_importer_run(struct lpl_importer *importer, int fd, struct lpl_sink *sink,
				struct lpl_report *report);

/*
 * The same into a trace file, as lpl_writer_open() makes them ("-": stdout); its header is made
 * of the options.  Where the input is wrong, "PATH.part" holds what precedes that.  Errors, too,
 * of the writer; LPL_ERR_UNSUPPORTED for a header that cannot be made; LPL_ERR_USAGE where the
 * first references are whole and a later one is reduced, and it was not said by what.
 */
enum lpl_error lpl_importer_write(struct lpl_importer *importer, int fd, const char *path,
				  struct lpl_report *report);

struct lpl_import_result {
	uint64_t bytes;			/* of the input, read */
	uint64_t refs, events;		/* sent */
	uint64_t page_size;		/* in bytes: of what is to whole pages */
	/* of the trace that lpl_importer_write() made */
	char reduction[LPL_SPEC_SIZE], exact[LPL_SPEC_SIZE];	/* as its header has them */
	uint64_t spaces;		/* address spaces that references were made in */
	uint64_t trace_bytes;		/* (of a pipe: without the index) */
	bool part;			/* it failed, and ".part" has `refs` references */
	/* what was read, but may not be what was meant */
	uint64_t no_end;		/* the number of the last line, if no newline ends it */
	uint64_t unknown;		/* references of unknown type, taken for reads */
	uint64_t flushes;		/* of a cache, passed over */
	uint64_t prefetches;		/* likewise */
	uint64_t unsized;		/* accesses of a size that is not known: it is one byte */
	uint64_t foreign;		/* lines of somebody else, passed over, ... */
	uint64_t first_foreign;		/* ... and the number of the first of them */
	uint64_t unread;		/* seconds; not read for so long, so that tracing ended */
	uint64_t joined;		/* records of the second log ... */
	uint64_t joined_inside;		/* ... that stand between two references */
	uint64_t events_no_end;		/* the number of its last line, if no newline ends it */
	bool no_last;			/* a behaviour sequence without its line LAST */
	bool paged;			/* whole pages, in a format that can express more */
	bool sizes;			/* objects had other sizes than a page's */
	const struct lpl_format *format;	/* given or recognised; NULL before that */
	bool guessed;			/* ... by records alone: it has no header */
};

/* As of now; owned by the importer. */
const struct lpl_import_result *lpl_importer_result(const struct lpl_importer *importer);
/* All from `joined` on, whatever is guessed, and what is empty, in words: see lpl_losses_text().  Returns `text`. */
char *lpl_importer_warnings(const struct lpl_importer *importer, char text[LPL_WARNINGS_SIZE]);
void lpl_importer_close(struct lpl_importer *importer);		/* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
