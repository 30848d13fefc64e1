# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The documents whose commands boot guests (`<!-- tested: guest -->`; where LONG=yes, `guest, long`): they do
# what is shown there. And, where LONG=yes, the README's picture is made as `docs/pictures` makes it.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
export XDG_CACHE_HOME=$WORK/cache BUILD=$BUILDDIR SOURCES=$SRCDIR
unset LANGUAGE TZ CDPATH
mkdir -p "$WORK/documents/bin" "$XDG_CACHE_HOME/laplace"
[ -e "$XDG_CACHE_HOME/laplace/kernel" ] || ln -s "$BUILDDIR/build/kernel" "$XDG_CACHE_HOME/laplace/kernel"
ln -s "$LAPLACE" "$WORK/documents/bin/laplace"
ln -s "$LAPLACE_BOCHS" "$WORK/documents/bin/laplace-bochs"
PATH=$WORK/documents/bin:$PATH:/usr/sbin:/sbin
# the guest is made once, and it is told when
"$LAPLACE" run -q -O -o "$WORK/documents/warm.lpl" -- true || fail "the guest cannot be made"

marked=guest
[ "${LONG:-}" != yes ] || marked='guest, long'
tried=0
for document in ${DOCUMENTS:-"$SRCDIR"/*.md "$SRCDIR"/docs/*.md "$SRCDIR"/docs/howto/*.md}; do
	[ -e "$document" ] || continue
	grep -qx "<!-- tested: $marked -->" "$document" || continue
	name=$(basename "$document" .md)
	rm -rf "$WORK/documents/$name"
	mkdir "$WORK/documents/$name"
	cd "$WORK/documents/$name" || exit
	# as in a clone
	ln -s "$BUILDDIR/laplace" "$BUILDDIR/build" .
	cp "$SRCDIR/COPYING.GPL" .
	HOME=$PWD "$SRCDIR/tests/cli/document" "$document" >"$WORK/documents/$name.log" 2>&1 ||
		fail "$document: $(tail -n 12 "$WORK/documents/$name.log" | paste -sd '|')"
	cd "$WORK" || exit
	echo "# $name: $(tail -n 1 "$WORK/documents/$name.log")"
	rm -rf "$WORK/documents/$name"
	tried=$((tried + 1))
done
[ $tried -gt 0 ] || fail "no document is tested here"

[ "${LONG:-}" = yes ] || {
	rm -rf "$WORK/documents"
	exit 0
}
mkdir "$WORK/documents/picture"
"$SRCDIR/docs/pictures" --builddir "$BUILDDIR" --out "$WORK/documents/picture" || fail "docs/pictures"
for policy in lru clock opt; do
	for picture in "$WORK/documents/picture/curve.svg" "$SRCDIR/docs/images/curve.svg"; do
		grep -q ">$policy<" "$picture" || fail "$picture has no curve of $policy"
	done
done
rm -rf "$WORK/documents"
