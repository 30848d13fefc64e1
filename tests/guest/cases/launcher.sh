# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154,SC2016
# What traces segments from checkpoints is started by a command, as on other hosts: by a script that hands nothing on but
# words, and by Slurm, of one node.
# shellcheck source=tests/guest/several.sh
. "$GUEST/several.sh"
unset LAPLACE_BOCHS	# for that of --bochs

launched() { # NAME LAUNCHER [OPTION...]
	"$LAPLACE" record -J 2 --bochs "$BOCHS" --launcher "$2" -o "$WORK/$1.lpl" "${options[@]}" "${@:3}" "$small" \
		>"$WORK/$1.log" 2>&1
}
script() { # NAME BASH: WORK/NAME, which is a launcher
	printf '#!/bin/bash\nhere=%q\n%s\n' "$WORK" "$2" >"$WORK/$1"
	chmod +x "$WORK/$1"
}

# Of another session, from another directory, with no descriptors but three.
script elsewhere 'echo "$@" >>"$here/elsewhere.words"
for fd in /proc/self/fd/*; do fd=${fd##*/}; [ $fd -lt 3 ] || eval "exec $fd>&-"; done
cd / && exec env -i setsid -w "$@"'
launched elsewhere "nice \"$WORK/elsewhere\"" || fail "by a launcher: $(said "$WORK/elsewhere.log")"
same_files undivided elsewhere
[ "$(wc -l <"$WORK/elsewhere.words")" = 3 ] || fail "it has not started three segments: $(cat "$WORK/elsewhere.words")"
! grep -v 'pass="\(segment\|last\)"' "$WORK/elsewhere.words" || fail "it has started the first pass"

# A launcher that is gone while what it started is not: what that writes is not in the way, and not used.
script lost 'case $* in *checkpoint.000001*) [ -e "$here/lost.pid" ] || {
	setsid "$@" & echo $! >"$here/lost.pid"; exit 1; } ;; esac
exec "$@"'
launched lost "$WORK/lost" || fail "a launcher that was gone once: $(said "$WORK/lost.log")"
expect_line "$WORK/lost.log" 'the segment from checkpoint 1 on failed, and is traced again'
while kill -0 "$(cat "$WORK/lost.pid")" 2>/dev/null; do sleep 0.05; done
same_files undivided lost

# One that fails, or is killed, when what it started is whole.
for how in 'exit 3' 'kill -9 $$'; do
	script fails '"$@"
'"$how"
	launched fails "$WORK/fails" -O || fail "$how: $(said "$WORK/fails.log")"
	same_files undivided fails
done

# One that loses what was written: there are fewer references than were counted.
script loses '"$@"
case $* in *'\''pass="last"'\''*) rm "$here"/loses.lpl.jobs/*/*.line ;; esac'
! launched loses "$WORK/loses" || fail "a trace of which the end was lost is taken"
expect_line "$WORK/loses.log" 'loses.lpl: its segments have .* and not the .* that the first pass counted'
[ ! -e "$WORK/loses.lpl" ] || fail "a trace of which the end was lost has its name"

# One that starts nothing, and one that there is not.
! launched nothing true || fail "segments that were not traced are taken"
expect_line "$WORK/nothing.log" 'the segment from checkpoint [0-9]+ on failed 3 times: it ended with status 0$'
[ ! -e "$WORK/nothing.lpl" ] || fail "a trace of nothing has its name"
! launched absent "$WORK/absent" -O || fail "a launcher that is not there is no failure"
expect_line "$WORK/absent.log" 'failed 3 times: .*absent.*not found'
rm -r "$WORK"/nothing.lpl.* "$WORK"/absent.lpl.*

# What it started ends with the recorder, by the launcher's means; and is gone on with by another launcher, or by none.
script ends 'case $* in *checkpoint.000001*) : >"$here/ends.waiting"; trap ": >\"$here/ends.ended\"; exit 1" TERM
	while :; do sleep 0.05; done ;; esac
exec "$@"'
for signal in TERM KILL; do
	rm -f "$WORK"/ends.*
	launched ends "$WORK/ends" -O &
	recorder=$!
	while [ ! -e "$WORK/ends.waiting" ] && kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	pkill -$signal -P $recorder
	! wait $recorder || fail "$signal is no failure"
	for ((i = 0; i < 200; i++)); do [ -e "$WORK/ends.ended" ] || sleep 0.05; done
	[ -e "$WORK/ends.ended" ] || fail "$signal: the launcher was not asked to end what it has started"
	how=(-J 3 --launcher "$WORK/elsewhere")
	[ $signal = TERM ] || how=(-J 1)
	"$LAPLACE" record --resume "$WORK/ends.lpl" --bochs "$BOCHS" "${how[@]}" >"$WORK/ends.log" 2>&1 ||
		fail "$signal: not gone on with: $(said "$WORK/ends.log")"
	same_files undivided ends
done

! "$LAPLACE" record -J 2 --launcher true -r none -o "$WORK/alone.lpl" "$small" >"$WORK/alone.log" 2>&1 ||
	fail "a launcher without checkpoints"
expect_line "$WORK/alone.log" '--launcher starts what traces from checkpoints'

# By Slurm; and where a node loses what it runs, in another try.
# shellcheck source=tests/campaign/slurm-node.sh
. "$SRCDIR/tests/campaign/slurm-node.sh"
slurm_is_there || { echo "# without Slurm" && exit 0; }
scratch=$(mktemp -d /tmp/laplace-slurm.XXXXXX)	# short, for the name of a socket
trap 'slurm_ends; rm -rf "$scratch"' EXIT
start_slurm
script slurm 'case $* in *checkpoint.000001*) [ -e "$here/slurm.killed" ] || {
	: >"$here/slurm.killed"; set -- sh -c "scancel \$SLURM_JOB_ID; sleep 60"; } ;; esac
exec srun --quiet -n1 -c2 "$@"'
launched slurm "$WORK/slurm" || fail "by Slurm: $(said "$WORK/slurm.log")"
expect_line "$WORK/slurm.log" 'the segment from checkpoint 1 on failed, and is traced again'
same_files undivided slurm

# By a campaign's task, which is given room for two; and again in a campaign here, where it is done already.
cat >"$WORK/launcher.campaign" <<-EOF
	[image small]
	bochsrc = $small
	record = none
	end = instructions:2500000
	checkpoint = every:1M
	jobs = 2
	launcher = srun --exact -n1 -c2
	[simulation s]
	policies = lru
	sizes = 16
EOF
cd "$WORK" || exit
"$LAPLACE" campaign --slurm='--ntasks=2 --cpus-per-task=2' --submit launcher.campaign >launcher.campaign.log 2>&1 ||
	fail "a campaign was not submitted: $(tail -n 3 launcher.campaign.log)"
await "a campaign's table" grep -q '^small,' launcher.results/table.csv
sed -i 's/^jobs.*/jobs = 3/; /^launcher/d' launcher.campaign
"$LAPLACE" campaign --dry-run launcher.campaign >launcher.campaign.log
expect_line launcher.campaign.log '^jobs: 2; done: 2$'	# so how it was made has made no other job
for file in trace.lpl trace.000002.lpl; do
	[ "$(find launcher.results/jobs -name $file | wc -l)" = 1 ] || fail "the campaign has made no $file"
done
cmp <("$LAPLACE" cat --events launcher.results/jobs/*/trace.lpl) <("$LAPLACE" cat --events undivided.lpl) ||
	fail "the campaign has made another trace"
echo "# by $(srun --version)"
