/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzing the file of a campaign.  What is accepted says the same when it is written again without
 * what says nothing; what is not is refused with the line.
 */
#include "cli/campaign/campaign.h"

#include "fuzz.h"

static const char *const kind_name[CAMPAIGN_KINDS] = {
	[CAMPAIGN_WHOLE] = "campaign", [CAMPAIGN_PROGRAM] = "program",
	[CAMPAIGN_TRACE] = "trace", [CAMPAIGN_IMAGE] = "image",
	[CAMPAIGN_MACHINE] = "machine", [CAMPAIGN_SIMULATION] = "simulation"
};

/* As docs/campaigns.md says; to be freed. */
static char *written(const struct campaign *campaign)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	require(out != NULL);
	for (size_t i = 0; i < campaign->count; i++) {
		const struct campaign_section *section = &campaign->section[i];

		fprintf(out, "[%s %s]\n", kind_name[section->kind], section->name);
		for (size_t j = 0; j < section->count; j++)
			fprintf(out, "%s=%s\n", section->setting[j].key->name,
				section->setting[j].value);
	}
	require(fclose(out) == 0);
	return text;
}

static void require_same(const struct campaign *one, const struct campaign *other)
{
	require(one->count == other->count);
	for (size_t i = 0; i < one->count; i++) {
		const struct campaign_section *a = &one->section[i], *b = &other->section[i];

		require(a->kind == b->kind && strcmp(a->name, b->name) == 0);
		require(a->count == b->count);
		for (size_t j = 0; j < a->count; j++) {
			require(a->setting[j].key == b->setting[j].key);
			require(strcmp(a->setting[j].value, b->setting[j].value) == 0);
		}
	}
}

/* Each value's words, quoted, are those words again. */
static void check_words(const char *value)
{
	struct campaign_words words = { .count = 0 }, again = { .count = 0 };
	struct lpl_report report = { .error = LPL_OK };
	char *text;
	size_t size;
	FILE *out;

	if (campaign_words_split(&words, value, &report)) {
		require_reported(&report);
		campaign_words_free(&words);
		return;
	}
	out = open_memstream(&text, &size);
	require(out != NULL);
	for (size_t i = 0; i < words.count; i++) {
		fputs(" \"", out);
		for (const char *at = words.word[i]; *at; at++)
			fprintf(out, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
		fputc('"', out);
	}
	require(fclose(out) == 0);
	require(campaign_words_split(&again, text, &report) == LPL_OK);
	require(again.count == words.count);
	for (size_t i = 0; i < words.count; i++)
		require(strcmp(words.word[i], again.word[i]) == 0);
	free(text);
	campaign_words_free(&words);
	campaign_words_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lpl_report report = { .error = LPL_OK };
	struct campaign campaign = { .count = 0 }, again = { .count = 0 };
	char *text = string_of(data, size), *rewritten;
	unsigned int line = 0;

	check_words(text);
	if (campaign_read(&campaign, text, "name", &report)) {
		require_reported(&report);
		require(sscanf(report.text, "name:%u: ", &line) == 1 && line > 0);
	} else {
		rewritten = written(&campaign);
		require(campaign_read(&again, rewritten, "name", &report) == LPL_OK);
		require_same(&campaign, &again);
		free(rewritten);
	}
	campaign_free(&campaign);
	campaign_free(&again);
	free(text);
	return 0;
}
