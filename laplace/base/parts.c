/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Specifications that are made of parts; see parts.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "parts.h"

enum { MILLION = 1000000 };

static bool takes(const struct lpl_part *part, const char *value)
{
	return part->value != NULL && strcmp(part->value, value) == 0;
}

/* Is that the end of a part? */
static bool ends(char at)
{
	return at == '\0' || at == '+' || at == ',';
}

/* The part that begins here, as in "length:"; their count: none does. */
static int part_at(const struct lpl_parts *parts, const char *at)
{
	int i = 0;

	for (; i < parts->count; i++) {
		const struct lpl_part *part = &parts->part[i];
		size_t length = strlen(part->name);

		if (strncmp(at, part->name, length) == 0 &&
		    (part->value != NULL ? at[length] == ':' : ends(at[length])))
			break;
	}
	return i;
}

bool lpl_parts_begin(const struct lpl_parts *parts, const char *at)
{
	return part_at(parts, at) != parts->count;
}

/* Where the value ends that begins here: at a separator with a part after it, or the end. */
static const char *value_end(const struct lpl_parts *parts, const char *at)
{
	for (; *at; at++) {
		if ((*at == '+' || *at == ',') && lpl_parts_begin(parts, at + 1))
			break;
	}
	return at;
}

/* 1G, 250k, 10000; what is beyond 64 bits is none. */
static bool scan_number(const struct lpl_part_value *value, uint64_t *number)
{
	static const char units[] = "kMGT";
	const char *whole = value->text + value->length, *end = lpl_scan_decimal(value->text, number);
	const char *unit = end != NULL && end < whole ? strchr(units, *end) : NULL;

	if (end == NULL || (end < whole && unit == NULL) || end + 1 < whole)
		return false;
	for (ptrdiff_t thousands = unit != NULL ? unit - units + 1 : 0; thousands > 0; thousands--)
		if (__builtin_mul_overflow(*number, (uint64_t)1000, number))
			return false;
	return true;
}

/* The same, or 1.25, in millionths; what is less than one does not count. */
static bool scan_seconds(const struct lpl_part_value *value, uint64_t *number)
{
	const char *at = lpl_scan_decimal(value->text, number);
	const bool is_fraction = at != NULL && *at == '.';
	uint64_t unit = MILLION;

	if ((!is_fraction && !scan_number(value, number)) ||
	    __builtin_mul_overflow(*number, unit, number))
		return false;
	if (!is_fraction)
		return true;
	for (at++; *at >= '0' && *at <= '9'; at++)
		if (__builtin_add_overflow(*number, (uint64_t)(*at - '0') * (unit /= 10), number))
			return false;
	return at == value->text + value->length;
}

static enum lpl_error check_value(const struct lpl_part *part, struct lpl_part_value *value,
				  struct lpl_report *report)
{
	if (value->length == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "nothing follows %s:", part->name);
	if (takes(part, "N") && (!scan_number(value, &value->number) || value->number == 0))
		return lpl_fail(report, LPL_ERR_USAGE, "%s:%.*s is no number from 1 on, "
				"as 10M or 250000", part->name, (int)value->length, value->text);
	if (takes(part, "S") && !scan_seconds(value, &value->number))
		return lpl_fail(report, LPL_ERR_USAGE, "%s:%.*s is no number of seconds, "
				"as 90 or 0.5", part->name, (int)value->length, value->text);
	return LPL_OK;
}

/* Of the use that it is read for. */
static bool has(const struct lpl_parts *parts, int part)
{
	return parts->use == 0 || (parts->part[part].uses & parts->use) != 0;
}

static enum lpl_error refuse(const struct lpl_parts *parts, const char *at, struct lpl_report *report)
{
	const int unwanted = part_at(parts, at);
	char known[256] = "";
	size_t used = 0;

	for (int i = 0; i < parts->count && used < sizeof(known); i++) {
		const struct lpl_part *part = &parts->part[i];

		if (has(parts, i))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s%s%s",
						 used ? ", " : "", part->name, part->value ? ":" : "",
						 part->value ? part->value : "");
	}
	if (unwanted < parts->count)
		return lpl_fail(report, LPL_ERR_USAGE, "%s: is no condition for %s; there are %s",
				parts->part[unwanted].name, parts->used_for, known);
	return lpl_fail(report, LPL_ERR_USAGE, "'%.40s' is none of %s", at, known);
}

/* From its colon on, where *at is, which is moved to its end. */
static enum lpl_error take_value(const struct lpl_parts *parts, int part,
				 struct lpl_part_value *value, const char **at,
				 struct lpl_report *report)
{
	value->text = *at + 1;
	*at = value_end(parts, value->text);
	value->length = (size_t)(*at - value->text);
	return check_value(&parts->part[part], value, report);
}

enum lpl_error lpl_parts_parse(const struct lpl_parts *parts, const char *spec,
			       struct lpl_part_value *values, struct lpl_report *report)
{
	const char *at = spec;

	memset(values, 0, (size_t)parts->count * sizeof(*values));
	for (;;) {
		const int i = part_at(parts, at);
		const struct lpl_part *part = &parts->part[i];
		enum lpl_error error;

		if (i == parts->count || !has(parts, i))
			return refuse(parts, at, report);
		if (values[i].text != NULL || values[i].plain)
			return lpl_fail(report, LPL_ERR_USAGE, "%s: is given twice", part->name);
		at += strlen(part->name);
		values[i].plain = part->value == NULL;
		error = part->value == NULL ? LPL_OK : take_value(parts, i, &values[i], &at, report);
		if (error || !*at)
			return error;
		at++;
	}
}

/* Returns the length, as snprintf() does. */
static int print_value(char *text, size_t size, const struct lpl_part *part,
		       const struct lpl_part_value *value)
{
	uint64_t whole = value->number / MILLION, fraction = value->number % MILLION;
	int digits = 6;

	if (takes(part, "N"))
		return snprintf(text, size, "%" PRIu64, value->number);
	if (!takes(part, "S"))
		return snprintf(text, size, "%.*s", (int)value->length, value->text);
	if (fraction == 0)
		return snprintf(text, size, "%" PRIu64, whole);
	for (; fraction % 10 == 0; fraction /= 10)
		digits--;
	return snprintf(text, size, "%" PRIu64 ".%0*" PRIu64, whole, digits, fraction);
}

enum lpl_error lpl_parts_print(const struct lpl_parts *parts, const struct lpl_part_value *values,
			       char *spec, size_t size, struct lpl_report *report)
{
	size_t used = 0;

	spec[0] = '\0';
	for (int i = 0; i < parts->count && used < size; i++) {
		const struct lpl_part *part = &parts->part[i];

		if (values[i].text == NULL && !values[i].plain)
			continue;
		used += (size_t)snprintf(spec + used, size - used, "%s%s%s", used ? "+" : "",
					 part->name, part->value ? ":" : "");
		if (part->value && used < size)
			used += (size_t)print_value(spec + used, size - used, part, &values[i]);
	}
	/* numbers are longer than those with units */
	return used < size ? LPL_OK : lpl_fail(report, LPL_ERR_USAGE, "longer than %zu bytes",
					       size - 1);
}
