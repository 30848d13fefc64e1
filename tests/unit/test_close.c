/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What could not be opened is NULL, and can be closed all the same: laplace(3), "Conventions". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <laplace/convert.h>
#include <laplace/merge.h>
#include <laplace/reducer.h>
#include <laplace/select.h>
#include <laplace/simulator.h>
#include <laplace/survey.h>
#include <laplace/trace.h>

#include "collect/collector.h"
#include "collect/control.h"
#include "collect/windows.h"
#include "merge/guest_state.h"
#include "ring/ring.h"

static void nothing_can_be_closed(void **state)
{
	(void)state;
	lpl_choice_close(NULL);
	lpl_control_close(NULL, NULL);
	lpl_exporter_close(NULL);
	lpl_importer_close(NULL);
	lpl_kinds_close(NULL);
	lpl_local_close(NULL);
	lpl_merge_canonical_close(NULL);
	lpl_merge_close(NULL);
	lpl_merge_global_close(NULL);
	lpl_merge_per_process_close(NULL);
	lpl_meta_free(NULL);
	lpl_reader_close(NULL);
	lpl_reducer_close(NULL);
	lpl_ring_free(NULL);
	lpl_selection_close(NULL);
	lpl_simulator_close(NULL);
	lpl_state_free(NULL);
	lpl_survey_close(NULL);
	lpl_windows_close(NULL);
	lpl_writer_abandon(NULL);
	assert_int_equal(lpl_writer_close(NULL, NULL), LPL_OK);
	assert_int_equal(lpl_collector_close(NULL, "clean", NULL, NULL), LPL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_can_be_closed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
