/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The campaign's file as sections of settings, each checked as it comes, so that it is told with
 * its line what is wrong.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "keys.h"

static const char *const kind_name[CAMPAIGN_KINDS] = {
	[CAMPAIGN_WHOLE] = "campaign", [CAMPAIGN_PROGRAM] = "program", [CAMPAIGN_TRACE] = "trace",
	[CAMPAIGN_IMAGE] = "image", [CAMPAIGN_MACHINE] = "machine",
	[CAMPAIGN_SIMULATION] = "simulation"
};

/* ---- words ---- */

bool campaign_words_add(struct campaign_words *words, const char *word)
{
	char *copy = strdup(word);

	if (copy && lpl_reach(words->word, words->room, words->count + 1)) {
		words->word[words->count++] = copy;
		words->word[words->count] = NULL;
		return true;
	}
	free(copy);
	return false;
}

void campaign_words_free(struct campaign_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
	*words = (struct campaign_words){ .count = 0 };
}

/* One word from `*at` to `to`; false: a quote is not closed. */
static bool take_word(const char **at, char *to)
{
	bool quoted = false;

	for (; **at && (quoted || !isblank((unsigned char)**at)); ++*at) {
		if (**at == '"')
			quoted = !quoted;
		else if (quoted && **at == '\\' && ((*at)[1] == '"' || (*at)[1] == '\\'))
			*to++ = *++*at;
		else
			*to++ = **at;
	}
	*to = '\0';
	return !quoted;
}

enum lpl_error campaign_words_split(struct campaign_words *words, const char *value,
				    struct lpl_report *report)
{
	char *word = malloc(strlen(value) + 1);
	enum lpl_error error = LPL_OK;
	const char *at = value;

	if (!word)
		return lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	for (at += strspn(at, " \t"); !error && *at; at += strspn(at, " \t")) {
		if (!take_word(&at, word))
			error = lpl_fail(report, LPL_ERR_USAGE, "a \" is not closed");
		else if (!campaign_words_add(words, word))
			error = lpl_fail(report, LPL_ERR_MEMORY, "no memory");
	}
	free(word);
	return error;
}

/* ---- reading ---- */

/* A place in the file. */
struct place {
	const char *name;
	unsigned int line;
	struct lpl_report *report;
};

