/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/fatal_signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int watched[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGHUP,  SIGILL,  SIGINT, SIGQUIT,
                              SIGSEGV, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGSYS};
enum { WATCHED_COUNT = sizeof watched / sizeof watched[0] };

static struct sigaction before[WATCHED_COUNT];
static bool is_ours[WATCHED_COUNT];
static void (*tell_of)(int number);

/* The instruction is there to fault again. Others, and a fault that somebody sent, come once. */
static bool is_repeated(const siginfo_t *info)
{
    int number = info->si_signo;
    return info->si_code > 0 &&
           (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

static void on_signal(int number, siginfo_t *info, void *context);

static bool is_in_place(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

/* By a handler that has taken our place, as the one from before it; with the number alone, perhaps. */
static bool is_called_by_handler(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && !is_in_place(&now);
}

/* What it would find without us is no handler. Of these two signals it goes on then, most likely: they are
 * the program's own. */
static bool is_programs_own(int number) { return number == SIGUSR1 || number == SIGUSR2; }

static bool send_again(int number, siginfo_t *info)
{
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info) == 0;
}

static void put_back(int number)
{
    for (int i = 0; i < WATCHED_COUNT; i++)
        if (watched[i] == number)
            sigaction(number, &before[i], NULL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int kept_errno = errno;
    bool is_called = is_called_by_handler(number);
    if (is_called && is_programs_own(number))
        return;
    tell_of(number);
    put_back(number);
    /* Blocked until this returns. */
    bool is_coming = !is_called && (is_repeated(info) || send_again(number, info));
    if (!is_coming)
        raise(number);
    errno = kept_errno;
}

static bool is_fatal(const struct sigaction *action, bool (*is_mpis)(const char *path))
{
    void *handler = NULL;
    Dl_info info;
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL)
        return true;
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN)
        return false;
    memcpy(&handler, &action->sa_sigaction, sizeof handler); /* of either kind: they lie in one place */
    return dladdr(handler, &info) != 0 && info.dli_fname && is_mpis(info.dli_fname);
}

void hw_fatal_signals_watch(void (*tell)(int number), bool (*is_mpis)(const char *path))
{
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigfillset(&ours.sa_mask);
    tell_of = tell;
    for (int i = 0; i < WATCHED_COUNT; i++) {
        is_ours[i] = sigaction(watched[i], NULL, &before[i]) == 0 && is_fatal(&before[i], is_mpis);
        if (is_ours[i])
            sigaction(watched[i], &ours, NULL);
    }
}

void hw_fatal_signals_leave(void)
{
    for (int i = 0; i < WATCHED_COUNT; i++) {
        struct sigaction now;
        if (is_ours[i] && sigaction(watched[i], NULL, &now) == 0 && is_in_place(&now))
            sigaction(watched[i], &before[i], NULL);
        is_ours[i] = false;
    }
}
