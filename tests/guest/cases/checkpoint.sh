# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A run with checkpoints is killed again and again, at a moment that chance chose, and taken up: what it
# leaves in the end is byte for byte what a run that nothing disturbs leaves, the guest's own
# output, too.  Reduced, and, where LONG=yes, of every reference, killed twice as often.
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

# What a run leaves that was cut off and taken up is what one leaves that nothing disturbed.
expect_same_files() { # WHOLE CUT
	local whole=$1 cut=$2 file without
	files "$whole" | sed "s/$whole/$cut/" >"$WORK/files.whole"
	files "$cut" >"$WORK/files.cut"
	expect_same "$cut: the files" "$WORK/files.whole" "$WORK/files.cut"
	while read -r file; do
		# the manifest names its files
		sed "s/$whole/$cut/g" "$WORK/${file/$cut/$whole}" >"$WORK/expected"
		case $file in
		"$cut.lpl") without='s/,"check":"[0-9a-f]*"//' ;;
		*) without='' ;;
		esac
		cmp <(sed "$without" "$WORK/expected") <(sed "$without" "$WORK/$file") ||
			fail "$file is not what a run that nothing disturbs has"
	done <"$WORK/files.cut"
}

RANDOM=17
# Four checkpoints of a boot, however long this kernel's is.
recorded boot-none boot --reduce none
every=every:$(sed -n 's/.*boot-none\.lpl: \([0-9]*\) instructions in .*/\1/p' "$WORK/boot-none.log" | awk '{ printf "%d", $1 / 4.5 }')
reductions=sad:64 moments='1 2' damaged='place memory.ram' damages='changed gone'
if [ "${LONG:-}" = yes ]; then
	reductions='none sad:64' moments='1 2 2 3' damages='changed longer cut gone'
	damaged='place memory.ram cpu0 guest config inputs'
fi
for reduce in $reductions; do
	whole=undisturbed-${reduce%:*} cut=killed-${reduce%:*}
	options=(--reduce "$reduce" --checkpoint "$every" --segment instructions:100M --physical)
	recorded "$whole" boot "${options[@]}"
	verify "$WORK/$whole.lpl"
	[ "$(newest "$whole")" -ge 3 ] || fail "$reduce: only $(newest "$whole") checkpoints"

	command=("$LAPLACE" record --overwrite --flush off -o "$WORK/$cut.lpl" "${options[@]}"
		"$IMAGE/boot.bochsrc")
	kills=0
	for number in $moments; do
		kill_after "$cut" "$number" "${command[@]}" || break
		kills=$((kills + 1))
		# what is there can be read
		"$LAPLACE" info "$WORK/$cut.lpl.part" >"$WORK/part.info" 2>&1 ||
			fail "$reduce: after being killed: $(tail -n 1 "$WORK/part.info")"
		command=("$LAPLACE" record --resume "$WORK/$cut.lpl")
	done
	echo "# $reduce: killed $kills times, $(newest "$whole") checkpoints"
	[ $kills -ge 2 ] || fail "$reduce: only $kills kills"
	# one that was to be removed when the run was killed
	mkdir -p "$WORK/$cut.lpl.checkpoint.000001" && : >"$WORK/$cut.lpl.checkpoint.000001/place"
	"${command[@]}" >"$WORK/$cut.log" 2>&1 || fail "$reduce: not taken up: $(said "$WORK/$cut.log")"
	expect_same_files "$whole" "$cut"
	kept=$(find "$WORK" -maxdepth 1 -name "$cut.lpl.checkpoint.*" | wc -l)
	[ "$kept" = 2 ] || fail "$reduce: $kept checkpoints are there after the end, not the last two"
	tr -d '\r' <"$IMAGE/boot.serial" >"$WORK/$cut.serial"
	expect_same "$reduce: what the guest printed" "$WORK/$whole.serial" "$WORK/$cut.serial"
done

# A signal while one is made: it is made, then the run ends, and can be taken up there.
making=$WORK/ended-sad.lpl.checkpoint.000001.part
record ended-sad boot "${options[@]}" &
recorder=$!
while [ ! -d "$making" ] && kill -0 $recorder 2>/dev/null; do
	sleep 0.01
done
pkill -TERM -f "record .* $WORK/ended-sad.lpl" || fail "the run was over before its first checkpoint"
! wait $recorder || fail "a signal in the middle of a checkpoint was lost"
expect_line "$WORK/ended-sad.log" '^laplace: stopped by a signal; closing the trace'
verify "$WORK/ended-sad.lpl"
"$LAPLACE" info "$WORK/ended-sad.lpl" >"$WORK/ended.info"
expect_line "$WORK/ended.info" '^  tracing  *2$'

