/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inlined functions in inlined ones, some of it in parts of functions that are not expected to run. */
extern volatile int cell[];
static inline __attribute__((always_inline)) int leaf(int n)
{
	cell[1] += n;
	return cell[2] ^ n;
}
static inline __attribute__((always_inline)) int middle(int n)
{
	if (__builtin_expect(n == 7, 0)) {
		cell[3]++;
		n = leaf(n + 3);
		__builtin_trap();
	}
	return leaf(n) + leaf(n * 3);
}
__attribute__((noinline)) int one(int n)
{
	cell[4]++;
	for (int i = 0; i < n; i++)
		n += middle(i);
	return n;
}
__attribute__((noinline)) int two(int n)
{
	return leaf(one(n)) - middle(cell[5]);
}
volatile int cell[8];
