# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A run with checkpoints is killed again and again, at a moment nobody chose, and taken up: what it
# leaves in the end is byte for byte what a run that nothing disturbs leaves, the guest's own
# output, too.  Of every reference, and reduced.
files() { # NAME: of its trace
	(cd "$WORK" && ls "$1".lpl "$1".0*.lpl)
}

newest() { # NAME: the number of its newest checkpoint; 0
	local path number=0
	for path in "$WORK/$1.lpl.checkpoint."??????; do
		[ ! -d "$path" ] || number=$((10#${path##*.}))
	done
	echo $number
}

# Run a command until its simulator has made checkpoint NUMBER, and a moment longer; then kill the
# simulator.  1: it came to its end before.
kill_after() { # NAME NUMBER COMMAND...
	local name=$1 number=$2 recorder status=0
	shift 2
	"$@" >"$WORK/$name.log" 2>&1 </dev/null &
	recorder=$!
	while [ "$(newest "$name")" -lt "$number" ] && kill -0 $recorder 2>/dev/null; do
		sleep 0.05
	done
	sleep "0.$((RANDOM % 10))"
	pkill -KILL -P $recorder || true
	wait $recorder || status=$?
	[ $status -ne 0 ]
}

RANDOM=17
for reduce in none sad:64; do
	whole=undisturbed-${reduce%:*} cut=killed-${reduce%:*}
	options=(--reduce "$reduce" --checkpoint every:150M --segment instructions:100M)
	recorded "$whole" boot "${options[@]}"
	verify "$WORK/$whole.lpl"
	[ "$(newest "$whole")" -ge 3 ] || fail "$reduce: only $(newest "$whole") checkpoints"

	command=("$LAPLACE" record --overwrite --flush off -o "$WORK/$cut.lpl" "${options[@]}"
		"$IMAGE/boot.bochsrc")
	kills=0
	for number in 1 2 2 3; do
		kill_after "$cut" $number "${command[@]}" || break
		kills=$((kills + 1))
		# what is there can be read
		"$LAPLACE" info "$WORK/$cut.lpl.part" >"$WORK/part.info" 2>&1 ||
			fail "$reduce: after being killed: $(tail -n 1 "$WORK/part.info")"
		command=("$LAPLACE" record --resume "$WORK/$cut.lpl")
	done
	echo "# $reduce: killed $kills times, $(newest "$whole") checkpoints"
	[ $kills -ge 3 ] || fail "$reduce: only $kills kills"
	"${command[@]}" >"$WORK/$cut.log" 2>&1 || fail "$reduce: not taken up: $(said "$WORK/$cut.log")"
	verify "$WORK/$cut.lpl"
	files "$whole" | sed "s/$whole/$cut/" >"$WORK/files.whole"
	files "$cut" >"$WORK/files.cut"
	expect_same "$reduce: the files" "$WORK/files.whole" "$WORK/files.cut"
	while read -r file; do
		# the manifest names its files
		sed "s/$whole/$cut/g" "$WORK/${file/$cut/$whole}" >"$WORK/expected"
		case $file in
		"$cut.lpl") without='s/,"check":"[0-9a-f]*"//' ;;
		*) without='' ;;
		esac
		cmp <(sed "$without" "$WORK/expected") <(sed "$without" "$WORK/$file") ||
			fail "$reduce: $file is not what a run that nothing disturbs has"
	done <"$WORK/files.cut"
	tr -d '\r' <"$IMAGE/boot.serial" >"$WORK/$cut.serial"
	expect_same "$reduce: what the guest printed" "$WORK/$whole.serial" "$WORK/$cut.serial"
done

# A checkpoint that another program made is refused, and nothing is lost by that.
last=$WORK/killed-sad.lpl.checkpoint.$(printf %06d "$(newest killed-sad)")
printf x | dd of="$last/place" bs=1 seek=25 conv=notrunc status=none
if "$LAPLACE" record --resume "$WORK/killed-sad.lpl" >"$WORK/other.log" 2>&1; then
	fail "a checkpoint of another build is taken"
fi
expect_line "$WORK/other.log" 'was made by another build of laplace-bochs'
verify "$WORK/killed-sad.lpl"
rm -r "$WORK"/killed-sad.lpl.checkpoint.*
if "$LAPLACE" record --resume "$WORK/killed-sad.lpl" >"$WORK/none.log" 2>&1; then
	fail "it is resumed from nothing"
