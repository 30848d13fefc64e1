/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The terminal; see terminal.h. */
#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/digits.h"

#define LEAST_COLUMNS 40
#define MOST_COLUMNS 300

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* The program itself remains in the locale C, in which it reads and writes numbers. */
static bool locale_has_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool has_utf8;

	if (!locale)
		return false;
	has_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return has_utf8;
}

struct terminal terminal_of(FILE *out)
{
	struct terminal terminal = { .columns = 80, .rows = 24, .has_utf8 = locale_has_utf8() };
	const char *columns = getenv("COLUMNS"), *term = getenv("TERM"), *end;
	struct winsize size;
	uint64_t number;

	terminal.is_terminal = isatty(fileno(out));
	terminal.has_colours = terminal.is_terminal && !is_set("NO_COLOR") && term &&
			       strcmp(term, "dumb") != 0;
	if (terminal.is_terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col) {
		terminal.columns = size.ws_col;
		terminal.rows = size.ws_row ? size.ws_row : terminal.rows;
	}
	end = columns ? lpl_scan_decimal(columns, &number) : NULL;
	if (end && *end == '\0' && number > 0 && number <= MOST_COLUMNS)
		terminal.columns = (int)number;
	if (terminal.columns < LEAST_COLUMNS)
		terminal.columns = LEAST_COLUMNS;
	if (terminal.columns > MOST_COLUMNS)
		terminal.columns = MOST_COLUMNS;
	return terminal;
}
