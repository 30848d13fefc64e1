# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# The beacon's references are in the raw trace as disk-images/beacon.h tells
# them, made by the exerciser in user mode, in order; and no others are there.
raw=$(known none)
"$GUEST/beacon-expect" | sed 's/^/beacon-begin exerciser u /' >"$WORK/beacon.expected"
"$PROGRAMS/inspect-trace" references "$raw" "$BEACON_START" "$BEACON_END" |
	awk '{ print $1, $2, $5, $6, $7, $8 }' >"$WORK/beacon.found"
expect_same "the beacon" "$WORK/beacon.expected" "$WORK/beacon.found"
echo "# $(wc -l <"$WORK/beacon.found") references"
