/* What src/bin/cases does, with the DEVX macros, and in the same order. The public headers with the
 * layouts are included before this text. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/mlx5dv.h>

/* Each case is a function of its own, called by an address that the compiler does not know. */
#define OPAQUE_FN __attribute__((noinline))
/* The compiler must not know the value. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x) : : "memory")

#include "run.h"
#include "encode.h"
#include "lists.h"
#include "read.h"

int main(int argc, char **argv)
{
	timed = argc > 1 && !strcmp(argv[1], "time");
	if (argc > 2 && !strcmp(argv[1], "grow")) {
		uint32_t entries = (uint32_t)strtoul(argv[2], NULL, 10);

		modify_rqts(entries);
		create_mkeys(entries);
		query_rqts(entries);
		return 0;
	}
	encodes();
	lists();
	reads();
	return 0;
}
