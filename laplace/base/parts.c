/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Specifications that are made of parts; see parts.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "parts.h"

static bool is_number(const struct lpl_part *part)
{
	return part->value != NULL && strcmp(part->value, "N") == 0;
}

/* Is that the end of a part? */
static bool ends(char at)
{
	return at == '\0' || at == '+' || at == ',';
}

/* The part that begins here, as in "length:"; `count`: none does. */
static int part_at(const struct lpl_part *parts, int count, const char *at)
{
	for (int part = 0; part < count; part++) {
		size_t length = strlen(parts[part].name);

		if (strncmp(at, parts[part].name, length) == 0 &&
		    (parts[part].value != NULL ? at[length] == ':' : ends(at[length])))
			return part;
	}
	return count;
}

/* Where the value ends that begins here: at a separator with a part after it, or the end. */
static const char *value_end(const struct lpl_part *parts, int count, const char *at)
{
	for (; *at; at++) {
		if ((*at == '+' || *at == ',') && part_at(parts, count, at + 1) != count)
			break;
	}
	return at;
}

/* 1G, 250k, 10000; 0 and what is beyond 64 bits is none. */
static bool parse_number(struct lpl_part_value *value)
{
	static const char units[] = "kMGT";
	uint64_t *number = &value->number;
	const char *end = lpl_scan_decimal(value->text, number);
	size_t digits = end != NULL ? (size_t)(end - value->text) : 0, thousands = 0;

	if (digits == 0 || *number == 0 || value->length > digits + 1)
		return false;
	if (value->length > digits) {
		const char *unit = strchr(units, *end);

		if (unit == NULL)
			return false;
		thousands = (size_t)(unit - units) + 1;
	}
	for (; thousands > 0; thousands--) {
		if (__builtin_mul_overflow(*number, (uint64_t)1000, number))
			return false;
	}
	return true;
}

static enum lpl_error check_value(const struct lpl_part *part, struct lpl_part_value *value,
				  struct lpl_report *report)
{
	if (value->length == 0)
		return lpl_fail(report, LPL_ERR_USAGE, "nothing follows %s:", part->name);
	if (is_number(part) && !parse_number(value))
		return lpl_fail(report, LPL_ERR_USAGE, "%s:%.*s is no number from 1 on, "
				"as 10M or 250000", part->name, (int)value->length, value->text);
	return LPL_OK;
}

static enum lpl_error refuse(const struct lpl_part *parts, int count, const char *at,
			     struct lpl_report *report)
{
	char known[256] = "";
	size_t used = 0;

	for (int part = 0; part < count && used < sizeof(known); part++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s%s%s",
					 part ? ", " : "", parts[part].name,
					 parts[part].value != NULL ? ":" : "",
					 parts[part].value != NULL ? parts[part].value : "");
	return lpl_fail(report, LPL_ERR_USAGE, "'%.40s' is none of %s", at, known);
}

static enum lpl_error take_plain(struct lpl_part_value *value)
{
	value->plain = true;
	return LPL_OK;
}

/* From its colon on, where *at is, which is moved to its end. */
static enum lpl_error take_value(const struct lpl_part *parts, int count, int part,
				 struct lpl_part_value *value, const char **at,
				 struct lpl_report *report)
{
	value->text = *at + 1;
	*at = value_end(parts, count, value->text);
	value->length = (size_t)(*at - value->text);
	return check_value(&parts[part], value, report);
}

enum lpl_error lpl_parts_parse(const struct lpl_part *parts, int count, const char *spec,
			       struct lpl_part_value *values, struct lpl_report *report)
{
	const char *at = spec;

	memset(values, 0, (size_t)count * sizeof(*values));
	for (;;) {
		int part = part_at(parts, count, at);
		struct lpl_part_value *value = &values[part];
		enum lpl_error error;

		if (part == count)
			return refuse(parts, count, at, report);
		if (value->text != NULL || value->plain)
			return lpl_fail(report, LPL_ERR_USAGE, "%s: is given twice",
					parts[part].name);
		at += strlen(parts[part].name);
		error = parts[part].value == NULL ? take_plain(value) :
			take_value(parts, count, part, value, &at, report);
		if (error || !*at)
			return error;
		at++;
	}
}

enum lpl_error lpl_parts_print(const struct lpl_part *parts, int count,
			       const struct lpl_part_value *values, char *spec, size_t size,
			       struct lpl_report *report)
{
	size_t used = 0;

	spec[0] = '\0';
	for (int part = 0; part < count; part++) {
		const struct lpl_part_value *value = &values[part];
		int length;

		if (value->text == NULL && !value->plain)
			continue;
		if (value->plain)
			length = snprintf(spec + used, size - used, "%s%s", used ? "+" : "",
					  parts[part].name);
		else if (is_number(&parts[part]))
			length = snprintf(spec + used, size - used, "%s%s:%" PRIu64,
					  used ? "+" : "", parts[part].name, value->number);
		else
			length = snprintf(spec + used, size - used, "%s%s:%.*s", used ? "+" : "",
					  parts[part].name, (int)value->length, value->text);
		used += (size_t)length;
		if (used >= size)	/* whole numbers are longer than those with units */
			return lpl_fail(report, LPL_ERR_USAGE, "longer than %zu bytes", size - 1);
	}
	return LPL_OK;
}
