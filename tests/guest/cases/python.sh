# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What our Bochs recorded, read from Python: the module agrees with the command, and the second
# reader of the format with the first, on packed runs of real code, on what was chosen of them, and
# on a reduction.
recorded fences-none fences --reduce none --start off
part=$WORK/python-part.lpl reduced=$WORK/python-sad.lpl
"$LAPLACE" reduce -m none --to references:200k -O -o "$part" "$WORK/fences-none.lpl"
"$LAPLACE" reduce -m fence+sad:64 --to references:1M -O -o "$reduced" "$WORK/fences-none.lpl"
"$LAPLACE" info "$part" | grep -q '^packed runs' || fail "what is chosen is not packed as runs"
BUILD=$BUILDDIR MAKE_TRACE=$BUILDDIR/tests/cli/make-trace "$SRCDIR/tests/python/run" "$part" "$reduced"
rm -f "$part" "$reduced"
