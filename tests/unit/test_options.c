/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the option table, its parser and the log: every default, every kind of value, what is refused
 * and in which words, one write per line, which ranks speak. */
#include "base/log.h"
#include "base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what is written to standard error, caught in a pipe ---------------------------------------------- */

static char said[8192];
static int saved_stderr;
static int pipe_ends[2];

static void capture_begin(void)
{
    assert_int_equal(pipe(pipe_ends), 0);
    saved_stderr = dup(STDERR_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
}

static void capture_end(void)
{
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    close(pipe_ends[1]);
    ssize_t length = read(pipe_ends[0], said, sizeof said - 1);
    said[length > 0 ? length : 0] = '\0';
    close(pipe_ends[0]);
}

static int lines_said(void)
{
    int lines = 0;
    for (const char *at = said; *at != '\0'; at++)
        lines += *at == '\n';
    return lines;
}

static struct hw_options options;

static enum hw_status read_one(const char *variable)
{
    char copy[HW_OPTION_PATH_MAX + 64];
    snprintf(copy, sizeof copy, "%s", variable);
    char *environment[] = {"HOME=/", copy, NULL};
    capture_begin();
    enum hw_status status = hw_options_read(environment, &options);
    capture_end();
    return status;
}

static void assert_refused(const char *variable, const char *accepted)
{
    assert_int_equal(read_one(variable), HW_BAD_INPUT);
    assert_int_equal(lines_said(), 1);
    assert_non_null(strstr(said, "[headway"));
    assert_non_null(strstr(said, variable));
    assert_non_null(strstr(said, accepted));
}

/* ---- options --------------------------------------------------------------------------------------------
 */

static void test_defaults(void **state)
{
    (void)state;
    assert_int_equal(hw_options_read(NULL, &options), HW_OK);
    assert_int_equal(options.engine, HW_OPTION_ENGINE_AUTO);
    assert_int_equal(options.trigger, HW_OPTION_TRIGGER_AUTO);
    assert_int_equal(options.tick_us, 0);
    assert_int_equal(options.gap_us, -1);
    assert_int_equal(options.eager_limit, 0);
    assert_int_equal(options.stand_down, HW_OPTION_STAND_DOWN_AUTO);
    assert_int_equal(options.log_level, HW_LOG_WARN);
    assert_false(options.verbose);
    assert_string_equal(options.record, "");
    assert_memory_equal(&hw_options, &hw_options_default, sizeof hw_options);
}

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(read_one("HEADWAY_ENGINE=OFF"), HW_OK);
    assert_int_equal(options.engine, HW_OPTION_ENGINE_OFF);
    assert_int_equal(read_one("HEADWAY_TICK_US=500"), HW_OK);
    assert_int_equal(options.tick_us, 500);
    assert_int_equal(read_one("HEADWAY_TICK_US=2ms"), HW_OK);
    assert_int_equal(options.tick_us, 2000);
    assert_int_equal(read_one("HEADWAY_TICK_US=0"), HW_OK);
    assert_int_equal(options.tick_us, 0);
    assert_int_equal(read_one("HEADWAY_GAP_US=0"), HW_OK);
    assert_int_equal(options.gap_us, 0);
    assert_int_equal(read_one("HEADWAY_EAGER_LIMIT=64K"), HW_OK);
    assert_int_equal(options.eager_limit, 65536);
    assert_int_equal(read_one("HEADWAY_EAGER_LIMIT=1MiB"), HW_OK);
    assert_int_equal(options.eager_limit, 1 << 20);
    assert_int_equal(read_one("HEADWAY_EAGER_LIMIT=auto"), HW_OK);
    assert_int_equal(options.eager_limit, 0);
    assert_int_equal(read_one("HEADWAY_VERBOSE=1"), HW_OK);
    assert_true(options.verbose);
    assert_int_equal(read_one("HEADWAY_RECORD=/some/where"), HW_OK);
    assert_string_equal(options.record, "/some/where");
    assert_int_equal(read_one("HEADWAYS=not ours"), HW_OK);
}

