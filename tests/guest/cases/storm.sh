# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A module that is loaded in the middle of much work (midrun/storm.c) tells what
# there is at one moment: of a trace cut there nothing is odd or unresolved, and
# who shares which page is what the kernel says.
recorded midrun-storm midrun-storm --reduce none --start off
"$PROGRAMS/truth-check" -c "$WORK/midrun-storm.lpl" "$WORK/midrun-storm.serial" >"$WORK/storm.truth" ||
	fail "$(grep -m 1 '^sample .*:$' "$WORK/storm.truth"), and more in $WORK/storm.truth"
expect_line "$WORK/storm.truth" '^user references unresolved: 0$'
if grep '^odd events' "$WORK/storm.truth"; then
	fail "what a busy guest tells of itself does not fit: $(grep -m 1 '^odd events' "$WORK/storm.truth")"
fi
sed -n 's/^sample/# sample/p' "$WORK/storm.truth"
