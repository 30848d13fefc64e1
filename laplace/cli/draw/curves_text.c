/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves drawn with characters on logarithmic axes: lines of dots (braille has eight in a
 * character) with marks where the locale has UTF-8, lines of marks in ASCII.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/record.h>

#include "cli/say.h"
#include "curves.h"
#include "log_axis.h"
#include "series.h"
#include "terminal.h"

#define MARGIN 8		/* of the labels, with the axis */
#define ROWS 20			/* of the field, where no terminal says how many there are */
#define APART 9			/* cells from a mark to the next one of its line */
#define LABEL 7			/* cells that a number under the axis takes, with a blank */
#define MARKS (SERIES + 26)	/* after those of pictures there are letters */

/* Several lines differ by their marks and, where there are any, by colours. */
static const char ascii_mark[MARKS + 1] = "*o+x#@%&ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char *const mark[SERIES] = { "●", "■", "▲", "◆", "○", "□", "△", "◇" };
static const char *const colour[SERIES] = { "36", "31", "32", "33", "35", "34", "37", "90" };

struct cell {
	uint8_t dots;		/* of braille */
	uint8_t line, mark;	/* 1 + the curve that is on top; 0: none */
	bool grid;
};

struct field {
	struct terminal terminal;
	int columns, rows;		/* cells */
	int across, down;		/* dots in a cell */
	struct log_axis x, y;
	struct cell *cell;
};

/* Of the i-th line. */
static void put_mark(const struct field *field, size_t i, FILE *out)
{
	const size_t place = i % MARKS;

	if (field->terminal.has_utf8 && place < SERIES)
		fputs(mark[place], out);
	else
		fputc(ascii_mark[place], out);
}

static struct cell *cell_at(const struct field *field, int column, int row)
{
	return &field->cell[(size_t)row * (size_t)field->columns + (size_t)column];
}

static double x_dot(const struct field *field, double pages)
{
	return log_axis_place(&field->x, pages) * (field->columns * field->across - 1);
}

static double y_dot(const struct field *field, double faults)
{
	return (1 - log_axis_place(&field->y, faults)) * (field->rows * field->down - 1);
}

static int column_of(const struct field *field, double pages)
{
	return (int)(x_dot(field, pages) + 0.5) / field->across;
}

static int row_of(const struct field *field, double faults)
{
	return (int)(y_dot(field, faults) + 0.5) / field->down;
}

/* ---- the field ---- */

/* A single value stands in the middle of an axis that has a length. */
static struct log_axis make_axis(double low, double high)
{
	return high > low ? (struct log_axis){ low, high } : (struct log_axis){ low / 2, 2 * low };
}

static bool make_field(struct field *field, const struct curves *curves, FILE *out)
{
	struct curves_bounds bounds = { .set = false };
	const struct terminal terminal = terminal_of(out);
	/* what stands above and below has to fit, too */
	const int room = terminal.rows - 7 - (int)curves->count;

	curves_widen(&bounds, curves);
	*field = (struct field){
		.terminal = terminal, .columns = terminal.columns - MARGIN - 1, .rows = ROWS,
		.across = terminal.has_utf8 ? 2 : 1, .down = terminal.has_utf8 ? 4 : 1,
		.x = make_axis(bounds.pages_low, bounds.pages_high),
		.y = make_axis(bounds.faults_low, bounds.faults_high)
	};
	if (terminal.is_terminal)
		field->rows = room < 10 ? 10 : room < field->columns / 3 ? room : field->columns / 3;
	field->cell = calloc((size_t)field->rows * (size_t)field->columns, sizeof(*field->cell));
	return field->cell;
}

static void set_dot(const struct field *field, double x, double y, size_t i)
{
	static const uint8_t bit[2][4] = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } };
	const int column = (int)(x + 0.5), row = (int)(y + 0.5);
	struct cell *cell = cell_at(field, column / field->across, row / field->down);

	cell->dots |= bit[column % field->across][row % field->down];
	cell->line = (uint8_t)(i % MARKS + 1);
}

