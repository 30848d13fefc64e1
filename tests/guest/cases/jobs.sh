# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154,SC2016
# A recording that several processes make has the files of one that a single process makes with the same checkpoints, byte
# for byte: also where a process fails and is run again, and where all of it is cut off and gone on with.  A small
# machine in its BIOS; and, where LONG=yes, a Linux that boots.
# shellcheck source=tests/guest/several.sh
. "$GUEST/several.sh"

# Another simulator's name, of which each run may be made to do something else before.
other=$WORK/other-bochs
meddled() { # BASH: run with the simulator's arguments; it then becomes it, or ends
	printf '#!/bin/bash\nreal=%q here=%q\n%s\nexec "$real-all" "$@"\n' "$BOCHS" "$WORK" "$1" >"$other-all"
	chmod +x "$other-all"
	cp "$other-all" "$other"
}

"$LAPLACE" record -J 3 -o "$WORK/several.lpl" "${options[@]}" "$small" >"$WORK/several.log" 2>&1 ||
	fail "several processes: $(said "$WORK/several.log")"
same_files undivided several

# One that fails is run again; checkpoints of another recording, which are there until the first pass begins, are not taken
# for its own.
mkdir "$WORK"/again.lpl.checkpoint.00000{1,2}
meddled 'case "$*" in *checkpoint.000001*segment*) [ -e "$here/failed" ] || { : >"$here/failed"; kill -9 $$; } ;; esac'
"$LAPLACE" record -O -J 2 --bochs "$other" -o "$WORK/again.lpl" "${options[@]}" "$small" >"$WORK/again.log" 2>&1 ||
	fail "a process that was killed once: $(said "$WORK/again.log")"
expect_line "$WORK/again.log" 'the segment from checkpoint 1 on failed, and is traced again'
[ "$(grep -c 'is traced again' "$WORK/again.log")" = 1 ] || fail "another failed: $(cat "$WORK/again.log")"
same_files undivided again

# One that always fails is named, and what was traced stays and is gone on with.
meddled 'case "$*" in *checkpoint.000001*segment*) echo "laplace: by intention"; exit 1 ;; esac'
! "$LAPLACE" record -J 2 --bochs "$other" -o "$WORK/cut.lpl" "${options[@]}" "$small" >"$WORK/cut.log" 2>&1 ||
	fail "a segment that cannot be traced is no failure"
expect_line "$WORK/cut.log" 'the segment from checkpoint 1 on failed 3 times: by intention'
expect_line "$WORK/cut.log" 'record --resume .*cut.lpl --jobs 2 goes on'
[ ! -e "$WORK/cut.lpl" ] || fail "a trace with a part missing has its name"
! "$LAPLACE" record --resume "$WORK/cut.lpl" >"$WORK/cut.log" 2>&1 || fail "it is resumed without --jobs"
expect_line "$WORK/cut.log" 'was begun with --jobs N, and goes on with it'
"$LAPLACE" record --resume "$WORK/cut.lpl" -J 2 >"$WORK/cut.log" 2>&1 || fail "not gone on with: $(said "$WORK/cut.log")"
same_files undivided cut

# A signal in the midst of it, and a kill, while the first pass goes on or a segment is traced.
meddled 'case "$*" in *checkpoint.000001*segment*) : >"$here/waiting"; exec sleep 60 ;; esac'
for signal in TERM KILL; do
	rm -rf "$WORK/waiting" "$WORK"/ended.*
	"$LAPLACE" record -J 2 --bochs "$other" -o "$WORK/ended.lpl" -O "${options[@]}" "$small" >"$WORK/ended.log" 2>&1 &
	recorder=$!
	while [ ! -e "$WORK/waiting" ] && kill -0 $recorder 2>/dev/null; do
		sleep 0.05
	done
	kill -$signal $recorder
	! wait $recorder || fail "$signal is no failure"
	[ ! -e "$WORK/ended.lpl" ] || fail "$signal: a trace with a part missing has its name"
	"$LAPLACE" record --resume "$WORK/ended.lpl" -J 2 >"$WORK/ended.log" 2>&1 ||
		fail "not gone on with after SIG$signal: $(said "$WORK/ended.log")"
	same_files undivided ended
done

