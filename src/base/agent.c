/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/agent.h"

#include "base/atomic.h"
#include "base/clock.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* A short slice is what makes the kernel let a woken thread run at once. */
#define SLICE_NS (100 * HW_NS_PER_US)

/* struct sched_attr, version 0: linux/sched/types.h clashes with sched.h before glibc 2.41. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};
_Static_assert(sizeof(struct scheduling) == 48, "sched_setattr(2) knows this size");

/* A fault kills a process that blocks its signal in the thread that had it, whatever handler there is, and
 * programs that protect pages expect theirs: MPI may fill such a page in an agent. But one that the program
 * blocks it may be waiting for (sigwait(3)): if somebody sends it, no thread of ours must take it. */
static void block_signals(sigset_t *before)
{
    static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t blocked;
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (!sigismember(before, faults[i]))
            sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

/* What glibc keeps on every stack: thread-local data of the program and of its libraries, of any size. */
static size_t kept_bytes(const pthread_attr_t *attributes)
{
    size_t (*get)(const pthread_attr_t *);
    void *symbol = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
    memcpy(&get, &symbol, sizeof get);
    return symbol ? get(attributes) : 0;
}

static atomic_uint alive;

unsigned hw_agent_count(void) { return hw_atomic_load_relaxed(&alive); }

/* The argument is what it runs: memory for more would be an allocation of the new thread's. */
static void *begin(void *argument)
{
    void *(*run)(void *);
    memcpy(&run, &argument, sizeof run);
    void *result = run(NULL);
    hw_atomic_sub_relaxed(&alive, 1);
    return result;
}

int hw_agent_create(pthread_t *thread, void *(*run)(void *), size_t stack_bytes, const cpu_set_t *cores)
{
    pthread_attr_t attributes;
    sigset_t before;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes + kept_bytes(&attributes));
    if (cores)
        pthread_attr_setaffinity_np(&attributes, sizeof *cores, cores);
    void *argument;
    memcpy(&argument, &run, sizeof argument);
    hw_atomic_add_relaxed(&alive, 1);
    block_signals(&before);
    int error = pthread_create(thread, &attributes, begin, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        hw_atomic_sub_relaxed(&alive, 1);
    return error;
}

#if defined(__x86_64__)

/* The kernel has them in use (CPUID 7, ECX bit 4). */
static bool has_protection_keys(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ecx & 1U << 4);
}

void hw_agent_open_memory(void)
{
    if (has_protection_keys())
        __asm__ volatile("wrpkru" : : "a"(0), "c"(0), "d"(0) : "memory");
}

#else

void hw_agent_open_memory(void) {}

#endif

void hw_agent_prompt(void)
{
    struct scheduling scheduling = {.size = sizeof scheduling, .policy = SCHED_OTHER, .runtime_ns = SLICE_NS};
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

bool hw_agent_hurry(bool is_wanted)
{
    struct scheduling scheduling = {.size = sizeof scheduling, .policy = SCHED_RR, .priority = 1};
    if (is_wanted)
        return syscall(SYS_sched_setattr, 0, &scheduling, 0) == 0;
    hw_agent_prompt();
    return true;
}

/* A thread that may, and did not ask for it before: it is as it was afterwards. */
bool hw_agent_may_hurry(void)
{
    struct scheduling before = {0};
    if (syscall(SYS_sched_getattr, 0, &before, sizeof before, 0) != 0)
        return false;
    bool is_allowed = hw_agent_hurry(true);
    if (is_allowed)
        syscall(SYS_sched_setattr, 0, &before, 0);
    return is_allowed;
}
