/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Enumerators of which only a compiler with every header knows the values. */
#define MADE_UP_FLAGS(a) ((a) << 4)
#define MADE_UP_SELF MADE_UP_SELF
#define MADE_UP_SUM 1 + 1

enum {
	MADE_UP_A = 1,
	MADE_UP_SIZE = sizeof(int),
	MADE_UP_AFTER_SIZE,
	MADE_UP_B = 4,
	MADE_UP_C,
	MADE_UP_MACRO = MADE_UP_FLAGS(1),
	MADE_UP_FOREIGN = ELSEWHERE | 1,
	MADE_UP_CHAR = 'a',
	MADE_UP_CAST = (enum other)1,
	MADE_UP_OF_CAST = MADE_UP_CAST + 1,
	MADE_UP_CALL = MADE_UP_FLAGS + 1,
	MADE_UP_NOT = ~0U,
	MADE_UP_MINUS = -1U,
	MADE_UP_NOT_LONG = ~0x80000000,
	MADE_UP_LIST(MADE_UP_X, 1),
	MADE_UP_AFTER_LIST,
	MADE_UP_SELF = 7,
	MADE_UP_TWICE_SELF = MADE_UP_SELF * 2,
	MADE_UP_SUMS = MADE_UP_SUM * 2,
	MADE_UP_NOT_INT = ~7,
	MADE_UP_CHOICE = MADE_UP_A > 0 ? 10 : 20,
	MADE_UP_OLD __attribute__((deprecated)) = (u8)0x1ff,
	MADE_UP_LAST
};
