/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of a thread is how its processor calculates with floating-point numbers: how it rounds, what
 * becomes of the smallest ones, which exceptions trap, which have been seen (fenv(3)). Each thread has its
 * own, a new one that of its maker. What an agent adds up for the program must come out as it does plain, so
 * the agent takes over the program's, and the program what the agent has seen. */
#ifndef HW_BASE_ARITHMETIC_H
#define HW_BASE_ARITHMETIC_H

#include <stdint.h>

#if defined(__x86_64__)
enum { HW_ARITHMETIC_EXCEPTIONS = 0x3f }; /* of MXCSR, and of the x87's status word */
#endif

/* Of the calling thread, as a number; never 0 where it is known. */
static inline uint64_t hw_arithmetic_get(void)
{
#if defined(__x86_64__)
    uint16_t x87; /* long double */
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & ~(unsigned)HW_ARITHMETIC_EXCEPTIONS);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return UINT64_C(1) << 63 | control;
#else
    return 0;
#endif
}

/* Makes it that of the calling thread, in which no exception has been seen then; 0 changes nothing. */
static inline void hw_arithmetic_set(uint64_t arithmetic)
{
    if (arithmetic == 0)
        return;
#if defined(__x86_64__)
    uint16_t x87 = (uint16_t)(arithmetic >> 32);
    __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr((uint32_t)arithmetic);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, xzr" : : "r"(arithmetic & ~(UINT64_C(1) << 63)));
#endif
}

/* The exceptions that the calling thread has seen since the last hw_arithmetic_set. */
static inline uint32_t hw_arithmetic_exceptions(void)
{
#if defined(__x86_64__)
    uint16_t x87;
    __asm__ volatile("fnstsw %0" : "=m"(x87));
    return (x87 | __builtin_ia32_stmxcsr()) & HW_ARITHMETIC_EXCEPTIONS;
#elif defined(__aarch64__)
    uint64_t status;
    __asm__ volatile("mrs %0, fpsr" : "=r"(status));
    return (uint32_t)status;
#else
    return 0;
#endif
}

/* The calling thread has seen them, too. Nothing traps. */
static inline void hw_arithmetic_add_exceptions(uint32_t exceptions)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | exceptions);
#elif defined(__aarch64__)
    uint64_t status;
    __asm__ volatile("mrs %0, fpsr" : "=r"(status));
    __asm__ volatile("msr fpsr, %0" : : "r"(status | exceptions));
#else
    (void)exceptions;
#endif
}

#endif
