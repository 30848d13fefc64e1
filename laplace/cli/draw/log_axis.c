/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ticks of logarithmic axes; see log_axis.h. */
#include "log_axis.h"

#include <math.h>
#include <stdio.h>

/* What rounding may do to an end that is meant to be within. */
#define SLACK 1.0000001

double log_axis_place(const struct log_axis *axis, double value)
{
	return log(value / axis->low) / log(axis->high / axis->low);
}

static bool is_within(const struct log_axis *axis, double value)
{
	return value * SLACK >= axis->low && value <= axis->high * SLACK;
}

static void add(struct log_tick tick[LOG_TICKS], size_t *count, double value, bool labelled)
{
	if (*count < LOG_TICKS)
		tick[(*count)++] = (struct log_tick){ value, labelled };
}

double axis_step(double length, double most)
{
	const double least = length / most, power = pow(10, floor(log10(least)));

	return least <= power ? power : least <= 2 * power ? 2 * power :
	       least <= 5 * power ? 5 * power : 10 * power;
}

/* Where there is no room for powers, round steps. */
static size_t linear(const struct log_axis *axis, size_t most, struct log_tick tick[LOG_TICKS])
{
	const double step = axis_step(axis->high - axis->low, (double)most);
	size_t count = 0;

	for (double i = ceil(axis->low / step / SLACK); is_within(axis, i * step); i++)
		add(tick, &count, i * step, true);
	return count;
}

size_t log_axis_of_memory(const struct log_axis *axis, size_t most, struct log_tick tick[LOG_TICKS])
{
	const int first = (int)ceil(log2(axis->low / SLACK));
	const int last = (int)floor(log2(axis->high * SLACK));
	const int powers = last - first + 1;
	int step = 1;
	size_t count = 0;

	if (powers < 3)
		return linear(axis, most, tick);
	while ((size_t)(powers + step - 1) / (size_t)step > most)
		step++;
	for (int i = first; i <= last; i++)
		add(tick, &count, exp2(i), ((i % step) + step) % step == 0);
	return count;
}

size_t log_axis_of_faults(const struct log_axis *axis, size_t most, struct log_tick tick[LOG_TICKS])
{
	const int first = (int)floor(log10(axis->low)), last = (int)ceil(log10(axis->high));
	const double decades = log10(axis->high / axis->low);
	/* one, two and five have labels, too, while there is room for them */
	const bool all = decades < 3 && 3 * decades + 1 <= (double)most;
	int step = 1;
	size_t count = 0;

	if (decades < 0.8)
		return linear(axis, most, tick);
	while (decades / step + 1 > (double)most)
		step++;
	for (int i = first; i <= last; i++) {
		for (int digit = 1; digit <= 9; digit++) {
			const double value = digit * pow(10, i);
			const bool is_power = digit == 1 && ((i % step) + step) % step == 0;

			if (is_within(axis, value))
				add(tick, &count, value,
				    is_power || (all && (digit == 2 || digit == 5)));
		}
	}
	return count;
}

static char *scaled(char text[LOG_LABEL], double value, double base, const char *unit,
		    const char *suffix)
{
	int i = 0;

	while (value >= base && unit[i + 1]) {
		value /= base;
		i++;
	}
	snprintf(text, LOG_LABEL, "%.4g%.*s%s", value, i ? 1 : 0, &unit[i], i ? suffix : "");
	return text;
}

char *log_axis_pages(char text[LOG_LABEL], double pages)
{
	if (pages >= 131072)
		return scaled(text, pages, 1024, " KMGTPE", "i");
	if (pages >= 1000)
		snprintf(text, LOG_LABEL, "%.0f", pages);
	else
		snprintf(text, LOG_LABEL, "%.4g", pages);
	return text;
}

char *log_axis_bytes(char text[LOG_LABEL], double bytes)
{
	return scaled(text, bytes, 1024, " KMGTPE", "");
}

char *log_axis_count(char text[LOG_LABEL], double count)
{
	return scaled(text, count, 1000, " kMGTPE", "");
}
