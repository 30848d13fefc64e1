/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* laplace export --formats: what each format keeps of a reference, as the library knows it. */
#include <stdio.h>
#include <string.h>

#include "addresses.h"
#include "conversion.h"
#include "say.h"

/* The columns after the name; the first ones are texts, the others say whether it has something. */
enum { FILES, UNIT, ADDRESSES, TYPES, TEXTS };

static const char *const titles[TEXTS] = { "file", "unit", "addresses", "types" };

static const struct {
	const char *title;
	unsigned int trait;
} fields[] = {
	{ "length", LPL_WITH_LENGTH }, { "space", LPL_WITH_SPACE }, { "cycle", LPL_WITH_CYCLE },
	{ "instruction", LPL_WITH_INSTR }, { "reference", LPL_WITH_REF }, { "mode", LPL_WITH_MODE },
	{ "events", LPL_FORMAT_EVENTS },
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static const char *types_of(unsigned int traits)
{
	return traits & LPL_WITH_WALKS ? "rwipq" : traits & LPL_WITH_FETCHES ? "rwi" :
	       traits & LPL_WITH_WRITES ? "rw" : "-";
}

static const char *addresses_of(const struct lpl_format *format)
{
	switch (cli_addresses_for(format, CLI_ADDRESSES_AUTO)) {
	case CLI_ADDRESSES_FRAMES:
		return "physical";
	case CLI_ADDRESSES_KEPT:
		return "virtual";
	default:
		return "auto";
	}
}

static void texts_of(const char *texts[TEXTS], const struct lpl_format *format)
{
	const unsigned int traits = lpl_format_traits(format);

	texts[FILES] = traits & LPL_FORMAT_BINARY ? "binary" : "text";
	texts[UNIT] = traits & LPL_FORMAT_PAGES ? "page" : "byte";
	texts[ADDRESSES] = addresses_of(format);
	texts[TYPES] = types_of(traits);
}

static void print_line(const struct lpl_format *format)
{
	const unsigned int traits = lpl_format_traits(format);
	const char *texts[TEXTS];

	texts_of(texts, format);
	printf("%-13s  %-6s  %-4s  %-9s  %-5s", lpl_format_name(format), texts[FILES], texts[UNIT],
	       texts[ADDRESSES], texts[TYPES]);
	for (int i = 0; i < FIELDS; i++)
		printf("  %*s", (int)strlen(fields[i].title), traits & fields[i].trait ? "yes" : "-");
	putchar('\n');
}

static void print_titles(void)
{
	printf("%-13s  %-6s  %-4s  %-9s  %-5s", "format", titles[FILES], titles[UNIT], titles[ADDRESSES],
	       titles[TYPES]);
	for (int i = 0; i < FIELDS; i++)
		printf("  %s", fields[i].title);
	putchar('\n');
}

static json_t *describe(const struct lpl_format *format)
{
	json_t *object = json_pack("{s:s}", "format", lpl_format_name(format));
	const unsigned int traits = lpl_format_traits(format);
	const char *texts[TEXTS];

	texts_of(texts, format);
	for (int i = 0; i < TEXTS; i++)
		json_object_set_new(object, titles[i], json_string(texts[i]));
	for (int i = 0; i < FIELDS; i++)
		json_object_set_new(object, fields[i].title,
				    json_boolean((traits & fields[i].trait) != 0));
	return object;
}

int cli_format_table(bool json)
{
	json_t *list = json ? json_array() : NULL;
	const struct lpl_format *format;

	if (!json)
		print_titles();
	for (size_t i = 0; (format = lpl_format_at(i)); i++) {
		if (lpl_format_traits(format) & LPL_FORMAT_IMPORT_ONLY)
			continue;
		if (json)
			json_array_append_new(list, describe(format));
		else
			print_line(format);
	}
	return json ? cli_print_json(stdout, list) : CLI_DONE;
}
