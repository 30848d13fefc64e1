/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault curves drawn by gnuplot, a filter that gets a script.  Text is quoted, so that no title
 * can be a command.
 */
#include <string.h>

#include "cli/filter.h"
#include "curves.h"

/* gnuplot's single quotes: '' is a quote, nothing else is special. */
static void put_quoted(FILE *script, const char *text)
{
	fputc('\'', script);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', script);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
	}
	fputc('\'', script);
}

static void write_script(const struct curves *curves, const char *title,
			 const char *terminal, FILE *script)
{
	if (strcmp(terminal, "svg") == 0)
		fputs("set terminal svg size 800,600 noenhanced\n", script);
	else
		fputs("set terminal pngcairo size 800,600 noenhanced\n", script);
	fputs("set logscale xy\nset grid\nset key top right\n"
	      "set xlabel 'memory (pages)'\nset ylabel 'faults'\n", script);
	if (title) {
		fputs("set title ", script);
		put_quoted(script, title);
		fputc('\n', script);
	}
	for (size_t i = 0; i < curves->count; i++) {
		const struct curve *curve = &curves->curve[i];

		fprintf(script, "$curve%zu << END\n", i);
		/* a log axis knows no 0: no fault stands where one would */
		for (size_t j = 0; j < curve->count; j++)
			fprintf(script, "%.17g %.17g\n", curve->point[j].pages,
				curve->point[j].faults < 1 ? 1 : curve->point[j].faults);
		fputs("END\n", script);
	}
	for (size_t i = 0; i < curves->count; i++) {
		fprintf(script, "%s $curve%zu using 1:2 with linespoints title ",
			i ? "," : "plot", i);
		put_quoted(script, curves->curve[i].name);
	}
	fputc('\n', script);
}

int curves_gnuplot(const struct curves *curves, const char *title, const char *terminal,
		   FILE *out)
{
	/* "-" reads the script */
	char name[] = "gnuplot", dash[] = "-";
	char *argv[] = { name, dash, NULL };
	struct filter gnuplot;
	int status = filter_start(&gnuplot, argv, out, "gnuplot is not in $PATH: pictures need it "
				  "(Debian has it in gnuplot-nox); `-o -' draws without");

	if (status)
		return status;
	write_script(curves, title, terminal, gnuplot.in);
	return filter_end(&gnuplot);
}
