/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves drawn with characters: log axes, 80 columns.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <laplace/record.h>

#include "cli/say.h"
#include "curves.h"

#define WIDTH 66	/* of the field: 10 for the labels, 2 for frame and edge */
#define HEIGHT 20
#define MARGIN 10

/* A log axis from `low` to `high`, `steps` cells long. */
struct axis {
	double low, high;
	int steps;
};

static const char marks[] = "*o+x#@%&";

/* On a log axis nothing is 0: no fault at all stands where one fault would. */
static double faults_of(const struct point *point)
{
	return point->faults < 1 ? 1 : point->faults;
}

static int cell(const struct axis *axis, double value)
{
	double span = log(axis->high / axis->low);
	double part = span > 0 ? log(value / axis->low) / span : 0;

	return (int)(part * (axis->steps - 1) + 0.5);
}

static double value_at(const struct axis *axis, int step)
{
	return axis->low * pow(axis->high / axis->low, (double)step / (axis->steps - 1));
}

static void find_ranges(const struct curves *curves, struct axis *x, struct axis *y)
{
	*x = (struct axis){ INFINITY, 0, WIDTH };
	*y = (struct axis){ INFINITY, 0, HEIGHT };
	for (size_t i = 0; i < curves->count; i++) {
		for (size_t j = 0; j < curves->curve[i].count; j++) {
			const struct point *point = &curves->curve[i].point[j];

			x->low = fmin(x->low, point->pages);
			x->high = fmax(x->high, point->pages);
			y->low = fmin(y->low, faults_of(point));
			y->high = fmax(y->high, faults_of(point));
		}
	}
	/* a single value stands at the low end of an axis that has a length */
	if (x->high <= x->low)
		x->high = 2 * x->low;
	if (y->high <= y->low)
		y->high = 2 * y->low;
}

static void draw(char field[HEIGHT][WIDTH + 1], const struct curve *curve, char mark,
		 const struct axis *x, const struct axis *y)
{
	for (size_t i = 0; i < curve->count; i++) {
		int column = cell(x, curve->point[i].pages);
		int row = HEIGHT - 1 - cell(y, faults_of(&curve->point[i]));

		field[row][column] = mark;
	}
}

/* "64", "1.34 k", and where the axis ends within pages, as means do, "12.6". */
static char *pages_text(char label[CLI_HUMAN_SIZE], const struct axis *x, double pages)
{
	bool whole = x->low == floor(x->low) && x->high == floor(x->high);

	if (whole || pages >= 100)
		return cli_human(label, (uint64_t)(pages + 0.5));
	snprintf(label, CLI_HUMAN_SIZE, "%.3g", pages);
	return label;
}

/* Four labels under the axis, each ending or beginning at its place. */
static void print_sizes(const struct axis *x, FILE *out)
{
	char line[MARGIN + WIDTH + 2], label[CLI_HUMAN_SIZE];

	memset(line, ' ', sizeof(line));
	for (int i = 0; i < 4; i++) {
		int step = i * (WIDTH - 1) / 3;
		double value = i == 0 ? x->low : i == 3 ? x->high : value_at(x, step);
		size_t length = strlen(pages_text(label, x, value));
		size_t place = MARGIN + 1 + (size_t)step;

		/* "1.34 k" without its blank, and not over the edge */
		for (char *blank = label; (blank = strchr(blank, ' ')); length--)
			memmove(blank, blank + 1, strlen(blank));
		if (place + length > sizeof(line) - 1)
			place = sizeof(line) - 1 - length;
		memcpy(line + place, label, length);
	}
	line[sizeof(line) - 1] = '\0';
	fprintf(out, "%s\n%*s\n", line, MARGIN + WIDTH / 2 + 10, "memory (pages)");
}

void curves_text(const struct curves *curves, const char *title, FILE *out)
{
	char field[HEIGHT][WIDTH + 1];
	char label[CLI_HUMAN_SIZE], name[1024];
	struct axis x, y;

	find_ranges(curves, &x, &y);
	for (int row = 0; row < HEIGHT; row++) {
		memset(field[row], ' ', WIDTH);
		field[row][WIDTH] = '\0';
	}
	/* the first curve is drawn last: where they meet, it is the one seen */
	for (size_t i = curves->count; i-- > 0;)
		draw(field, &curves->curve[i], marks[i % (sizeof(marks) - 1)], &x, &y);

	if (title)
		fprintf(out, "%*s %.*s\n", MARGIN, "", WIDTH,
			lpl_text_escape(name, sizeof(name), title, strlen(title)));
	fprintf(out, "%*s\n", MARGIN, "faults");
	for (int row = 0; row < HEIGHT; row++) {
		int step = HEIGHT - 1 - row;
		bool labelled = row == 0 || row == HEIGHT - 1 || row % 5 == 0;

		for (int end = WIDTH; end > 0 && field[row][end - 1] == ' ';)
			field[row][--end] = '\0';
		if (labelled)
			fprintf(out, "%*s +%s\n", MARGIN - 1,
				cli_human(label, (uint64_t)(value_at(&y, step) + 0.5)),
				field[row]);
		else
			fprintf(out, "%*s |%s\n", MARGIN - 1, "", field[row]);
	}
	fprintf(out, "%*s +", MARGIN - 1, "");
	for (int i = 0; i < WIDTH; i++)
		fputc('-', out);
	fputc('\n', out);
	print_sizes(&x, out);
	for (size_t i = 0; i < curves->count; i++)
		fprintf(out, "%*s %c %.*s\n", MARGIN - 1, "", marks[i % (sizeof(marks) - 1)],
			WIDTH - 2, lpl_text_escape(name, sizeof(name), curves->curve[i].name,
						   strlen(curves->curve[i].name)));
}
