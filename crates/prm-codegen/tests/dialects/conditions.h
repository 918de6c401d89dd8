/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every condition of the preprocessor. Each branch that is read has an enumerator. */
#ifndef CONDITIONS_H
# define CONDITIONS_H

#define EMPTY
#define ONE 1 /* A comment, \
	that goes on. */ + 0
#define WITH(a) a
#define ITSELF ITSELF
#define URL "http://made.up/*"

enum {
#ifdef EMPTY
	C_EMPTY,
#endif
#ifdef UNKNOWN
	X_UNKNOWN, don't
#elif ONE
	C_ELIF,
#elif 1 / 0
	X_AFTER,
#else
	X_ELSE,
#endif
#if UNKNOWN == OTHER && !defined UNKNOWN && defined(ONE) && defined WITH
	C_EQUAL,
#endif
#if 1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 7 % 4 == 3 && 7 / 2 == 3
	C_ARITHMETIC,
#endif
#if (0xf0 & 0x3c) == 0x30 && (0xf0 ^ 0xff) == 0x0f && (1 | 6) == 7 && ~0 == -1 && 1 << 4 == 020
	C_BITS,
#endif
#if 1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2 && !(1 > 2 || 2 < 1)
	C_COMPARES,
#endif
#if 1 || 1 / 0
	C_SHORT,
#endif
#if 0 ? 1 / 0 : 1 ? 5 : 1 / 0
	C_CHOICE,
#endif
#if ITSELF || WITH
	X_ITSELF,
#else
	C_ITSELF,
#endif
#if ONE * 2 == 1 + 0 * 2
	C_EXPANDED,
#endif
#undef ONE
#ifdef ONE
	X_UNDEFINED,
#endif
#if 0
# if 1
	X_INNER,
# else
	X_INNER_ELSE,
# endif
# unknown to C
# error isn't reached
#else
	C_LAST,
#endif
#ifdef UNKNOWN
#elifndef UNKNOWN
	C_ELIFNDEF,
#elifdef CONDITIONS_H
	X_ELIFDEF,
#endif
#
# 7 "left by a preprocessor"
#pragma once
#warning this isn't one
#line 12
};

#endif