static void test_fractions_and_seconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t permille;
    } fractions[] = {{"0", 0},    {"1", 1000},  {"1.", 1000}, {"1.000", 1000},
                     {".5", 500}, {"0.05", 50}, {"0.005", 5}, {"00.895", 895}};
    char variable[64], text[HW_OPTION_TEXT_MAX];
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        snprintf(variable, sizeof variable, "HEADWAY_HIGH_CR=%s", fractions[i].text);
        char *environment[] = {"HEADWAY_LOW_CR=0", variable, NULL};
        assert_int_equal(hw_options_read(environment, &options), HW_OK);
        assert_int_equal(options.high_cr, fractions[i].permille);
    }
    hw_option_format(hw_option_of(offsetof(struct hw_options, high_cr)), &options, text, sizeof text);
    assert_string_equal(text, "0.895");
    static const char *const shown[] = {"0", "1", "0.5", "0.05", "0.995"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        snprintf(variable, sizeof variable, "HEADWAY_HIGH_CR=%s", shown[i]);
        char *environment[] = {"HEADWAY_LOW_CR=0", variable, NULL};
        assert_int_equal(hw_options_read(environment, &options), HW_OK);
        hw_option_format(hw_option_of(offsetof(struct hw_options, high_cr)), &options, text, sizeof text);
        assert_string_equal(text, shown[i]);
    }
    static const char *const wrong[] = {"1.001",  "2",   "-0.1", "",    ".",
                                        "0.1234", "0,5", "0.5.", "50%", "1e-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(variable, sizeof variable, "HEADWAY_LOW_CR=%s", wrong[i]);
        assert_refused(variable, "a number from 0 to 1");
    }
    assert_int_equal(read_one("HEADWAY_GSYNC_INT=120s"), HW_OK);
    assert_int_equal(options.gsync_int_us, 120000000);
    assert_refused("HEADWAY_PREDICT_INT=0", "a whole number from 1000 to");
    assert_refused("HEADWAY_GSYNC_INT=0s", "a whole number from 1000 to");
}

static void test_thresholds_in_order(void **state)
{
    (void)state;
    assert_refused("HEADWAY_HIGH_CR=0.100", "HEADWAY_LOW_CR, which is 0.500, or more");
    char *crossed[] = {"HEADWAY_LOW_CR=0.9", "HEADWAY_HIGH_CR=0.7", NULL};
    capture_begin();
    assert_int_equal(hw_options_read(crossed, &options), HW_BAD_INPUT);
    capture_end();
    assert_int_equal(lines_said(), 1);
    char *alike[] = {"HEADWAY_LOW_CR=0.7", "HEADWAY_HIGH_CR=0.7", NULL};
    assert_int_equal(hw_options_read(alike, &options), HW_OK);
}

static void test_refused_values(void **state)
{
    (void)state;
    assert_refused("HEADWAY_ENGINE=ghost", "auto, thread or off");
    assert_refused("HEADWAY_ENGINE=", "auto, thread or off");
    assert_refused("HEADWAY_TRIGGER=evnts", "auto, events, tick or helper");
    assert_refused("HEADWAY_TICK_US=19", "auto, or a whole number from 20 to 100000 us");
    assert_refused("HEADWAY_TICK_US=100001", "from 20 to 100000");
    assert_refused("HEADWAY_TICK_US=-5", "from 20 to 100000");
    assert_refused("HEADWAY_TICK_US=5x", "suffixes us, ms");
    assert_refused("HEADWAY_TICK_US= 500", "auto");
    assert_refused("HEADWAY_EAGER_LIMIT=99999999999999999999", "bytes (suffixes K, M, G)");
    assert_refused("HEADWAY_EAGER_LIMIT=9223372036854775807G", "bytes");
    assert_refused("HEADWAY_EAGER_LIMIT=K", "bytes");
    assert_refused("HEADWAY_VERBOSE=maybe", "yes or no");
    assert_memory_equal(&hw_options, &hw_options_default, sizeof hw_options);
}

static void test_path_too_long(void **state)
{
    (void)state;
    char variable[HW_OPTION_PATH_MAX + 32];
    memset(variable, 'x', sizeof variable);
    memcpy(variable, "HEADWAY_RECORD=", strlen("HEADWAY_RECORD="));
    variable[sizeof variable - 1] = '\0';
    assert_int_equal(read_one(variable), HW_BAD_INPUT);
    assert_int_equal(lines_said(), 1);
    assert_non_null(strstr(said, "a path shorter than 4096 bytes"));
}

static void test_unknown_names(void **state)
{
    (void)state;
    assert_refused("HEADWAY_TICKUS=500", "did you mean HEADWAY_TICK_US?");
    assert_refused("HEADWAY_ENGIN=off", "did you mean HEADWAY_ENGINE?");
    assert_refused("HEADWAY_LO=1", "did you mean HEADWAY_LOG?");
    assert_refused("HEADWAY_COMPLETELY_DIFFERENT=1", "HEADWAY_ENGINE HEADWAY_TRIGGER");
}

static void test_names_that_modules_set(void **state)
{
    (void)state;
    assert_int_equal(read_one("HEADWAY_ROOT=/opt/headway"), HW_OK);
    assert_int_equal(read_one("HEADWAY_VERSION=1.0"), HW_OK);
    assert_int_equal(lines_said(), 0);
    assert_refused("HEADWAY_ROOTS=/opt/headway", "Headway has no such option");
    assert_refused("HEADWAY_ROO=/opt/headway", "Headway has no such option");
}

