#include "profile/sites.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITE_COUNT = 2048, MAX_USED_COUNT = SITE_COUNT * 3 / 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken to insert */
static struct hw_profile_site *table;                    /* SITE_COUNT of them, and one for the rest */
static int used_count;

bool hw_sites_open(void)
{
    void *memory = mmap(NULL, (SITE_COUNT + 1) * sizeof *table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    table = memory;
    table[SITE_COUNT].function = "others";
    return true;
}

static unsigned class_of(uint64_t bytes) { return bytes ? 64U - (unsigned)__builtin_clzll(bytes) : 0; }

static uint32_t hash(const void *address, const char *function, unsigned size_class)
{
    uint64_t key = (uint64_t)(uintptr_t)address ^ (uint64_t)(uintptr_t)function << 17 ^ size_class;
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SITE_COUNT;
}

/* The entry of the key, or the free one where it belongs. */
static struct hw_profile_site *probe(const void *address, const char *function, unsigned size_class)
{
    uint32_t i = hash(address, function, size_class);
    for (;; i = (i + 1) % SITE_COUNT) {
        const void *found = atomic_load_explicit(&table[i].address, memory_order_acquire);
        if (!found ||
            (found == address && table[i].function == function && table[i].size_class == size_class))
            return &table[i];
    }
}

struct hw_profile_site *hw_sites_find(const void *address, const char *function, uint64_t bytes)
{
    unsigned size_class = class_of(bytes);
    struct hw_profile_site *site = probe(address, function, size_class);
    if (atomic_load_explicit(&site->address, memory_order_relaxed))
        return site;
    pthread_mutex_lock(&lock);
    site = probe(address, function, size_class);
    if (!atomic_load_explicit(&site->address, memory_order_relaxed)) {
        if (used_count < MAX_USED_COUNT) {
            used_count++;
            site->function = function;
            site->size_class = size_class;
            atomic_store_explicit(&site->address, address, memory_order_release);
        } else {
            site = &table[SITE_COUNT];
        }
    }
    pthread_mutex_unlock(&lock);
    return site;
}

void hw_sites_count(struct hw_profile_site *site, uint64_t bytes, uint64_t took_ns)
{
    HW_SITE_ADD(site, calls, 1);
    if (bytes)
        HW_SITE_ADD(site, bytes, bytes);
    HW_SITE_ADD(site, call_ns, took_ns);
    uint_fast64_t longest = atomic_load_explicit(&site->max_ns, memory_order_relaxed);
    while (took_ns > longest && !atomic_compare_exchange_weak(&site->max_ns, &longest, took_ns))
        ;
}

uint64_t hw_sites_call_ns(void)
{
    uint64_t sum = 0;
    for (int i = 0; i <= SITE_COUNT; i++)
        sum += atomic_load_explicit(&table[i].call_ns, memory_order_relaxed);
    return sum;
}

unsigned hw_sites_index(const struct hw_profile_site *site) { return (unsigned)(site - table); }

static void write_text(FILE *file, const char *name, const char *text)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        fprintf(file, c == '"' || c == '\\' ? "\\%c" : c < 0x20 ? "\\u%04x" : "%c", c);
    }
    fputs("\", ", file);
}

/* The place as whoever reads the record can look it up: file, offset in it, nearest exported symbol. A return
 * address may already belong to the next line, or function: one byte less does not. */
static void write_place(FILE *file, const void *address)
{
    const char *byte = (const char *)address - 1;
    static char program[PATH_MAX];
    Dl_info info;
    if (!address || dladdr(byte, &info) == 0 || !info.dli_fname)
        return;
    if (!program[0] && readlink("/proc/self/exe", program, sizeof program - 1) <= 0)
        program[0] = '?';
    /* The program itself is named as it was called, perhaps relative to another directory. */
    write_text(file, "module", info.dli_fname[0] == '/' ? info.dli_fname : program);
    fprintf(file, "\"offset\": %llu, ", (unsigned long long)(byte - (const char *)info.dli_fbase));
    if (info.dli_sname)
        write_text(file, "symbol", info.dli_sname);
}

static void write_site(FILE *file, const struct hw_profile_site *site, bool is_first)
{
    fprintf(file, "%s    {\"id\": %u, ", is_first ? "" : ",\n", hw_sites_index(site));
    write_place(file, atomic_load(&site->address));
    write_text(file, "function", site->function);
    fprintf(file, "\"size_class\": %u", site->size_class);
#define WRITE_COUNTER(name, meaning)                                                                         \
    if (atomic_load(&site->name))                                                                            \
        fprintf(file, ", \"" #name "\": %llu", (unsigned long long)atomic_load(&site->name));
    HW_SITE_COUNTERS(WRITE_COUNTER)
#undef WRITE_COUNTER
    fputc('}', file);
}

void hw_sites_write(FILE *file)
{
    bool is_first = true;
    for (int i = 0; i <= SITE_COUNT; i++) {
        if (!atomic_load(&table[i].calls) && !atomic_load(&table[i].completed))
            continue;
        write_site(file, &table[i], is_first);
        is_first = false;
    }
}
