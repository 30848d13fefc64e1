/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables as text, in HTML and in JSON; see table.h. */
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/svg.h"
#include "cli/say.h"

#define NARROW "&#8239;"	/* a narrow blank of HTML: between thousands, and before a unit */

/* ---- cells ---- */

#define STRING_SIZE 32

static const char *string_of(const struct cell *cell, const char *unit, char buf[STRING_SIZE])
{
	buf[0] = '\0';
	if (cell->type == CELL_NUMBER || cell->type == CELL_ID)
		snprintf(buf, STRING_SIZE, "%" PRIu64, cell->number);
	else if (cell->type == CELL_REAL)
		snprintf(buf, STRING_SIZE, "%.*f", (int)cell->count, cell->real);
	else if (cell->type == CELL_SHARE)
		snprintf(buf, STRING_SIZE, "%.1f%s", 100 * cell->real, unit);
	return cell->type >= CELL_TEXT ? cell->text : buf;
}

static void put_text(const struct table *table, const struct entry *entry)
{
	const struct cell *cell = &entry->cell;
	const bool is_cut = cell->type == CELL_CUT || cell->type == CELL_PATH;
	const size_t room = (size_t)abs(entry->width);
	char buf[STRING_SIZE];
	const char *text = table->in_titles ? entry->text : string_of(cell, "%", buf);

	if (cell->type == CELL_PATH && strlen(text) > room)
		text += strlen(text) - room;
	fprintf(table->out, "%*.*s", entry->width, is_cut ? (int)room : -1, text);
}

static void put_html(const struct table *table, const struct entry *entry)
{
	const struct cell *cell = &entry->cell;
	const bool is_text = cell->type >= CELL_TEXT, is_titled_text = entry->html[0] == ' ';
	char buf[STRING_SIZE];
	const char *text = string_of(cell, NARROW "%", buf);

	if (table->in_titles) {
		fprintf(table->out, is_titled_text ? "<th class=\"t\">%s</th>" : "<th>%s</th>",
			entry->html + is_titled_text);
		return;
	}
	fputs(cell->type == CELL_SPAN ? "<td colspan=\"2\">" : is_text ? "<td class=\"t\">" : "<td>",
	      table->out);
	if (is_text)
		svg_escape(table->out, text);
	else if (cell->type != CELL_NUMBER)
		fputs(text, table->out);
	for (size_t left = cell->type == CELL_NUMBER ? strlen(text) : 0; left > 0; text++, left--)
		fprintf(table->out, "%s%c", text != buf && left % 3 == 0 ? NARROW : "", *text);
	fputs("</td>", table->out);
}

json_t *cell_json(struct cell cell)
{
	json_t *json;

	switch (cell.type) {
	case CELL_UNKNOWN:
		return json_null();
	case CELL_REAL:
		return json_real(cell.real);
	case CELL_SERIES:
		json = json_array();
		for (unsigned int bin = 0; bin < cell.count; bin++)
			json_array_append_new(json, cli_json(lpl_time_series_get(cell.series, bin)));
		return json;
	case CELL_NUMBERS:
		json = json_object();
		for (unsigned int i = 0; i < cell.count; i++)
			json_object_set_new(json, cell.name(i), cli_json(cell.numbers[i]));
		return json;
	default:
		return cell.type >= CELL_TEXT ? cli_json_text(cell.text) : cli_json(cell.number);
	}
}

/* ---- rows ---- */

static void put_json(struct table *table, const struct entry *entry, size_t count)
{
	json_t *row = json_object();

	for (size_t i = 0; i < count; i++) {
		if (entry[i].json)
			json_object_set_new(row, entry[i].json, cell_json(entry[i].cell));
	}
	json_writer_put(table->json, NULL, row);
}

void table_begin(struct table *table)
{
	table->in_titles = true;
	if (table->form == TABLE_HTML)
		fputs("<div class=\"wide\"><table>", table->out);
}

void table_row(struct table *table, const struct entry *entry, size_t count)
{
	const bool is_html = table->form == TABLE_HTML;
	const char *before = "  ";

	if (table->form == TABLE_JSON && !table->in_titles)
		put_json(table, entry, count);
	if (is_html)
		fputs("<tr>", table->out);
	for (; count > 0 && table->form != TABLE_JSON; entry++, count--) {
		if (is_html && entry->html) {
			put_html(table, entry);
		} else if (!is_html && entry->text) {
			fputs(before, table->out);
			put_text(table, entry);
			before = " ";
		}
	}
	if (table->form != TABLE_JSON)
		fputs(is_html ? "</tr>\n" : "\n", table->out);
	table->in_titles = false;
}

void table_end(struct table *table, uint64_t more)
{
	if (table->form == TABLE_HTML)
		fputs("</table></div>\n", table->out);
	if (more && table->form != TABLE_JSON)
		fprintf(table->out, table->form == TABLE_HTML ?
			"<p class=\"dim\">%" PRIu64 " more; --top shows more of them.</p>\n" :
			"  %" PRIu64 " more\n", more);
}
