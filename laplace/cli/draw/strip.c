/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers over time as a line of characters. */
#include "chart.h"

#include <string.h>

struct strip strip_of(const char *text, unsigned int columns)
{
	struct strip strip;

	snprintf(strip.text, sizeof(strip.text), "|%.*s|", (int)columns, text);
	return strip;
}

struct strip level_strip(const uint64_t value[LPL_SURVEY_BINS], unsigned int bins,
			 const struct strip_way *way)
{
	static const char *const ascii[] = { "_", ".", "-", "=", "*", "#" };
	static const char *const block[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	const unsigned int columns = bins < way->room ? bins : way->room;
	uint64_t column[LPL_SURVEY_BINS] = { 0 }, most = way->most;
	char text[3 * LPL_SURVEY_BINS + 1] = "", *end = text;

	for (unsigned int bin = 0; bin < bins; bin++) {
		uint64_t *place = &column[strip_column(bin, bins, way->room)];

		if (way->has_sums)
			*place += value[bin];
		else if (value[bin] > *place)
			*place = value[bin];
	}
	if (!most)
		most = chart_most(column);
	for (unsigned int i = 0; i < columns; i++) {
		const double part = share_of(column[i], most);

		end = stpcpy(end, !column[i] ? " " : way->has_utf8 ? block[(int)(part * 7 + 0.5)] :
							      ascii[(int)(part * 5 + 0.5)]);
	}
	return strip_of(text, (unsigned int)(end - text));
}

struct strip series_strip(const struct lpl_survey *survey, const struct lpl_time_series *series,
			  uint64_t most)
{
	const struct strip_way way = { .room = STRIP, .most = most };
	uint64_t value[LPL_SURVEY_BINS];

	chart_values(series, value);
	return level_strip(value, survey->time->bins, &way);
}
