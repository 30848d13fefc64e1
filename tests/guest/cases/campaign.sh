# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a campaign makes of programs is what `laplace run` and `laplace sim` make by themselves; a recording
# that is interrupted leaves nothing, and is made when the campaign is run again.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
export XDG_CACHE_HOME=$WORK/cache
mkdir "$WORK/a place"
cd "$WORK/a place" || exit
seq 500 >numbers
cat >c.campaign <<END
[campaign]
seeds = 3 4
[program sort]
command = sh -c "sort -rn numbers | head -n {seed}"
with = numbers
[machine small]
memory = 128
kernel = $BUILDDIR/build/kernel
[simulation s]
policies = lru
sizes = 64:1024:*2
process = sort
END
"$LAPLACE" run -q --clear-env -o direct.lpl --memory=128 --kernel="$BUILDDIR/build/kernel" --with=numbers -- \
	sh -c 'sort -rn numbers | head -n 4' >direct </dev/null || fail "the run ended with $?"

"$LAPLACE" campaign -J 1 c.campaign >said 2>&1 &
campaign=$!
until ls c.results/making/*/trace.lpl.part >begun 2>&1; do sleep 0.1; done
kill -TERM $campaign
status=0
wait $campaign || status=$?
[ $status = 1 ] || fail "interrupted, it ended with $status: $(cat said)"
expect_line said 'stopped by Terminated: 0 of 4 jobs are done'
[ -z "$(find c.results/jobs c.results/making -mindepth 1)" ] || fail "something is left: $(ls c.results/*)"

"$LAPLACE" campaign -J 1 c.campaign >said 2>&1 || fail "it ended with $?: $(cat said)"
expect_line said 'jobs: 4; done before: 0, made now: 4, failed: 0, not begun: 0'
identity=$(sed -n '3s/^3 \([0-9a-f]*\) run sort .* seed=4 .*/\1/p' c.results/manifest)
[ "$(tr '\n' ' ' <direct)" = '500 499 498 497 ' ] || fail "it printed $(cat direct)"
cmp direct "c.results/jobs/$identity/stdout" || fail "it printed something else"
cmp direct.lpl "c.results/jobs/$identity/trace.lpl" || fail "its trace is not that of laplace run"
"$LAPLACE" sim -p lru -s '64:1024:*2' --process sort direct.lpl | sed 1d | cut -d , -f 1-4 >expected
awk -F, '$3 == 4' c.results/table.csv | cut -d , -f 6-9 | diff expected - ||
	fail "the table does not have what laplace sim counts"