# One that was killed while it made a checkpoint has left a part of it.
for part in 000001 000002; do
	rm -rf "$WORK/waiting" "$WORK"/ended.*
	"$LAPLACE" record -J 2 --bochs "$other" -o "$WORK/ended.lpl" "${options[@]}" "$small" >"$WORK/ended.log" 2>&1 &
	recorder=$!
	while [ ! -e "$WORK/waiting" ] || [ ! -e "$WORK/ended.lpl.checkpoint.000002" ]; do
		kill -0 $recorder 2>/dev/null || fail "it ended by itself: $(said "$WORK/ended.log")"
		sleep 0.05
	done
	kill -KILL $recorder
	! wait $recorder || fail "a kill is no failure"
	# as if that was all that there was, however far it had come
	mv "$WORK/ended.lpl.checkpoint.$part" "$WORK/ended.lpl.checkpoint.$part.part"
	rm -rf "$WORK/ended.lpl.jobs/end" "$WORK"/ended.lpl.jobs/0* "$WORK"/ended.0*.lpl "$WORK"/ended.lpl.checkpoint.00000[2-9]
	"$LAPLACE" record --resume "$WORK/ended.lpl" -J 2 >"$WORK/ended.log" 2>&1 ||
		fail "not gone on with where checkpoint $part is in part: $(said "$WORK/ended.log")"
	same_files undivided ended
done

# A machine that does not repeat is found out.
sed 's/guest=8/guest=16/' "$small" >"$WORK/larger.bochsrc"
meddled 'case "$*" in *-f*segment*) set -- "${@/small-jobs/larger}" ;; esac'
! "$LAPLACE" record -J 2 --bochs "$other" -o "$WORK/another.lpl" "${options[@]}" "$small" >"$WORK/another.log" 2>&1 ||
	fail "a segment of another machine is taken"
expect_line "$WORK/another.log" 'failed 3 times: the segment does not end as the first pass did at'
rm -r "$WORK"/another.*

# A disk that all of them would write to.
truncate -s 1M "$WORK/shared.img"
sed -e '/^floppya/d' -e '/^boot:/d' "$small" >"$WORK/shared.bochsrc"
printf 'boot: disk\nata0-master: type=disk, path="%s", mode=flat, cylinders=2, heads=16, spt=63\nata0: enabled=1\n' \
	"$WORK/shared.img" >>"$WORK/shared.bochsrc"
! "$LAPLACE" record -J 2 -o "$WORK/shared.lpl" "${options[@]}" "$WORK/shared.bochsrc" >"$WORK/shared.log" 2>&1 ||
	fail "several processes write to a disk"
expect_line "$WORK/shared.log" 'several processes would write to the disk ata0-master: add mode=volatile'
[ ! -e "$WORK/shared.lpl.jobs" ] || fail "what was refused is in the way of what is not"
rm -r "$WORK"/shared.*

# Without checkpoints the processes are forked, and the machine is not disturbed: it is the trace of a run that nothing cuts.
whole=(-r none --flush off --progress=never --end instructions:5000000)
expect_same_stream() { # TRACE
	"$LAPLACE" cat "$WORK/$1.lpl" | cmp - "$WORK/plain.stream" >/dev/null || fail "$1: other references than of one process"
	verify "$WORK/$1.lpl"
	[ -z "$(find "$WORK" -maxdepth 1 -name "$1.lpl.*")" ] || fail "$1: left: $(cd "$WORK" && echo "$1".lpl.*)"
}
descendants() { # PROCESS DEPTH
	local child
	tr ' ' '\n' 2>/dev/null <"/proc/$1/task/$1/children" | while read -r child; do
		if [ "$2" = 1 ]; then
			echo "$child"
		else
			descendants "$child" $(($2 - 1))
		fi
	done 2>/dev/null
}
"$LAPLACE" record -o "$WORK/plain.lpl" "${whole[@]}" "$small" >"$WORK/plain.log" 2>&1 || fail "plain: $(said "$WORK/plain.log")"
"$LAPLACE" cat "$WORK/plain.lpl" >"$WORK/plain.stream"
"$LAPLACE" record -J 2 --segment instructions:1M -o "$WORK/forked.lpl" "${whole[@]}" "$small" >"$WORK/forked.log" 2>&1 ||
	fail "forked: $(said "$WORK/forked.log")"
[ "$(find "$WORK" -name 'forked.0*.lpl' | wc -l)" = 5 ] || fail "5 M instructions have not 5 segments of 1 M"
expect_same_stream forked