static enum lpl_error wrong(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static enum lpl_error wrong(const struct place *place, const char *format, ...)
{
	char text[LPL_REPORT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return lpl_fail(place->report, LPL_ERR_USAGE, "%.200s:%u: %s", place->name, place->line,
			text);
}

/* Without blanks at either end, in place. */
static char *trimmed(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && isblank((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return text;
}

static const struct campaign_section *find_section(const struct campaign *campaign,
						   enum campaign_kind kind, const char *name)
{
	for (size_t i = 0; i < campaign->count; i++) {
		if (campaign->section[i].kind == kind &&
		    strcmp(campaign->section[i].name, name) == 0)
			return &campaign->section[i];
	}
	return NULL;
}

/* Results are told by the source's name, whatever its kind. */
static const struct campaign_section *find_other(const struct campaign *campaign,
						 enum campaign_kind kind, const char *name)
{
	const struct campaign_section *other = NULL;

	if (kind != CAMPAIGN_PROGRAM && kind != CAMPAIGN_TRACE && kind != CAMPAIGN_IMAGE)
		return find_section(campaign, kind, name);
	for (int i = CAMPAIGN_PROGRAM; !other && i <= CAMPAIGN_IMAGE; i++)
		other = find_section(campaign, (enum campaign_kind)i, name);
	return other;
}

static enum lpl_error begin_section(struct campaign *campaign, char *line,
				    const struct place *place)
{
	size_t length = strlen(line);
	const struct campaign_section *other;
	struct campaign_section *section;
	char *kind, *name;
	int i = 0;

	if (line[length - 1] != ']')
		return wrong(place, "a section is [KIND NAME], and its ] is missing");
	line[length - 1] = '\0';
	name = trimmed(line + 1);
	kind = strsep(&name, " \t");
	name = name ? trimmed(name) : kind + strlen(kind);
	while (i < CAMPAIGN_KINDS && strcmp(kind, kind_name[i]) != 0)
		i++;
	if (i == CAMPAIGN_KINDS)
		return wrong(place, "no section is a '%.100s'; there are campaign, program, trace, "
			     "image, machine and simulation", kind);
	if (i == CAMPAIGN_WHOLE && *name)
		return wrong(place, "[campaign] has no name");
	if (i != CAMPAIGN_WHOLE && !campaign_is_name(name))
		return wrong(place, "a %s has a name of letters, digits and ._-, at most %d, that "
			     "does not begin with one of these three: [%s NAME]", kind,
			     CAMPAIGN_MOST_NAME, kind);
	other = find_other(campaign, (enum campaign_kind)i, name);
	if (other)
		return wrong(place, "[%s%s%s] is there already, in line %u",
			     kind_name[other->kind], *name ? " " : "", name, other->line);
	if (!lpl_reach(campaign->section, campaign->room, campaign->count))
		return lpl_fail(place->report, LPL_ERR_MEMORY, "no memory");
	section = &campaign->section[campaign->count];
	section->kind = (enum campaign_kind)i;
	section->line = place->line;
	section->name = strdup(name);
	if (!section->name)
		return lpl_fail(place->report, LPL_ERR_MEMORY, "no memory");
	campaign->count++;
	return LPL_OK;
}

/* `error` is what was found of a key's value, `report` tells it. */
static enum lpl_error wrong_value(enum lpl_error error, const char *key,
				  const struct lpl_report *report, const struct place *place)
{
	if (!error)
		return LPL_OK;
	return error == LPL_ERR_MEMORY ?
		       lpl_fail(place->report, LPL_ERR_MEMORY, "no memory") :
		       wrong(place, "%s: %s", key, report->text);
}

static enum lpl_error check_value(const struct campaign_key *key, const char *value,
				  const struct place *place)
{
	struct lpl_report report = { .error = LPL_OK };
	enum lpl_error error = key->check ? key->check(key->name, value, &report) : LPL_OK;

	return wrong_value(error, key->name, &report, place);
}

static enum lpl_error add_setting(struct campaign_section *section, char *line,
				  const struct place *place)
{
	char *value = strchr(line, '='), *name, list[320];
	const struct campaign_key *key;
	struct campaign_setting *setting;
	enum lpl_error error;

	if (!value)
		return wrong(place, "neither [KIND NAME] nor KEY = VALUE");
	*value++ = '\0';
	name = trimmed(line);
	value = trimmed(value);
	key = campaign_find_key(section->kind, name);
	if (!key) {
		campaign_list_keys(section->kind, list, sizeof(list));
		return wrong(place, "a %s has no key '%.60s'; it may have %s",
			     kind_name[section->kind], name, list);
	}
	if (!*value)
		return wrong(place, "%s has no value", name);
	for (size_t i = 0; !key->repeats && i < section->count; i++) {
		if (section->setting[i].key == key)
			return wrong(place, "%s is there already, in line %u", name,
				     section->setting[i].line);
	}
	error = check_value(key, value, place);
	if (error)
		return error;
	if (!lpl_reach(section->setting, section->room, section->count))
		return lpl_fail(place->report, LPL_ERR_MEMORY, "no memory");
	setting = &section->setting[section->count];
	*setting = (struct campaign_setting){ .key = key,
					      .line = place->line,
					      .value = strdup(value) };
	if (!setting->value)
		return lpl_fail(place->report, LPL_ERR_MEMORY, "no memory");
	section->count++;
	return LPL_OK;
}

static enum lpl_error read_line(struct campaign *campaign, char *line, const struct place *place)
{
	line = trimmed(line);
	if (*line == '\0' || *line == '#')
		return LPL_OK;
	for (const char *at = line; *at; at++) {
		if (iscntrl((unsigned char)*at) && *at != '\t')
			return wrong(place, "has a control character (\\x%02x)",
				     (unsigned char)*at);
	}
	if (*line == '[')
		return begin_section(campaign, line, place);
	if (!campaign->count)
		return wrong(place, "a section, as [campaign], has to be first");
	return add_setting(&campaign->section[campaign->count - 1], line, place);
}

/* ---- the whole ---- */

static enum lpl_error require_key(const struct campaign_section *section, const char *key,
				  const struct place *place)
{
	return campaign_value(section, key) ? LPL_OK :
		wrong(place, "[%s %s] has no %s", kind_name[section->kind], section->name, key);
}

/* Told with the policies' line. */
static enum lpl_error check_simulation(const struct campaign_section *section,
				       const struct place *place)
{
	struct lpl_report report = { .error = LPL_OK };
	struct place there = *place;
	const char *sizes = campaign_value(section, "sizes");
	enum lpl_error error = require_key(section, "policies", place);

	if (error)
		return error;
	if (campaign_value(section, "sizes-per-job") && (!sizes || strcmp(sizes, "all") == 0))
		return wrong(place, "[simulation %s] has sizes-per-job, but no list of sizes",
			     section->name);
	for (size_t i = 0; i < section->count; i++) {
		if (strcmp(section->setting[i].key->name, "policies") == 0)
			there.line = section->setting[i].line;
	}
	error = campaign_check_policies(section, &report);
	return wrong_value(error, "policies", &report, &there);
}

/* What only the whole section shows. */
static enum lpl_error check_section(const struct campaign_section *section,
				    const struct place *place)
{
	switch (section->kind) {
	case CAMPAIGN_PROGRAM:
		return require_key(section, "command", place);
	case CAMPAIGN_TRACE:
		return require_key(section, "file", place);
	case CAMPAIGN_IMAGE:
		return require_key(section, "bochsrc", place);
	case CAMPAIGN_SIMULATION:
		return check_simulation(section, place);
	default:
		return LPL_OK;
	}
}

/* A list names sections that there are, of this kind and the kinds that share its names. */
static enum lpl_error check_list(const struct campaign *campaign,
				 const struct campaign_section *section, const char *key,
				 enum campaign_kind kind, const struct place *place)
{
	struct campaign_words words = { .count = 0 };
	const char *value = campaign_value(section, key);
	enum lpl_error error = value ? campaign_words_split(&words, value, place->report) : LPL_OK;

	for (size_t i = 0; !error && i < words.count; i++) {
		if (!find_other(campaign, kind, words.word[i]))
			error = wrong(place, "[%s %s]: %s: there is no '%s'",
				      kind_name[section->kind], section->name, key,
				      words.word[i]);
	}
	campaign_words_free(&words);
	return error;
}

static enum lpl_error check_whole(const struct campaign *campaign, const struct place *place)
{
	bool sources = false;

	for (size_t i = 0; i < campaign->count; i++) {
		const struct campaign_section *section = &campaign->section[i];
		struct place there = { place->name, section->line, place->report };
		enum lpl_error error = check_section(section, &there);

		if (!error)
			error = check_list(campaign, section, "machines", CAMPAIGN_MACHINE,
					   &there);
		if (!error)
			error = check_list(campaign, section, "sources", CAMPAIGN_PROGRAM, &there);
		if (error)
			return error;
		sources |= section->kind == CAMPAIGN_PROGRAM || section->kind == CAMPAIGN_TRACE ||
			   section->kind == CAMPAIGN_IMAGE;
	}
	return sources ? LPL_OK : wrong(place, "no program, trace or image is named");
}

enum lpl_error campaign_read(struct campaign *campaign, const char *text, const char *name,
			     struct lpl_report *report)
{
	struct place place = { name, 0, report };
	char *copy = strdup(text), *rest = copy, *line;
	enum lpl_error error = copy ? LPL_OK : lpl_fail(report, LPL_ERR_MEMORY, "no memory");

	while (!error && (line = strsep(&rest, "\n"))) {
		size_t length = strlen(line);

		place.line++;
		if (length && line[length - 1] == '\r')
			line[length - 1] = '\0';
		error = read_line(campaign, line, &place);
	}
	free(copy);
	return error ? error : check_whole(campaign, &place);
}

void campaign_free(struct campaign *campaign)
{
	for (size_t i = 0; i < campaign->count; i++) {
		struct campaign_section *section = &campaign->section[i];

		for (size_t j = 0; j < section->count; j++)
			free(section->setting[j].value);
		free(section->setting);
		free(section->name);
	}
	free(campaign->section);
	*campaign = (struct campaign){ .count = 0 };
}

const char *campaign_value(const struct campaign_section *section, const char *key)
{
	for (size_t i = 0; section && i < section->count; i++) {
		if (strcmp(section->setting[i].key->name, key) == 0)
			return section->setting[i].value;
	}
	return NULL;
}

const struct campaign_section *campaign_whole(const struct campaign *campaign)
{
	return find_section(campaign, CAMPAIGN_WHOLE, "");
}

bool campaign_lists(const struct campaign_section *section, const char *key, const char *name)
{
	const char *value = campaign_value(section, key);
	size_t length = strlen(name);

	/* names have no blanks, and no quotes */
	for (const char *at = value; at && (at = strstr(at, name)); at += length) {
		if ((at == value || isblank((unsigned char)at[-1])) &&
		    (at[length] == '\0' || isblank((unsigned char)at[length])))
			return true;
	}
	return !value;
}