static void draw_line(const struct field *field, const struct curve *curve, size_t i)
{
	for (size_t j = 0; j < curve->count; j++) {
		const struct point *to = &curve->point[j], *from = j ? to - 1 : to;
		const double x = x_dot(field, from->pages), y = y_dot(field, faults_of(from));
		const double dx = x_dot(field, to->pages) - x, dy = y_dot(field, faults_of(to)) - y;
		const int steps = (int)ceil(fmax(fabs(dx), fabs(dy))) + 1;

		for (int step = 0; step <= steps; step++)
			set_dot(field, x + dx * step / steps, y + dy * step / steps, i);
	}
}

static void draw_marks(const struct field *field, const struct curve *curve, size_t i)
{
	struct marks marks = { .apart = APART };

	for (size_t j = 0; j < curve->count; j++) {
		const int column = column_of(field, curve->point[j].pages);
		const double next = j + 1 < curve->count ? column_of(field, curve->point[j + 1].pages) :
							   HUGE_VAL;

		if (curves_mark(&marks, i, j, column, next))
			cell_at(field, column, row_of(field, faults_of(&curve->point[j])))->mark =
				(uint8_t)(i % MARKS + 1);
	}
}

static void draw_curves(const struct field *field, const struct curves *curves)
{
	/* the first curve is drawn last: where they meet, it is the one seen */
	for (size_t i = curves->count; i-- > 0;) {
		draw_line(field, &curves->curve[i], i);
		if (field->terminal.has_utf8)
			draw_marks(field, &curves->curve[i], i);
	}
}

/* ---- axes ---- */

/* The tick with a label in a row, and the grid beside it; NULL: there is none. */
static const struct log_tick *tick_in_row(const struct field *field, int row,
					  const struct log_tick *tick, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (tick[i].labelled && row_of(field, tick[i].value) == row)
			return &tick[i];
	}
	return NULL;
}

static void draw_grid(const struct field *field, const struct log_tick *memory, size_t sizes,
		      const struct log_tick *faults, size_t heights)
{
	for (size_t i = 0; i < sizes; i++) {
		for (int row = 0; memory[i].labelled && row < field->rows; row += 2)
			cell_at(field, column_of(field, memory[i].value), row)->grid = true;
	}
	for (size_t i = 0; i < heights; i++) {
		for (int column = 0; faults[i].labelled && column < field->columns; column++)
			cell_at(field, column, row_of(field, faults[i].value))->grid =
				column % 4 == 0;
	}
}

/* ---- printing ---- */

static void print_cell(const struct field *field, const struct cell *cell, FILE *out)
{
	const bool utf8 = field->terminal.has_utf8;
	const uint8_t top = cell->mark ? cell->mark : cell->line;
	const char *shade = top ? colour[(top - 1) % SERIES] : cell->grid ? "2" : NULL;

	if (field->terminal.has_colours && shade)
		fprintf(out, "\033[%sm", shade);
	if (cell->mark || (!utf8 && top))
		put_mark(field, top - 1U, out);
	else if (!utf8)
		fputc(cell->grid ? '.' : ' ', out);
	else if (cell->dots)
		fprintf(out, "\xe2%c%c", 0xa0 | cell->dots >> 6, 0x80 | (cell->dots & 0x3f));
	else
		fputs(cell->grid ? "·" : " ", out);
	if (field->terminal.has_colours && shade)
		fputs("\033[0m", out);
}

static bool is_blank(const struct cell *cell)
{
	return !cell->line && !cell->mark && !cell->grid;
}

static void print_row(const struct field *field, int row, const struct log_tick *tick, FILE *out)
{
	const bool utf8 = field->terminal.has_utf8;
	int end = field->columns;
	char label[LOG_LABEL];

	while (end > 0 && is_blank(cell_at(field, end - 1, row)))
		end--;
	if (tick)
		fprintf(out, "%*s %s", MARGIN - 2, log_axis_count(label, tick->value),
			utf8 ? "┤" : "+");
	else
		fprintf(out, "%*s %s", MARGIN - 2, "", utf8 ? "│" : "|");
	for (int column = 0; column < end; column++)
		print_cell(field, cell_at(field, column, row), out);
	fputc('\n', out);
}

