/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: whether the process may have memory of a device, by libraries that are loaded. */
#include "real/device_memory.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Loads a copy of cmocka's library under this name. */
static void load(const char *name)
{
    Dl_info cmocka;
    assert_int_not_equal(dladdr((void *)_assert_int_equal, &cmocka), 0);
    char folder[64], path[128], command[1024];
    snprintf(folder, sizeof folder, "/tmp/headway-test-%ld", (long)getpid());
    assert_int_equal(mkdir(folder, S_IRWXU), 0);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(command, sizeof command, "cp '%s' '%s'", cmocka.dli_fname, path);
    assert_int_equal(system(command), 0);
    assert_non_null(dlopen(path, RTLD_NOW | RTLD_LOCAL));
    unlink(path), rmdir(folder);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static void test_none_is_loaded(void **state)
{
    (void)state;
    assert_false(hw_real_has_device_memory());
    load("libcudart_not_it.so");
    assert_false(hw_real_has_device_memory());
}

/* As plugins of hwloc do it everywhere. */
static void test_loaded_without_a_device(void **state)
{
    (void)state;
    if (is_there("/dev/dri") || is_there("/dev/accel") || is_there("/dev/dxg") || is_there("/dev/kfd"))
        skip();
    load("libze_loader.so.1");
    assert_false(hw_real_has_device_memory());
    load("libamdhip64.so.5");
    assert_false(hw_real_has_device_memory());
}

static void test_loaded_with_its_driver(void **state)
{
    (void)state;
    load("libcuda.so.1");
    assert_true(hw_real_has_device_memory());
    assert_true(hw_real_has_device_memory());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_loaded),
        cmocka_unit_test(test_loaded_without_a_device),
        cmocka_unit_test(test_loaded_with_its_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
