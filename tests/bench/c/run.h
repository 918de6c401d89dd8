/* Calls each case many times, and prints what it made, or how long it takes: as run.rs does. */

#define ROUNDS 100
#define SAMPLES 15
#define SAMPLE_NS 500000

static bool timed;

/* Zeros, to write or read a mailbox. */
static void *room(size_t len)
{
	void *bytes = calloc(1, len);

	if (!bytes)
		abort();
	return bytes;
}

typedef void (*write_case)(void *in, const void *values);
typedef uint64_t (*read_case)(const void *out);

struct call {
	write_case write;
	read_case read;
	void *mailbox;
	const void *values;
	uint64_t sum;
};

static inline __attribute__((always_inline)) void call(struct call *c)
{
	void *mailbox = c->mailbox;
	const void *values = c->values;

	OPAQUE(mailbox);
	OPAQUE(values);
	if (c->write)
		c->write(mailbox, values);
	else
		c->sum = c->read(mailbox);
}

static uint64_t sample(struct call *c, uint32_t calls)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (uint32_t i = 0; i < calls; i++)
		call(c);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000 + (uint64_t)to.tv_nsec -
	       (uint64_t)from.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double median(struct call *c)
{
	uint64_t samples[SAMPLES];
	uint32_t calls = 16;

	while (sample(c, calls) < SAMPLE_NS)
		calls *= 2;
	for (int i = 0; i < SAMPLES; i++)
		samples[i] = sample(c, calls);
	qsort(samples, SAMPLES, sizeof(samples[0]), by_size);
	return (double)samples[SAMPLES / 2] / calls;
}

static bool run(const char *name, struct call *c)
{
	if (timed) {
		printf("%s %.3f\n", name, median(c));
		return false;
	}
	for (int i = 0; i < ROUNDS; i++)
		call(c);
	return true;
}

static void run_write(const char *name, write_case write, size_t len, const void *values)
{
	struct call c = { .write = write, .mailbox = room(len), .values = values };

	OPAQUE(c.write);
	if (run(name, &c)) {
		printf("%s ", name);
		for (size_t i = 0; i < len; i++)
			printf("%02x", ((uint8_t *)c.mailbox)[i]);
		printf("\n");
	}
	free(c.mailbox);
}

static void run_read(const char *name, read_case read, void *out)
{
	struct call c = { .read = read, .mailbox = out };

	OPAQUE(c.read);
	if (run(name, &c))
		printf("%s %#llx\n", name, (unsigned long long)c.sum);
}