fi
expect_line "$WORK/none.log" 'has no checkpoint to go on from'

# What cannot be in a checkpoint is told before anything begins.
for extra in "windows=mark:a" "stage=reduce"; do
	if "$BOCHS" -q -f "$IMAGE/boot.bochsrc" "laplace: trace=$WORK/refused.lpl, checkpoint=on, $extra" \
		>"$WORK/refused.log" 2>&1 </dev/null; then
		fail "checkpoint=on with $extra is taken"
	fi
	expect_line "$WORK/refused.log" '^laplace: checkpoint=: '
done

# What was asked for is known behind a checkpoint, where Bochs has cut it at commas, too.
"$BOCHS" -q -f "$IMAGE/boot.bochsrc" \
	"laplace: trace=$WORK/parts.lpl, checkpoint=every:100M, end=seconds:100000,instructions:250M" \
	>"$WORK/parts.log" 2>&1 </dev/null || fail "a run with conditions: $(said "$WORK/parts.log")"
expect_line "$WORK/parts.log" '^laplace: the run was ended by end=instructions:250000000;'
[ "$(newest parts)" -eq 2 ] || fail "$(newest parts) checkpoints in 250 M instructions, every 100 M"

# Before the guest boots: what the BIOS finds behind a checkpoint is what it finds without.
"$BOCHS" -q -f "$IMAGE/boot.bochsrc" \
	"laplace: trace=$WORK/early.lpl, checkpoint=every:4M, end=instructions:6M, reduce=none" \
	>"$WORK/early.log" 2>&1 </dev/null || fail "a checkpoint in the BIOS: $(said "$WORK/early.log")"
[ "$(newest early)" -eq 1 ] || fail "$(newest early) checkpoints in 6 M instructions, every 4 M"
recorded boot-none boot --reduce none
references() { # TRACE; but for the numbers of instructions
	"$LAPLACE" cat --format raw "$1" 2>/dev/null | awk '/^[irw]/ { print $1, $3, $4, $5 }'
}
cmp -n 90000000 <(references "$WORK/early.lpl") <(references "$WORK/boot-none.lpl") ||
	fail "a checkpoint in the BIOS has changed the run"

# A disk that has no room for one: the run goes on without, and holds what a run without them holds.
if [ "$(id -u)" = 0 ] && mkdir -p "$WORK/small" && mount -t tmpfs -o size=60m none "$WORK/small" 2>/dev/null; then
	record on-a-small-disk boot -o "$WORK/small/run.lpl" --reduce none --checkpoint every:150M ||
		fail "a checkpoint that cannot be made ends the run: $(said "$WORK/on-a-small-disk.log")"
	mv "$WORK/small"/run.* "$WORK/"
	umount "$WORK/small"
	expect_line "$WORK/on-a-small-disk.log" 'run\.lpl\.checkpoint\.000001 cannot be made, and the run goes on without: No space left'
	verify "$WORK/run.lpl"
	"$PROGRAMS/compare-traces" "$WORK/boot-none.lpl" "$WORK/run.lpl" ||
		fail "a checkpoint that could not be made has changed the run"
fi

# Asked for at the control socket, where the next request is answered by who goes on.
socket=$WORK/checkpoint.sock
record asked boot --checkpoint every:20G --control "$socket" &
recorder=$!
while [ ! -S "$socket" ] && kill -0 $recorder 2>/dev/null; do
	sleep 0.05
done
for what in checkpoint "mark between" checkpoint "mark behind"; do
	# shellcheck disable=SC2086 # a request is several words
	"$LAPLACE" ctl "$socket" $what >"$WORK/asked.reply" 2>&1 ||
		fail "ctl $what: $(tail -n 1 "$WORK/asked.reply")"
	expect_line "$WORK/asked.reply" "^${what%% *}: done; tracing on, "
done
wait $recorder || fail "asked for checkpoints: $(said "$WORK/asked.log")"
verify "$WORK/asked.lpl"
[ "$(newest asked)" -eq 2 ] || fail "two checkpoints were asked for, and $(newest asked) made"
"$LAPLACE" info "$WORK/asked.lpl" >"$WORK/asked.info"
expect_line "$WORK/asked.info" '^  host-mark +2$'
