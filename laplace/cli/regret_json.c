/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What laplace regret prints as JSON: all sums, and the worst evictions. */
#include <jansson.h>
#include <stdlib.h>

#include "regret_output.h"
#include "say.h"

static json_t *counts_json(const struct lpl_regret_counts *counts)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"evicted", cli_json(counts->evicted), "used", cli_json(counts->outcome[LPL_REGRET_USED]),
		"ended", cli_json(counts->outcome[LPL_REGRET_ENDED]),
		"never", cli_json(counts->outcome[LPL_REGRET_NEVER]),
		"cut", cli_json(counts->outcome[LPL_REGRET_CUT]), "better", cli_json(counts->better),
		"written", cli_json(counts->written), "read_back", cli_json(counts->returned),
		"optimal", cli_json(counts->optimal), "brought", cli_json(counts->brought),
		"unused", cli_json(counts->unused));
}

static json_t *clocks_json(const struct lpl_regret_clocks *clocks)
{
	return json_pack("{s:o, s:o, s:o}", "reference", cli_json(clocks->ref),
			 "instruction", cli_json(clocks->instr), "cycle", cli_json(clocks->cycle));
}

/* NULL, where it is left out: there was none. */
static json_t *use_json(const struct lpl_regret_clocks *clocks)
{
	return clocks->ref ? clocks_json(clocks) : NULL;
}

static json_t *page_json(const struct lpl_regret_page *page, const struct lpl_regret_results *results)
{
	const struct lpl_regret_process *process;

	if (page->kind != LPL_PAGE_ANONYMOUS)
		return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s*}", "kind", lpl_page_kind_name(page->kind),
				 "device", cli_json(page->device), "inode", cli_json(page->inode & ~KTR_INODE_SYSV),
				 "generation", cli_json(page->generation),
				 "offset", cli_json(page->offset), "name", page->name);
	process = page->process != KTR_NONE ? &results->process[page->process] : NULL;
	return json_pack("{s:s, s:o, s:o, s:o*, s:s*}", "kind", lpl_page_kind_name(page->kind),
			 "space", cli_json(page->space), "virtual_page", cli_json(page->virtual_page),
			 "tgid", process ? cli_json(process->tgid) : NULL,
			 "process", process ? process->name : NULL);
}

static json_t *worst_json(const struct regret_shown *shown)
{
	const struct lpl_regret_results *results = shown->results;
	json_t *array = json_array();

	for (size_t i = 0; i < results->worsts; i++) {
		const struct lpl_regret_worst *worst = &results->worst[i];
		const struct lpl_regret_eviction *of = &worst->eviction;

		json_array_append_new(array, json_pack(
			"{s:o, s:o, s:o, s:o, s:o*, s:o*, s:b, s:s, s:o, s:s*, s:o*, s:o*, s:o*}",
			"page", page_json(&of->page, results), "rank", cli_json(of->rank),
			"resident", cli_json(of->resident), "evicted", clocks_json(&of->evicted),
			"last_use", use_json(&of->last), "next_use", use_json(&of->next),
			"read_back", of->is_back,
			"reclaimer", lpl_regret_reclaimer_name(of->reclaimer),
			"tid", cli_json(of->tid), "by", of->by,
			"written", of->dirty == KTR_NONE ? NULL : json_boolean(of->dirty != 0),
			"best", worst->best_known ? page_json(&worst->best, results) : NULL,
			"best_next_use", worst->best_known ? use_json(&worst->best_next) : NULL));
	}
	return array;
}

static json_t *files_json(const struct lpl_regret_results *results)
{
	size_t count;
	const struct lpl_regret_file **file = regret_files(results, &count);
	json_t *array = file ? json_array() : NULL;

	for (size_t i = 0; i < count && array; i++) {
		json_t *object = counts_json(&file[i]->counts);

		json_object_set_new(object, "kind", json_string(lpl_page_kind_name(file[i]->kind)));
		json_object_set_new(object, "device", cli_json(file[i]->device));
		json_object_set_new(object, "inode", cli_json(file[i]->inode & ~KTR_INODE_SYSV));
		json_object_set_new(object, "generation", cli_json(file[i]->generation));
		if (file[i]->name)
			json_object_set_new(object, "name", json_string(file[i]->name));
		json_array_append_new(array, object);
	}
	free((void *)file);
	return array;
}

