/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every field, in decimal, below a line of names.  With its events, which are lines
 * that begin with #E, it is all of a trace but its header.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "event_text.h"
#include "exporter.h"
#include "importer.h"

static const char names[] =
	"type,reference,instruction,cycle,space,address,length,user,second,paged,synthetic";
/* as it was before the last column */
static const char names_before[] =
	"type,reference,instruction,cycle,space,address,length,user,second,paged";

enum { FLAGS = 4 };
static const uint8_t flag[FLAGS] = { LPL_USER, LPL_SECOND, LPL_PAGED, LPL_SYNTHETIC };

/* ---- reading ---- */

struct csv_state {
	size_t flags;		/* columns of them; 0: the names were not read yet */
};

/* What follows these names; NULL: the line is another. */
static const char *after(const char *at, const char *line)
{
	while (*line && *at == *line) {
		at++;
		line++;
	}
	return *line || !scan_line_end(at) ? NULL : at;
}

static const char *read_names(struct lpl_importer *importer, const char *at)
{
	struct csv_state *state = importer->state;
	const char *rest = after(at, names);

	state->flags = FLAGS;
	if (!rest) {
		rest = after(at, names_before);
		state->flags = FLAGS - 1;
	}
	return rest ? rawmemchr(rest, '\n') :
		      lpl_import_refuse(importer, LPL_ERR_DAMAGED, "the first line is the "
					     "names of the columns, %s", names);
}

static const char *read_numbers(struct lpl_importer *importer, const char *at,
				struct lpl_ref *ref, uint64_t *length)
{
	static const char *const name[] = {
		"reference", "instruction", "cycle", "space", "address", "length",
		"user", "second", "paged", "synthetic",
	};
	const struct csv_state *state = importer->state;
	uint64_t number[6 + FLAGS] = { 0 };

	for (size_t i = 0; i < 6 + state->flags; i++) {
		const char *rest = *at == ',' ? lpl_scan_decimal(at + 1, &number[i]) : NULL;

		if (!rest || (i >= 6 && number[i] > 1))
			return lpl_import_no_field(importer, name[i]);
		at = rest;
	}
	ref->ref = number[0];
	ref->instr = number[1];
	ref->cycle = number[2];
	ref->space = number[3];
	ref->address = number[4];
	for (size_t i = 0; i < FLAGS; i++)
		ref->flags |= number[6 + i] ? flag[i] : 0;
	*length = number[5];
	return at;
}

static const char *read_comment(struct lpl_importer *importer, const char *at)
{
	const char *text = scan_blanks(at + 1);

	if (text[0] == 'E' && text[1] == ' ')
		return lpl_event_read(importer, text + 1);
	return rawmemchr(at, '\n');
}

static const char *read_csv(struct lpl_importer *importer, const char *at)
{
	const struct csv_state *state = importer->state;
	const unsigned int type = scan_type(*at);
	struct lpl_ref ref = { .type = (uint8_t)type };
	uint64_t length = 0;

	if (*at == '#')
		return read_comment(importer, at);
	if (!state->flags && !scan_line_end(at))
		return read_names(importer, at);
	if (type == LPL_TYPES)
		return lpl_import_other_line(importer, at);
	at = read_numbers(importer, at + 1, &ref, &length);
	if (at)
		at = lpl_import_line_end(importer, at);
	return at && lpl_import_whole_ref(importer, &ref, length) ? at : NULL;
}

/* ---- printing ---- */

static char *write_names(struct lpl_exporter *exporter, char *out)
{
	(void)exporter;
	memcpy(out, names, sizeof(names) - 1);
	return put_newline(out + sizeof(names) - 1);
}

static char *write_csv(struct lpl_exporter *exporter, char *out, const struct lpl_ref *ref)
{
	const uint64_t number[] = {
		ref->ref, ref->instr, ref->cycle, ref->space, ref->address, ref->length,
	};

	(void)exporter;
	*out++ = lpl_type_letter(ref->type);
	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		*out++ = ',';
		out = lpl_put_decimal(out, number[i]);
	}
	for (size_t i = 0; i < FLAGS; i++) {
		*out++ = ',';
		*out++ = ref->flags & flag[i] ? '1' : '0';
	}
	return put_newline(out);
}

const struct lpl_format lpl_format_csv = {
	.name = "csv",
	.fields = "TYPE,REFERENCE,INSTRUCTION,CYCLE,SPACE,ADDRESS,LENGTH,USER,SECOND,PAGED,"
		  "SYNTHETIC",
	.traits = LPL_FORMAT_EVENTS | LPL_FORMAT_WHOLE | LPL_WITH_REF | LPL_WITH_INSTR |
		  LPL_WITH_CYCLE | LPL_WITH_SPACE | LPL_WITH_LENGTH | LPL_WITH_TYPES |
		  LPL_WITH_MODE,
	.read_line = read_csv,
	.import_state = sizeof(struct csv_state),
	.write_begin = write_names,
	.write_ref = write_csv,
	.write_event_line = lpl_event_write_comment,
};