# It is not taken up with another CD than it had; with a copy of that it is.  And a later checkpoint
# than the one named is of a trace that is no longer there.
iso=$(sed -n 's/^ata0-master:.*path="\([^"]*\)".*/\1/p' "$IMAGE/boot.bochsrc")
mv "$iso" "$iso.kept"
cp "$iso.kept" "$iso"
printf X | dd of="$iso" bs=1 seek=$(($(stat -c %s "$iso") - 1)) conv=notrunc status=none
taken=yes
"$LAPLACE" record --resume "$WORK/ended-sad.lpl" >"$WORK/other-cd.log" 2>&1 || taken=no
cp "$iso.kept" "$iso"
rm "$iso.kept"
[ $taken = no ] || fail "a run is taken up with another CD"
expect_line "$WORK/other-cd.log" "^laplace: ata0-master: $iso is not what the machine had when the checkpoint"
verify "$WORK/ended-sad.lpl"
cp -r "$WORK/ended-sad.lpl.checkpoint.000001" "$WORK/ended-sad.lpl.checkpoint.000099"
"$LAPLACE" record --resume "$WORK/ended-sad.lpl.checkpoint.000001" >"$WORK/ended-sad.log" 2>&1 ||
	fail "not taken up after a signal: $(said "$WORK/ended-sad.log")"
[ ! -d "$WORK/ended-sad.lpl.checkpoint.000099" ] ||
	fail "a checkpoint is kept that is later than the one at which the run was taken up"
verify "$WORK/ended-sad.lpl"
expect_same_files undisturbed-sad ended-sad

# A checkpoint that another program made is refused, and nothing is lost by that.
last=$WORK/killed-sad.lpl.checkpoint.$(printf %06d "$(newest killed-sad)")
cp "$last/place" "$WORK/file"
printf another! | dd of="$last/place" bs=1 seek=24 conv=notrunc status=none
if "$LAPLACE" record --resume "$WORK/killed-sad.lpl" >"$WORK/other.log" 2>&1; then
	fail "a checkpoint of another build is taken"
fi
expect_line "$WORK/other.log" 'was made by another build of laplace-bochs'
verify "$WORK/killed-sad.lpl"
cp "$WORK/file" "$last/place"

# So is one whose files were changed or cut, or are fewer: Bochs would take them as they are.
for file in $damaged; do
	cp "$last/$file" "$WORK/file"
	for damage in $damages; do
		case $damage in
		longer) echo "log: $WORK/forged.log" >>"$last/$file" ;;
		changed) printf 'x?' | dd of="$last/$file" bs=1 seek=300 conv=notrunc status=none ;;
		cut) truncate -s -1 "$last/$file" ;;
		gone) rm "$last/$file" ;;
		esac
		if "$LAPLACE" record --resume "$WORK/killed-sad.lpl" >"$WORK/damaged.log" 2>&1; then
			fail "a checkpoint is taken whose $file is $damage"
		fi
		expect_line "$WORK/damaged.log" '(is damaged: its files are not|is no checkpoint$)'
		cp "$WORK/file" "$last/$file"
	done
done
[ ! -e "$WORK/forged.log" ] || fail "what was added to a checkpoint's configuration is done"
verify "$WORK/killed-sad.lpl"

# A copy of all would go on with the trace that it is a copy of.
mkdir "$WORK/copy"
cp -r "$WORK"/killed-sad.* "$WORK/copy/"
if "$LAPLACE" record --resume "$WORK/copy/killed-sad.lpl" >"$WORK/copy.log" 2>&1; then
	fail "a copy is gone on with"
fi
expect_line "$WORK/copy.log" 'and not where that has it: it was moved or copied$'
rm -r "$WORK/copy"
verify "$WORK/killed-sad.lpl"

# A recording that begins is not taken up at a checkpoint of the one before it: they are in the way,
# or go.  And it gets its name in the place of the one that was there.
if "$LAPLACE" record --overwrite -o "$WORK/killed-sad.lpl" --checkpoint every:150M --control "$WORK/none/here" \
	"$IMAGE/boot.bochsrc" >"$WORK/again.log" 2>&1; then
	fail "a control socket is made where there is no directory"
fi
expect_line "$WORK/again.log" '^laplace: control=.*no socket can be made'
verify "$WORK/killed-sad.lpl"
rm "$WORK"/killed-sad.lpl "$WORK"/killed-sad.0*.lpl
if "$LAPLACE" record -o "$WORK/killed-sad.lpl" "$IMAGE/boot.bochsrc" >"$WORK/in-the-way.log" 2>&1; then
	fail "a checkpoint that is there is no matter"
fi
expect_line "$WORK/in-the-way.log" 'killed-sad.lpl.checkpoint.0*[0-9]+ is there already, the checkpoint of another recording'
for part in 1 2; do
	"$LAPLACE" record --overwrite -o "$WORK/killed-sad.lpl" --checkpoint every:50M --end instructions:120M \
		--status-file "$WORK/again.status" --status-every 1 "$IMAGE/boot.bochsrc" >"$WORK/over.log" 2>&1 ||
		fail "over a trace that is there, the $part. time: $(said "$WORK/over.log")"
	verify "$WORK/killed-sad.lpl"
	[ "$(newest killed-sad)" -eq 2 ] || fail "the newest checkpoint is $(newest killed-sad)"
done
# Who watches sees nothing begin anew.
sed -n 's/.*"references":\([0-9]*\),.*"wait_ns":\([0-9]*\),.*"segment":\([0-9]*\),"syncs":\([0-9]*\),.*/\1 \2 \3 \4/p' \
	"$WORK/again.status" >"$WORK/watched"