# A writer that is killed is replaced.  (The recorder's child is the first process; the children of that keep the machine; and
# their children write.)
"$LAPLACE" record -J 2 --segment instructions:1M -o "$WORK/killed.lpl" "${whole[@]}" "$small" >"$WORK/killed.log" 2>&1 &
recorder=$!
until writer=$(descendants $recorder 3 | head -n 1) && [ -n "$writer" ]; do
	kill -0 $recorder 2>/dev/null || fail "there was no writer to kill: $(said "$WORK/killed.log")"
done
kill -9 "$writer"
wait $recorder || fail "a killed writer: $(said "$WORK/killed.log")"
expect_line "$WORK/killed.log" 'on failed, and is traced again: it was killed by signal 9'
expect_same_stream killed

# What ends early has what was traced until then: where the run is ended, and where the recorder is killed.
for signal in TERM KILL; do
	rm -rf "$WORK"/early.*
	"$LAPLACE" record -J 2 --segment instructions:1M -o "$WORK/early.lpl" "${whole[@]:0:4}" --end instructions:5G "$small" \
		>"$WORK/early.log" 2>&1 &
	recorder=$!
	until [ -e "$WORK/early.lpl.jobs/000002/whole" ]; do
		kill -0 $recorder 2>/dev/null || fail "$signal: it ended by itself: $(said "$WORK/early.log")"
		sleep 0.05
	done
	kill -$signal $recorder
	! wait $recorder || fail "$signal is no failure"
	if [ $signal = KILL ]; then
		[ ! -e "$WORK/early.lpl" ] || fail "what was not closed has its name"
		# its machine ends with it, as soon as what was run is traced
		until "$LAPLACE" record --resume "$WORK/early.lpl" -J 2 >"$WORK/early.log" 2>&1 ||
			! grep -q 'is being made by another' "$WORK/early.log"; do
			sleep 0.1
		done
		expect_line "$WORK/early.log" 'which were whole; without checkpoints there is nothing to go on with'
	fi
	verify "$WORK/early.lpl"
	[ -z "$(find "$WORK" -maxdepth 1 -name 'early.lpl.*')" ] || fail "left: $(cd "$WORK" && echo early.lpl.*)"
	cmp <("$LAPLACE" cat "$WORK/early.lpl" | head -n 1000000) <(head -n 1000000 "$WORK/plain.stream") ||
		fail "$signal: it is not the beginning of what one process records"
done
rm -r "$WORK"/early.*

[ "${LONG:-}" = yes ] || exit 0
for extra in "" "--physical --walks" --code; do
	# shellcheck disable=SC2206 # options
	long=(-r none --flush off --progress=never --checkpoint every:150M $extra)
	"$LAPLACE" record -O -o "$WORK/linux-alone.lpl" "${long[@]}" "$IMAGE/boot.bochsrc" >"$WORK/linux.log" 2>&1 ||
		fail "one process, Linux: $(said "$WORK/linux.log")"
	rm -rf "$WORK"/linux-alone.lpl.checkpoint.*
	tr -d '\r' <"$IMAGE/boot.serial" >"$WORK/linux.serial"
	"$LAPLACE" record -O -J 2 -o "$WORK/several-linux.lpl" "${long[@]}" "$IMAGE/boot.bochsrc" >"$WORK/several-linux.log" 2>&1 ||
		fail "several processes, Linux $extra: $(said "$WORK/several-linux.log")"
	same_files linux-alone several-linux
	tr -d '\r' <"$IMAGE/boot.serial" >"$WORK/several-linux.serial"
	expect_same "what the guest printed" "$WORK/linux.serial" "$WORK/several-linux.serial"
done

# A program: its trace, what it prints, a file that comes back, how it ends.
head -c 120000 /bin/bash >"$WORK/input"
cd "$WORK" || exit 1
for jobs in 1 2; do
	status=0 how=()
	[ $jobs = 1 ] || how=(-J "$jobs")
	"$LAPLACE" run -q -r none --keep input.gz -o run-$jobs.lpl "${how[@]}" -- \
		gzip -9 -v -k input missing >run-$jobs.out 2>run-$jobs.log || status=$?
	[ $status = 1 ] || fail "run, $jobs processes: status $status: $(said run-$jobs.log)"
	mv input.gz run-$jobs.kept
	"$LAPLACE" cat run-$jobs.lpl | sha256sum >run-$jobs.stream
done
for what in stream log kept; do
	expect_same "run -J 2: $what" run-1.$what run-2.$what
done
[ -e run-2.000002.lpl ] || fail "run -J 2 has made one segment alone"
