# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# A small machine in its BIOS, which one process records, in three segments; for the cases about recordings that several
# processes make from checkpoints.
small=$WORK/small-jobs.bochsrc
endless small-jobs "\353\376"
sed -i -e 's/^memory:.*/memory: guest=8, host=8/' -e 's/status=inserted/&, write_protected=1/' "$WORK/small-jobs.bochsrc"
options=(-r none --flush off --progress=never --checkpoint every:1M --end instructions:2500000)

same_files() { # SERIAL PARALLEL
	local file without
	(cd "$WORK" && ls "$1".lpl "$1".0*.lpl) | sed "s/$1/$2/" >"$WORK/files.serial"
	(cd "$WORK" && ls "$2".lpl "$2".0*.lpl) >"$WORK/files.parallel"
	expect_same "$2: the files" "$WORK/files.serial" "$WORK/files.parallel"
	while read -r file; do
		without=''
		[ "$file" != "$2.lpl" ] || without='s/,"check":"[0-9a-f]*"//'
		cmp <(sed -e "s/$1/$2/g" -e "$without" "$WORK/${file/$2/$1}") <(sed "$without" "$WORK/$file") ||
			fail "$file is not what one process writes"
	done <"$WORK/files.parallel"
	verify "$WORK/$2.lpl"
	[ -z "$(find "$WORK" -maxdepth 1 -name "$2.lpl.*")" ] || fail "$2: left: $(cd "$WORK" && echo "$2".lpl.*)"
}

[ -e "$WORK/undivided.lpl" ] ||
	"$LAPLACE" record -o "$WORK/undivided.lpl" "${options[@]}" "$small" >"$WORK/undivided.log" 2>&1 ||
	fail "one process: $(said "$WORK/undivided.log")"
[ "$(find "$WORK" -name 'undivided.0*.lpl' | wc -l)" = 3 ] || fail "2.5 M instructions have not 3 segments of 1 M"
