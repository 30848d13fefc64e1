/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said to a person; see say.h. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <laplace/record.h>

#include "say.h"

size_t cli_shown_bytes(const char *characters)
{
	const unsigned char *text = (const unsigned char *)characters;
	size_t bytes = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 :
		       (text[0] & 0xf0) == 0xe0 ? 3 : text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : 0;

	if (text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0))
		return 0;	/* a terminal would obey it */
	for (size_t i = 1; i < bytes; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return bytes;
}

/* Names of files, and what they hold, may be anything. */
void cli_put_shown(FILE *out, const char *text)
{
	while (*text) {
		size_t bytes = cli_shown_bytes(text);

		if (bytes > 0)
			fwrite(text, 1, bytes, out);
		else
			fprintf(out, "\\x%02x", (unsigned char)*text);
		text += bytes > 0 ? bytes : 1;
	}
}

static void put_line(FILE *out, const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	cli_put_shown(out, text ? text : "no memory for a message");
	fputc('\n', out);
	free(text);
}

void cli_say(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(out, format, args);
	va_end(args);
}

int cli_complain(int status, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_name);
	va_start(args, format);
	put_line(stderr, format, args);
	va_end(args);
	return status;
}

bool cli_reader_has_ended(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

void cli_end_stdout(int failed)
{
	/* errno of an earlier write may be lost */
	bool lost = ferror(stdout);

	errno = 0;
	lost |= fflush(stdout) != 0;
	if (lost && !cli_reader_has_ended())
		_Exit(cli_complain(failed, "standard output: %s",
				   errno ? strerror(errno) : "could not be written"));
}

int cli_report(const struct lpl_report *report)
{
	if (report->system_errno == EPIPE)
		return CLI_DONE;
	return cli_complain(lpl_error_status(report->error), "%s",
			    report->text[0] ? report->text
					    : lpl_error_name(report->error));
}

char *cli_human(char buf[CLI_HUMAN_SIZE], uint64_t number)
{
	static const char unit[] = " kMGTPE";
	double value = (double)number;
	int step = 0;

	while (value >= 999.5) {
		value /= 1000;
		step++;
	}
	if (step == 0)
		snprintf(buf, CLI_HUMAN_SIZE, "%" PRIu64, number);
	else
		snprintf(buf, CLI_HUMAN_SIZE, "%.*f %c",
			 value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit[step]);
	return buf;
}

char *cli_duration(char buf[CLI_HUMAN_SIZE], uint64_t seconds)
{
	unsigned int minute = (unsigned int)(seconds / 60 % 60);
	unsigned int second = (unsigned int)(seconds % 60);

	if (seconds >= 360000)
		snprintf(buf, CLI_HUMAN_SIZE, "%u d %u h",
			 (unsigned int)(seconds / 86400 % 10000000),
			 (unsigned int)(seconds / 3600 % 24));
	else if (seconds >= 3600)
		snprintf(buf, CLI_HUMAN_SIZE, "%u:%02u:%02u",
			 (unsigned int)(seconds / 3600), minute, second);
	else
		snprintf(buf, CLI_HUMAN_SIZE, "%u:%02u", minute, second);
	return buf;
}

char *cli_percent(char buf[CLI_PERCENT_SIZE], int digits, uint64_t part, uint64_t whole)
{
	double value = whole ? 100 * (double)part / (double)whole : 0;
	double step = pow(10, 2 - digits);	/* below 100 */

	if (part < whole && value >= 100 - step / 2)
		snprintf(buf, CLI_PERCENT_SIZE, "over %.*g%%", digits, 100 - step);
	else if (value >= pow(10, digits) - 0.5)
		snprintf(buf, CLI_PERCENT_SIZE, "%.0f%%", value);
	else if (part && value < 0.0001)
		snprintf(buf, CLI_PERCENT_SIZE, "under 0.0001%%");
	else
		snprintf(buf, CLI_PERCENT_SIZE, "%.*g%%", digits, value);
	return buf;
}

char *cli_escaped(const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *escaped = malloc(size);

	return escaped ? lpl_text_escape(escaped, size, text, strlen(text)) : NULL;
}

json_t *cli_json_escaped(const char *text)
{
	char *escaped = cli_escaped(text);
	json_t *json = escaped ? json_string(escaped) : NULL;

	free(escaped);
	return json;
}

json_t *cli_json_text(const char *text)
{
	json_t *json = json_string(text);	/* NULL: no UTF-8, or no memory */

	return json ? json : cli_json_escaped(text);
}

json_t *cli_json(uint64_t number)
{
	/* jansson has signed integers only; no counter gets that far */
	return json_integer((json_int_t)number);
}

json_t *cli_json_meta(const struct lpl_meta *meta)
{
	json_t *object = json_object();
	const char *key, *value;

	for (size_t i = 0; i < lpl_meta_count(meta); i++) {
		lpl_meta_at(meta, i, &key, &value);
		json_object_set_new(object, key, cli_json_text(value));
	}
	return object;
}

static void add_count(void *context, const char *name, uint64_t count)
{
	json_object_set_new(context, name, cli_json(count));
}

json_t *cli_json_events(const struct lpl_event_counts *counts)
{
	json_t *object = json_object();

	lpl_event_counts_each(counts, add_count, object);
	return object;
}

int cli_print_json(FILE *out, json_t *json)
{
	if (!json)
		return cli_complain(CLI_FAILED, "no memory for the JSON output");
	json_dumpf(json, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	fputc('\n', out);
	json_decref(json);
	return CLI_DONE;
}
