/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the record's command line is what a shell takes, cut where there is no more room. */
#include "profile/record/origin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *words, size_t length, size_t capacity, const char *expected)
{
    char text[64];
    memset(text, 'x', sizeof text);
    hw_origin_quote(words, length, text, capacity);
    assert_string_equal(text, expected);
    assert_int_equal(text[capacity], 'x');
}

static void words_are_quoted_where_a_shell_needs_it(void **state)
{
    (void)state;
    const char words[] = "./app\0--n=4\0two words\0it's\0";
    check(words, sizeof words - 1, 60, "./app --n=4 'two words' 'it'\\''s'");
    check("a\0\0b", 5, 60, "a '' b");
    check("", 0, 60, "");
}

static void what_does_not_fit_is_cut(void **state)
{
    (void)state;
    const char words[] = "./app\0argument";
    check(words, sizeof words, 15, "./app argument");
    check(words, sizeof words, 14, "./app argu...");
    check(words, sizeof words, 4, "...");
}

static void the_process_describes_itself(void **state)
{
    (void)state;
    struct hw_record_process process = {0};
    hw_origin_begin();
    hw_origin_entered();
    hw_origin_describe(&process);
    assert_non_null(strstr(process.command, "test_origin"));
    assert_true(process.started_s > 1.7e9);
    assert_true(process.init_s >= 0 && process.init_s < 3600);
    assert_true(process.host[0] != '\0' && process.version[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted_where_a_shell_needs_it),
        cmocka_unit_test(what_does_not_fit_is_cut),
        cmocka_unit_test(the_process_describes_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
