# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# A run that waits for room on its disk: who watches sees it wait, and a request ends it.
apart=''
for way in -m -rm; do
	if [ -z "$apart" ] && unshare $way mount -t tmpfs -o size=1m none /mnt 2>/dev/null; then
		apart="unshare $way"
	fi
done
[ -n "$apart" ] || skip "no file system can be mounted here"
export WORK LAPLACE IMAGE
mkdir -p "$WORK/disk"
# The disk is seen by nobody else, and goes with them.
cat >"$WORK/fill" <<'END'
mount -t tmpfs -o size=1m none "$WORK/disk"
"$LAPLACE" record --progress=never --reduce sad:16 --control "$WORK/socket" --status-file "$WORK/status" \
	--status-every 1 -o "$WORK/disk/t.lpl" "$IMAGE/boot.bochsrc" >"$WORK/record.log" 2>&1 &
recorder=$!
while ! grep -q '"waiting_for_room":true' "$WORK/status" 2>/dev/null; do
	kill -0 $recorder || exit 3
	sleep 0.1
done
lines=$(wc -l <"$WORK/status")
while [ "$(wc -l <"$WORK/status")" -lt $((lines + 5)) ]; do
	sleep 0.1
done
"$LAPLACE" ctl --timeout 60 "$WORK/socket" quit >"$WORK/quit.log" 2>&1 || true
kill $recorder 2>/dev/null	# it has ended, or never will
wait $recorder
cp "$WORK/disk/t.lpl" "$WORK/t.lpl"
END
$apart bash "$WORK/fill" || fail "the run did not wait: $(tail -n 1 "$WORK/record.log")"
# answered when the trace is closed, and by why it is not whole
expect_line "$WORK/quit.log" '^laplace ctl: quit: .*no room for .*No space left on device'
expect_line "$WORK/record.log" 't.lpl: ends early, .* and was closed properly'
verify "$WORK/t.lpl"
# the machine stands still, and that is told as it goes by
sed -n 's/.*"waiting_for_room":true.*"wait_ns":\([0-9]*\).*/\1/p' "$WORK/status" >"$WORK/waited"
[ "$(wc -l <"$WORK/waited")" -ge 5 ] || fail "the status was told $(wc -l <"$WORK/waited") times in the wait"
[ "$(sort -un "$WORK/waited" | wc -l)" -ge 3 ] || fail "the wait is not told: $(tail -n 1 "$WORK/waited") ns"