static json_t *processes_json(const struct lpl_regret_results *results)
{
	size_t count;
	const struct lpl_regret_process **process = regret_processes(results, &count);
	json_t *array = process ? json_array() : NULL;

	for (size_t i = 0; i < count && array; i++) {
		json_t *object = counts_json(&process[i]->counts);

		json_object_set_new(object, "process", cli_json(process[i]->number));
		json_object_set_new(object, "tgid", cli_json(process[i]->tgid));
		if (process[i]->name)
			json_object_set_new(object, "name", json_string(process[i]->name));
		json_object_set_new(object, "reclaimed", cli_json(process[i]->reclaimed));
		json_object_set_new(object, "missed", cli_json(process[i]->missed));
		json_array_append_new(array, object);
	}
	free((void *)process);
	return array;
}

static json_t *numbers_json(const uint64_t *number, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, cli_json(number[i]));
	return array;
}

static json_t *times_json(const struct lpl_regret_results *results)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < results->bins; i++)
		json_array_append_new(array, counts_json(&results->bin[i]));
	return json_pack("{s:o, s:o, s:o}", "first_cycle", cli_json(results->first.cycle),
			 "cycles", cli_json(UINT64_C(1) << results->bin_shift), "intervals", array);
}

static json_t *kinds_json(const struct lpl_regret_results *results)
{
	json_t *object = json_object();

	for (int kind = 0; kind < LPL_PAGE_KINDS; kind++)
		if (kind == LPL_PAGE_FILE || kind == LPL_PAGE_ANONYMOUS || kind == LPL_PAGE_SHM)
			json_object_set_new(object, lpl_page_kind_name((enum lpl_page_kind)kind),
					    counts_json(&results->by_kind[kind]));
	return object;
}

static json_t *reclaimers_json(const struct lpl_regret_results *results)
{
	json_t *object = json_object();

	/* which reads OPT needs, and what is brought, does not depend on what evicted */
	for (unsigned int i = 0; i < LPL_REGRET_RECLAIMERS; i++) {
		json_t *counts = counts_json(&results->by_reclaimer[i]);

		json_object_del(counts, "optimal");
		json_object_del(counts, "brought");
		json_object_set_new(object, lpl_regret_reclaimer_name(i), counts);
	}
	return object;
}

int regret_json(const struct regret_shown *shown, FILE *out)
{
	const struct lpl_regret_results *results = shown->results;
	size_t distances = 65;

	while (distances > 0 && results->by_distance[distances - 1] == 0)
		distances--;
	return cli_print_json(out, json_pack(
		"{s:o, s:s, s:o*, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o}",
		"file", cli_json_text(shown->path), "state", shown->is_damaged ? "damaged" : "complete",
		"cycles_a_second", shown->cycles_a_second ? cli_json(shown->cycles_a_second) : NULL,
		"moments", cli_json(results->moments), "reclaimed", cli_json(results->reclaimed),
		"unknown", cli_json(results->unknown), "dropped", cli_json(results->dropped),
		"odd", cli_json(results->odd), "cuts", cli_json(results->cuts),
		"most_resident", cli_json(results->most_resident), "all", counts_json(&results->all),
		"by_kind", kinds_json(results), "by_reclaimer", reclaimers_json(results),
		"by_rank", numbers_json(results->by_rank, LPL_REGRET_RANKS),
		"by_distance", numbers_json(results->by_distance, distances),
		"files", files_json(results), "processes", processes_json(results),
		"time", times_json(results), "worst", worst_json(shown)));
}
