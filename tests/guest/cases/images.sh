# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# Page images are what the guest's memory held at each eviction: a boot sector (images.S) fills pages with
# known words in turn, so each image's contents are known, and their order.
as --32 -o "$WORK/images.o" "$GUEST/images.S" || skip "there is no assembler"
ld -m elf_i386 -Ttext 0x7c00 --oformat binary -o "$WORK/images.bin" "$WORK/images.o"
endless images "$(od -An -v -to1 "$WORK/images.bin" | sed 's,  *,\\,g' | tr -d '\n')"

images() { # NAME K OPTION...
	local name=$1 pages=$2 status=0
	shift 2
	"$LAPLACE" record --overwrite --progress=never --flush off -o "$WORK/$name.lpl" --kernel none \
		--images "evict:$pages" --end instructions:60M "$@" "$WORK/images.bochsrc" \
		>"$WORK/$name.log" 2>&1 </dev/null || status=$?
	[ $status -eq 0 ] || fail "recording $name failed: $(said "$WORK/$name.log")"
	verify "$WORK/$name.lpl"
	# what the BIOS left there comes first, and the last pages are not evicted
	"$PROGRAMS/image-check" words "$WORK/$name.lpl" 10000 30000 |
		awk '$4 == "1" { on = 1 } on' >"$WORK/$name.found"
	head -n "$(wc -l <"$WORK/$name.found")" "$WORK/images.all" >"$WORK/$name.expected"
	expect_same "images of $name" "$WORK/$name.expected" "$WORK/$name.found"
	[ "$(wc -l <"$WORK/$name.found")" -ge $((256 - pages)) ] || fail "$name: hardly an image"
}

# ADDRESS FRAME KIND WORD OTHER, as image-check prints them
awk 'BEGIN {
	for (i = 1; i <= 256; i++)
		printf "%x %x %d %x %s\n", 65536 + (i - 1) % 32 * 4096, 16 + (i - 1) % 32, 1 + i % 2, i,
			i % 2 ? "beef" : sprintf("%x", i)
}' >"$WORK/images.all"

images images-16 16 --reduce sad:16
images images-24 24 --reduce window:8
images images-olr 16 --reduce olr:16

# the references are those of a recording without images
"$LAPLACE" record --overwrite --progress=never --flush off -o "$WORK/images-none.lpl" --kernel none \
	--end instructions:60M --reduce sad:16 "$WORK/images.bochsrc" >"$WORK/images-none.log" 2>&1 </dev/null ||
	fail "recording without images failed: $(said "$WORK/images-none.log")"
"$LAPLACE" cat --format sad "$WORK/images-none.lpl" 2>/dev/null >"$WORK/images-none.text"
"$LAPLACE" cat --format sad "$WORK/images-16.lpl" 2>/dev/null >"$WORK/images-16.text"
expect_same "what is kept with images" "$WORK/images-none.text" "$WORK/images-16.text"

# a memory of as many pages has the same faults, and knows what all of it held
"$LAPLACE" sim -s 16 "$WORK/images-16.lpl" | tail -n 1 | cut -d, -f 2-6 >"$WORK/images.lru"
"$LAPLACE" sim -p cc -s 16 --pool 16K "$WORK/images-16.lpl" 2>"$WORK/images.warnings" | tail -n 1 \
	>"$WORK/images.cc"
cut -d, -f 2-6 "$WORK/images.cc" >"$WORK/images.first"
expect_same "faults of the first level" "$WORK/images.lru" "$WORK/images.first"
grep -q ',yes$' "$WORK/images.cc" || fail "compressed caching is not exact: $(cat "$WORK/images.cc")"
echo "# $(wc -l <"$WORK/images-16.found") images; $(cat "$WORK/images.cc")"