static void test_load_from_process(void **state)
{
    (void)state;
    setenv("HEADWAY_LOG", "debug", 1);
    setenv("HEADWAY_TICK_US", "250", 1);
    assert_int_equal(hw_options_load(), HW_OK);
    assert_int_equal(hw_options.tick_us, 250);
    assert_int_equal(hw_log_level(), HW_LOG_DEBUG);
    setenv("HEADWAY_TICK_US", "fast", 1);
    capture_begin();
    assert_int_equal(hw_options_load(), HW_BAD_INPUT);
    capture_end();
    assert_memory_equal(&hw_options, &hw_options_default, sizeof hw_options);
    unsetenv("HEADWAY_LOG");
    unsetenv("HEADWAY_TICK_US");
    assert_int_equal(hw_options_load(), HW_OK);
}

/* Whatever is formatted reads back to the same value. */
static void test_round_trip(void **state)
{
    (void)state;
    static const char *const samples[] = {"HEADWAY_ENGINE=off", "HEADWAY_GAP_US=700", "HEADWAY_GAP_US=auto",
                                          "HEADWAY_VERBOSE=yes", "HEADWAY_EAGER_LIMIT=4096"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(read_one(samples[i]), HW_OK);
        for (size_t j = 0; j < hw_option_count; j++) {
            char text[HW_OPTION_TEXT_MAX];
            size_t length = strlen(hw_option_table[j].name);
            hw_option_format(&hw_option_table[j], &options, text, sizeof text);
            if (strncmp(samples[i], hw_option_table[j].name, length) == 0)
                assert_string_equal(text, samples[i] + length + 1);
        }
    }
}

static void test_print_names_every_option(void **state)
{
    (void)state;
    hw_log_set_rank(0);
    capture_begin();
    hw_options_print();
    capture_end();
    assert_int_equal(lines_said(), (int)hw_option_count);
    for (size_t i = 0; i < hw_option_count; i++)
        assert_non_null(strstr(said, hw_option_table[i].name));
}

/* ---- log -------------------------------------------------------------------------------------------------
 */

static void test_log_rank(void **state)
{
    (void)state;
    hw_log_set_rank(3);
    capture_begin();
    hw_log_error("the cause is %d; do this", 42);
    capture_end();
    assert_string_equal(said, "[headway rank 3] the cause is 42; do this\n");
    hw_log_set_rank(-1);
    capture_begin();
    hw_log_error("cause; advice");
    capture_end();
    assert_string_equal(said, "[headway] cause; advice\n");
}

static void test_log_levels(void **state)
{
    (void)state;
    static const int lines[] = {[HW_LOG_QUIET] = 0,
                                [HW_LOG_ERROR] = 2,
                                [HW_LOG_WARN] = 3,
                                [HW_LOG_INFO] = 4,
                                [HW_LOG_DEBUG] = 5}; /* on rank 0; a note counts from error on */
    for (int level = HW_LOG_QUIET; level <= HW_LOG_DEBUG; level++) {
        for (int rank = 0; rank < 2; rank++) {
            hw_log_set_level((enum hw_log_level)level);
            hw_log_set_rank(rank);
            capture_begin();
            hw_log_error("e");
            hw_log_warn("w");
            hw_log_note("n");
            hw_log_info("i");
            hw_log_debug("d");
            capture_end();
            int silent = rank == 0 || level == HW_LOG_DEBUG || level == HW_LOG_QUIET
                             ? 0
                             : 1 + (level == HW_LOG_INFO); /* the note, and info where it would show */
            assert_int_equal(lines_said(), lines[level] - silent);
        }
    }
    hw_log_set_level(HW_LOG_WARN);
}

static void test_log_is_one_line(void **state)
{
    (void)state;
    char text[3 * HW_LOG_LINE_MAX];
    memset(text, 'a', sizeof text);
    text[10] = '\n';
    text[sizeof text - 1] = '\0';
    capture_begin();
    hw_log_error("%s", text);
    capture_end();
    assert_int_equal(lines_said(), 1);
    assert_int_equal(strlen(said), HW_LOG_LINE_MAX - 1);
    assert_string_equal(said + strlen(said) - 4, "...\n");
}

static void test_log_once(void **state)
{
    (void)state;
    static atomic_flag flag = ATOMIC_FLAG_INIT;
    capture_begin();
    for (int i = 0; i < 3; i++)
        hw_log_once(&flag, HW_LOG_WARN, "only once");
    capture_end();
    assert_int_equal(lines_said(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_path_too_long),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_names_that_modules_set),
        cmocka_unit_test(test_load_from_process),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_print_names_every_option),
        cmocka_unit_test(test_log_rank),
        cmocka_unit_test(test_log_levels),
        cmocka_unit_test(test_log_is_one_line),
        cmocka_unit_test(test_log_once),
        cmocka_unit_test(test_fractions_and_seconds),
        cmocka_unit_test(test_thresholds_in_order),
    };
    return cmocka_run_group_tests_name("options and log", tests, NULL, NULL);
}
