/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gclock TRACE: a policy of one's own, GCLOCK.  Pages gain a life with each hit, up to
 * `most`; the hand takes one from each page it passes, and evicts one that has none left. */
#include <laplace/simulator.h>
#include <laplace/trace.h>

static const struct lpl_policy_option options[] = {{"most", 1, 255, 3}, {NULL, 0, 0, 0}};

static void hit(struct lpl_memory *memory, uint32_t frame)
{
	uint8_t *lives = memory->frame;
	lives[frame] += lives[frame] < memory->option[0] ? 1 : 0;
}

static uint32_t evict(struct lpl_memory *memory, uint32_t page)
{
	uint32_t *hand = memory->state, frame;
	uint8_t *lives = memory->frame;
	(void)page;	/* the one to come; it will be in this frame, without a life */
	for (frame = *hand; lives[frame] != 0; frame = (frame + 1) % memory->used)
		lives[frame]--;
	*hand = (frame + 1) % memory->used;
	return frame;
}

static const struct lpl_policy gclock = {
	.name = "gclock", .options = options, .state_size = sizeof(uint32_t),
	.frame_size = sizeof(uint8_t), .hit = hit, .evict = evict,
};

int main(int argc, char **argv)
{
	struct lpl_report report = {0};
	struct lpl_simulator *simulator = NULL;
	struct lpl_reader *reader = NULL;
	const struct lpl_result *result = NULL;
	size_t count = 0;
	if (lpl_reader_open(&reader, argc > 1 ? argv[1] : "-", &report) ||
	    lpl_simulator_open(&simulator, NULL, &report) ||
	    lpl_simulator_add_policy(simulator, &gclock, "most=7", NULL, &report) ||
	    lpl_reader_run(reader, lpl_simulator_sink(simulator), &report))
		fprintf(stderr, "gclock: %s\n", report.text);
	else
		result = lpl_simulator_results(simulator, 0, &count);
	for (; count-- > 0; result++)
		printf("gclock,%ju,%ju\n", (uintmax_t)result->size, (uintmax_t)result->faults);
	lpl_simulator_close(simulator);
	lpl_reader_close(reader);
	return lpl_error_status(report.error);
}
