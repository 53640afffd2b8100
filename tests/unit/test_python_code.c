/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is read of CPython's memory: versions, line tables, texts, memory that is not there. */
#include "profile/python/python_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void only_known_versions(void **state)
{
    (void)state;
    const struct hw_python_layout *layout =
        hw_python_layout_of("3.11.7 (main, May  9 2026, 07:35:25) [GCC 12.2.0]");
    assert_non_null(layout);
    assert_int_equal(layout->minor, 11);
    assert_non_null(hw_python_layout_of("3.8.18 (default, May  9 2026, 07:33:04) \n[GCC 12.2.0]"));
    assert_non_null(hw_python_layout_of("3.13.0 (main, May  9 2026, 07:36:57) [Clang 18.1.8 ]"));
    static const char *const others[] = {
        "",
        "2.7.18 (default, Jan 1 2020, 00:00:00) [GCC 9.2.0]",
        "3.7.16 (default, Jan 1 2020, 00:00:00) [GCC 9.2.0]",
        "3.14.0 (main, Oct 7 2025, 00:00:00) [GCC 14.2.0]",
        "3.13.0a3 (main, Jan 1 2024, 00:00:00) [GCC 12.2.0]",
        "3.13.0 experimental free-threading build (main, Jan 1 2024, 00:00:00) [GCC 12.2.0]",
        "3.10.5+cinder (main, Jan 1 2024, 00:00:00) [GCC 12.2.0]",
        "3.9.18 (c5262994620471e725f57f652d78d842270649d6, Jan 1 2024) [PyPy 7.3.13 with GCC 10.2.1]",
        "3.11.7 (Tue Jan 01 2024) [Graal, GraalVM CE, Java 21 (amd64)]",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(hw_python_layout_of(others[i]));
}

struct expected {
    int instruction, line;
};

static void check(enum hw_python_lines kind, const void *table, size_t bytes, const struct expected *expected)
{
    for (; expected->line; expected++)
        assert_int_equal(hw_python_line(kind, table, bytes, 10, expected->instruction), expected->line);
    /* Cut anywhere, it is read no further: the end is the end of a page. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    for (size_t length = 0; length <= bytes; length++) {
        char *begin = memory + page - length;
        memcpy(begin, table, length);
        for (int instruction = -2; instruction < 40; instruction++)
            assert_true(hw_python_line(kind, begin, length, 10, instruction) > 0);
    }
    munmap(memory, 2 * page);
}

static void lines_of_3_8(void **state)
{
    (void)state;
    static const unsigned char table[] = {0, 1, 6, 1, 8, 2, 10, 0xfe};
    static const struct expected expected[] = {{-1, 10}, {0, 11},  {5, 11},  {6, 12},   {13, 12},
                                               {14, 14}, {23, 14}, {24, 12}, {100, 12}, {0, 0}};
    check(HW_PYTHON_LNOTAB, table, sizeof table, expected);
}

static void lines_of_3_10(void **state)
{
    (void)state;
    static const unsigned char table[] = {4, 1, 6, 0x80, 8, 2, 2, 0xfd};
    static const struct expected expected[] = {{-2, 10}, {0, 11},  {3, 11},  {4, 10},  {9, 10}, {10, 13},
                                               {17, 13}, {18, 10}, {19, 10}, {20, 10}, {0, 0}};
    check(HW_PYTHON_RANGES, table, sizeof table, expected);
}

static void lines_of_3_11(void **state)
{
    (void)state;
    static const unsigned char table[] = {
        0xe8, 0x48, 0x03,             /* 2 bytes, no columns, 100 lines on */
        0xd9, 0x04, 0x08,             /* 4 bytes, one line on */
        0xf8,                         /* 2 bytes, no line */
        0xf7, 0x05, 0x00, 0x01, 0x01, /* 16 bytes, long, 2 lines back */
        0x90, 0x11,                   /* 2 bytes, same line */
    };
    static const struct expected expected[] = {{-2, 10}, {0, 110},  {2, 111},  {5, 111}, {6, 10},
                                               {8, 109}, {23, 109}, {24, 109}, {26, 10}, {0, 0}};
    check(HW_PYTHON_LOCATIONS, table, sizeof table, expected);
}

/* A string object of CPython in `memory`. */
static const char *string(char *memory, const struct hw_python_layout *layout, unsigned kind, bool is_ascii,
                          const void *data, size_t length)
{
    memset(memory, 0xa5, 256);
    memcpy(memory + 16, &length, sizeof length);
    unsigned word = kind << 2 | 32U | (is_ascii ? 64U : 0U);
    memcpy(memory + 32, &word, sizeof word);
    memcpy(memory + (is_ascii ? layout->text_ascii : layout->text_other), data, length * kind);
    return memory;
}

static void texts_become_utf_8(void **state)
{
    (void)state;
    static const char *const versions[] = {"3.8.18 (x) [GCC 12]", "3.13.0 (x) [GCC 12]"};
    for (int i = 0; i < 4; i++) {
        const struct hw_python_layout *layout = hw_python_layout_of(versions[i % 2]);
        bool is_careful = i / 2;
        char memory[256], text[32];
        assert_true(hw_python_text(layout, string(memory, layout, 1, true, "solver.py", 9), is_careful, text,
                                   sizeof text));
        assert_string_equal(text, "solver.py");
        assert_true(hw_python_text(layout, string(memory, layout, 1, false, "caf\xe9", 4), is_careful, text,
                                   sizeof text));
        assert_string_equal(text, "caf\xc3\xa9");
        static const uint16_t wide[] = {'a', 0x2603, 0xdc80};
        assert_true(
            hw_python_text(layout, string(memory, layout, 2, false, wide, 3), is_careful, text, sizeof text));
        assert_string_equal(text, "a\xe2\x98\x83?");
        static const uint32_t widest[] = {0x1d4b3, 'b'};
        assert_true(hw_python_text(layout, string(memory, layout, 4, false, widest, 2), is_careful, text,
                                   sizeof text));
        assert_string_equal(text, "\xf0\x9d\x92\xb3"
                                  "b");
        assert_true(hw_python_text(layout, string(memory, layout, 4, false, widest, 2), is_careful, text, 8));
        assert_string_equal(text, "\xf0\x9d\x92\xb3"); /* cut between characters */
    }
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
    char *memory = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    char buffer[64], text[8];
    const struct hw_python_layout *layout = hw_python_layout_of("3.12.1 (x) [GCC 12]");
    assert_null(hw_python_look(memory, sizeof buffer, buffer));
    assert_null(hw_python_look(memory - 8, sizeof buffer, buffer)); /* not all of it */
    assert_null(hw_python_table(memory, true, &bytes));
    assert_false(hw_python_text(layout, memory, true, text, sizeof text));
    assert_ptr_equal(hw_python_look(memory, 8, NULL), memory); /* not touched */
    munmap(memory, page);
    static const char here[] = "here";
    assert_ptr_equal(hw_python_look(here, sizeof here, buffer), buffer);
    assert_string_equal(buffer, here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_known_versions), cmocka_unit_test(lines_of_3_8),
        cmocka_unit_test(lines_of_3_10),       cmocka_unit_test(lines_of_3_11),
        cmocka_unit_test(texts_become_utf_8),  cmocka_unit_test(memory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