static void print_bottom(const struct field *field, const struct log_tick *tick, size_t count,
			 FILE *out)
{
	const bool utf8 = field->terminal.has_utf8;

	fprintf(out, "%*s %s", MARGIN - 2, "", utf8 ? "└" : "+");
	for (int column = 0; column < field->columns; column++) {
		bool is_tick = false;

		for (size_t i = 0; i < count; i++)
			is_tick |= tick[i].labelled && column_of(field, tick[i].value) == column;
		fputs(is_tick ? (utf8 ? "┴" : "+") : utf8 ? "─" : "-", out);
	}
	fputc('\n', out);
}

/* Each number around its place, as far as the line has room. */
static void print_memory(const struct field *field, const struct log_tick *tick, size_t count,
			 const char *unit, double bytes, FILE *out)
{
	char line[512], label[LOG_LABEL];
	size_t room = (size_t)(MARGIN + field->columns), end = 0;

	memset(line, ' ', sizeof(line));
	for (size_t i = 0; i < count; i++) {
		size_t length, place;

		if (!tick[i].labelled)
			continue;
		if (bytes > 0)
			log_axis_bytes(label, tick[i].value * bytes);
		else
			log_axis_pages(label, tick[i].value);
		length = strlen(label);
		place = (size_t)(MARGIN + column_of(field, tick[i].value)) - (length - 1) / 2;
		place = place + length > room ? room - length : place;
		if (end && place <= end)
			continue;	/* there is no blank between them */
		memcpy(line + place, label, length);
		end = place + length;
	}
	memcpy(line, unit, strlen(unit));
	line[end] = '\0';
	fprintf(out, "%s\n", line);
}

static void print_legend(const struct field *field, const struct curves *curves, FILE *out)
{
	char name[1024];

	for (size_t i = 0; i < curves->count; i++) {
		const char *text = curves->curve[i].name;
		const bool coloured = field->terminal.has_colours;

		lpl_text_escape(name, sizeof(name), text, strlen(text));
		fprintf(out, "%*s ", MARGIN - 1, "");
		if (coloured)
			fprintf(out, "\033[%sm", colour[i % MARKS % SERIES]);
		put_mark(field, i, out);
		fprintf(out, "%s %.*s\n", coloured ? "\033[0m" : "", field->columns - 2, name);
	}
}

int curves_text(const struct curves *curves, const struct curves_picture *picture, FILE *out)
{
	const char *title = picture->title;
	struct log_tick memory[LOG_TICKS], faults[LOG_TICKS];
	size_t sizes, heights;
	struct field field;
	char text[1024];

	if (!make_field(&field, curves, out))
		return cli_complain(CLI_FAILED, "no memory for the picture");
	sizes = log_axis_of_memory(&field.x, (size_t)field.columns / LABEL, memory);
	heights = log_axis_of_faults(&field.y, (size_t)field.rows / 2, faults);
	draw_grid(&field, memory, sizes, faults, heights);
	draw_curves(&field, curves);
	if (title)
		fprintf(out, "%*s %.*s\n", MARGIN - 1, "", field.columns,
			lpl_text_escape(text, sizeof(text), title, strlen(title)));
	fprintf(out, "faults\n");
	for (int row = 0; row < field.rows; row++)
		print_row(&field, row, tick_in_row(&field, row, faults, heights), out);
	print_bottom(&field, memory, sizes, out);
	print_memory(&field, memory, sizes, "pages", 0, out);
	print_memory(&field, memory, sizes, "bytes", (double)picture->page_size, out);
	print_legend(&field, curves, out);
	free(field.cell);
	return CLI_DONE;
}
