/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When recording starts or stops, or the run ends; see conditions.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parts.h"
#include "conditions.h"

static const struct lpl_part parts[LPL_CONDITIONS] = {
	[LPL_AT_INSTRUCTIONS] = { "instructions", "N" }, [LPL_AT_REFERENCES] = { "references", "N" },
	[LPL_AT_BYTES] = { "bytes", "N" }, [LPL_AT_SECONDS] = { "seconds", "N" },
	[LPL_AT_MARK] = { "mark", "TEXT" }, [LPL_AT_EXEC] = { "exec", "NAME" },
};

/*
 * What each use is good for.  Nothing has been recorded, or written, before recording starts;
 * and to stop by the host's clock would make a trace that no other run has, in a run that
 * goes on.
 */
#define KNOWN_TO_THE_GUEST \
	(1U << LPL_AT_INSTRUCTIONS | 1U << LPL_AT_MARK | 1U << LPL_AT_EXEC)
static const struct {
	const char *name;
	unsigned int conditions;
} uses[] = {
	[LPL_TO_START] = { "start", KNOWN_TO_THE_GUEST },
	[LPL_TO_STOP] = { "stop", KNOWN_TO_THE_GUEST | 1U << LPL_AT_REFERENCES },
	[LPL_TO_END] = { "end", (1U << LPL_CONDITIONS) - 1 },
};

void lpl_conditions_clear(struct lpl_conditions *c)
{
	memset(c, 0, sizeof(*c));
	for (int which = 0; which < LPL_CONDITIONS; which++)
		c->number[which] = LPL_NEVER;
}

static enum lpl_error check_use(const struct lpl_part_value *said, enum lpl_conditions_use use,
				struct lpl_report *report)
{
	for (int which = 0; which < LPL_CONDITIONS; which++) {
		if (said[which].text != NULL && !(uses[use].conditions & 1U << which))
			return lpl_fail(report, LPL_ERR_USAGE, "%s: is no condition for the %s",
					parts[which].name, uses[use].name);
	}
	return LPL_OK;
}

static void keep(struct lpl_conditions *c, const struct lpl_part_value *said)
{
	for (int which = 0; which < LPL_CONDITIONS; which++) {
		const struct lpl_part_value *value = &said[which];

		if (value->text == NULL)
			continue;
		if (value->number != 0)
			c->number[which] = value->number;
		else	/* as long as the whole at most */
			snprintf(c->text[which], LPL_CONDITIONS_SIZE, "%.*s", (int)value->length,
				 value->text);
	}
}

enum lpl_error lpl_conditions_parse(struct lpl_conditions *c, const char *spec,
				    enum lpl_conditions_use use, struct lpl_report *report)
{
	struct lpl_part_value said[LPL_CONDITIONS];
	enum lpl_error error = lpl_parts_parse(parts, LPL_CONDITIONS, spec, said, report);

	lpl_conditions_clear(c);
	if (!error)
		error = check_use(said, use, report);
	if (!error)
		error = lpl_parts_print(parts, LPL_CONDITIONS, said, c->spec, sizeof(c->spec),
					report);
	if (error)
		lpl_conditions_clear(c);
	else
		keep(c, said);
	return error;
}

bool lpl_conditions_need_kernel(const struct lpl_conditions *c)
{
	return c->text[LPL_AT_MARK][0] != '\0' || c->text[LPL_AT_EXEC][0] != '\0';
}

bool lpl_condition_holds(const struct lpl_conditions *c, enum lpl_condition which, uint64_t now)
{
	return c->number[which] != LPL_NEVER && now >= c->number[which];
}

static bool is_text(const char *text, const char *of_record, size_t length)
{
	return text[0] != '\0' && strlen(text) == length && memcmp(text, of_record, length) == 0;
}

static bool is_image(const char *name, const struct kernel_trace_record *record)
{
	const char *path = record->text, *slash = memrchr(path, '/', record->text_length);
	const char *last = slash != NULL && strchr(name, '/') == NULL ? slash + 1 : path;

	return is_text(name, last, record->text_length - (size_t)(last - path));
}

enum lpl_condition lpl_conditions_take(const struct lpl_conditions *c,
				       const struct kernel_trace_record *record)
{
	if (record->tag == KTR_MARK &&
	    is_text(c->text[LPL_AT_MARK], record->text, record->text_length))
		return LPL_AT_MARK;
	if (record->tag == KTR_EXEC && is_image(c->text[LPL_AT_EXEC], record))
		return LPL_AT_EXEC;
	return LPL_CONDITIONS;
}

char *lpl_condition_say(const struct lpl_conditions *c, enum lpl_condition which,
			char said[LPL_CONDITIONS_SIZE])
{
	if (c->text[which][0] != '\0')
		snprintf(said, LPL_CONDITIONS_SIZE, "%s:%.300s", parts[which].name, c->text[which]);
	else
		snprintf(said, LPL_CONDITIONS_SIZE, "%s:%" PRIu64, parts[which].name,
			 c->number[which]);
	return said;
}