awk '$3 < segment { references = wait = segment = syncs = 0 }
	$1 < references || $2 < wait || $4 < syncs { print; bad = 1 }
	{ references = $1; wait = $2; segment = $3; syncs = $4 }
	END { exit bad || NR < 8 }' "$WORK/watched" || fail "a status begins anew at a checkpoint: $(head -n 3 "$WORK/watched")"
rm -r "$WORK"/killed-sad.lpl.checkpoint.*
if "$LAPLACE" record --resume "$WORK/killed-sad.lpl" >"$WORK/none.log" 2>&1; then
	fail "it is resumed from nothing"
fi
expect_line "$WORK/none.log" 'has no checkpoint to go on from'

# What cannot be in a checkpoint is said before anything begins.
for extra in "windows=mark:a" "stage=reduce"; do
	if "$BOCHS" -q -f "$IMAGE/boot.bochsrc" "laplace: trace=$WORK/refused.lpl, checkpoint=on, $extra" \
		>"$WORK/refused.log" 2>&1 </dev/null; then
		fail "checkpoint=on with $extra is taken"
	fi
	expect_line "$WORK/refused.log" '^laplace: checkpoint=: '
done

# What was asked for is known after a checkpoint, where Bochs has cut it at commas, too.
"$BOCHS" -q -f "$IMAGE/boot.bochsrc" \
	"laplace: trace=$WORK/parts.lpl, checkpoint=every:100M, end=seconds:100000,instructions:250M" \
	>"$WORK/parts.log" 2>&1 </dev/null || fail "a run with conditions: $(said "$WORK/parts.log")"
expect_line "$WORK/parts.log" '^laplace: the run was ended by end=instructions:250000000;'
[ "$(newest parts)" -eq 2 ] || fail "$(newest parts) checkpoints in 250 M instructions, every 100 M"

# Before the guest boots: what the BIOS finds after a checkpoint is what it finds without.
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

# A disk that has room for the beginning of a run, and for no checkpoint: the run goes on without, and holds what a
# run without them holds.
beginning=(--reduce none --end instructions:400M)
record beginning boot "${beginning[@]}" || fail "the beginning of a run: $(said "$WORK/beginning.log")"
room=$(($(stat -c %s "$WORK/beginning.lpl") / 1048576 + 8))
if [ "$(id -u)" = 0 ] && mkdir -p "$WORK/small" && mount -t tmpfs -o "size=${room}m" none "$WORK/small" 2>/dev/null; then
	record on-a-small-disk boot -o "$WORK/small/run.lpl" "${beginning[@]}" --checkpoint every:390M ||
		fail "a checkpoint that cannot be made ends the run: $(said "$WORK/on-a-small-disk.log")"
	mv "$WORK/small"/run.* "$WORK/"
	umount "$WORK/small"
	expect_line "$WORK/on-a-small-disk.log" 'run\.lpl\.checkpoint\.000001 cannot be made, and the run goes on without: No space left'
	"$PROGRAMS/compare-traces" "$WORK/beginning.lpl" "$WORK/run.lpl" ||
		fail "a checkpoint that could not be made has changed the run"
fi

# Asked for at the control socket, where the next request is answered by who goes on.
socket=$WORK/checkpoint.sock
endless spinning '\353\376'
nice "$LAPLACE" record --overwrite --progress=never --flush off -o "$WORK/asked.lpl" --checkpoint every:20G \
	--control "$socket" "$WORK/spinning.bochsrc" >"$WORK/asked.log" 2>&1 </dev/null &
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
# One that cannot be made is counted, and does not cost one of those that are kept.
mkdir -p "$WORK/asked.lpl.checkpoint.000003.part/in-the-way"
! "$LAPLACE" ctl "$socket" checkpoint >"$WORK/asked.reply" 2>&1 || fail "a checkpoint is made over a directory"
expect_line "$WORK/asked.reply" 'the checkpoint could not be made'
rm -r "$WORK/asked.lpl.checkpoint.000003.part"
"$LAPLACE" ctl "$socket" checkpoint >"$WORK/asked.reply" 2>&1 || fail "ctl checkpoint: $(tail -n 1 "$WORK/asked.reply")"
"$LAPLACE" ctl "$socket" quit >"$WORK/asked.reply" 2>&1 || fail "ctl quit: $(tail -n 1 "$WORK/asked.reply")"
wait $recorder || true
expect_line "$WORK/asked.log" 'the run was ended by a request at the control socket$'
verify "$WORK/asked.lpl"
kept=$(cd "$WORK" && echo asked.lpl.checkpoint.*)
[ "$kept" = "asked.lpl.checkpoint.000002 asked.lpl.checkpoint.000003" ] ||
	fail "of three checkpoints, and one that could not be made, these are kept: $kept"
expect_line "$WORK/asked.log" ': 1 checkpoint could not be made; the messages above say why$'
"$LAPLACE" info "$WORK/asked.lpl" >"$WORK/asked.info"
expect_line "$WORK/asked.info" '^  host-mark +2$'
