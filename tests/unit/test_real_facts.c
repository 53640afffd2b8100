/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is known of an MPI: its eager limit, what may be done with its types, who applies its
 * accumulates. */
#include "real/basic_type.h"
#include "real/eager.h"
#include "real/op.h"
#include "real/software_rma.h"
#include "real/table.h"
#include "real/type_size.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *version; /* of the MPI, as it tells it */
static const char *known;   /* the control variable that it has */
static int value_of_known, count_of_known;
static bool has_tools;

static int get_version(char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "%s", version);
    return MPI_SUCCESS;
}

static int t_init(int wanted, int *provided)
{
    *provided = wanted;
    return has_tools ? MPI_SUCCESS : MPI_T_ERR_CANNOT_INIT;
}

/* MPICH forgets what it needs for its collectives. */
static int t_finalize(void)
{
    fail();
    return MPI_SUCCESS;
}

static int get_index(const char *name, int *index)
{
    *index = 7;
    return known && strcmp(name, known) == 0 ? MPI_SUCCESS : MPI_T_ERR_INVALID_NAME;
}

static int get_info(int index, char *name, int *name_length, int *verbosity, MPI_Datatype *type,
                    MPI_T_enum *enumeration, char *text, int *text_length, int *binding, int *scope)
{
    (void)name, (void)name_length, (void)verbosity, (void)enumeration, (void)text, (void)text_length;
    (void)binding, (void)scope;
    assert_int_equal(index, 7);
    *type = MPI_INT;
    return MPI_SUCCESS;
}

static int handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    (void)index, (void)object;
    *handle = MPI_T_CVAR_HANDLE_NULL;
    *count = count_of_known;
    return MPI_SUCCESS;
}

static int handle_free(MPI_T_cvar_handle *handle)
{
    (void)handle;
    return MPI_SUCCESS;
}

static int read_value(MPI_T_cvar_handle handle, void *value)
{
    (void)handle;
    *(int *)value = value_of_known;
    return MPI_SUCCESS;
}

static int type_size_calls;
static MPI_Count size_of_derived;

static int type_size(MPI_Datatype type, MPI_Count *size)
{
    type_size_calls++;
    *size = type == MPI_INT ? (MPI_Count)sizeof(int) : size_of_derived;
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    hw_real_pretend_loaded();
    hw_bottom.Get_library_version = get_version;
    hw_bottom.T_init_thread = t_init;
    hw_bottom.T_finalize = t_finalize;
    hw_bottom.T_cvar_get_index = get_index;
    hw_bottom.T_cvar_get_info = get_info;
    hw_bottom.T_cvar_handle_alloc = handle_alloc;
    hw_bottom.T_cvar_handle_free = handle_free;
    hw_bottom.T_cvar_read = read_value;
    hw_bottom.Type_size_x = type_size;
    size_of_derived = 24;
    has_tools = true;
    known = NULL;
    count_of_known = 1;
    value_of_known = 4096;
    return 0;
}

static void the_eager_limit_is_asked_of_the_mpi(void **state)
{
    (void)state;
    has_tools = false;
    assert_int_equal(hw_real_eager_limit(), 0);
    has_tools = true;
    assert_int_equal(hw_real_eager_limit(), 0);
    known = "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE"; /* the last that is asked for */
    assert_int_equal(hw_real_eager_limit(), 4096);
    value_of_known = -1; /* the MPI chooses by itself */
    assert_int_equal(hw_real_eager_limit(), 0);
    value_of_known = 4096;
    count_of_known = 2; /* no single number */
    assert_int_equal(hw_real_eager_limit(), 0);
    assert_false(hw_real_directions_alternate());
}

static void types_have_their_operations(void **state)
{
    (void)state;
    const unsigned bits = HW_REAL_BITWISE, order = HW_REAL_ORDER, add = HW_REAL_ADD;
    assert_int_equal(hw_real_type_operations(MPI_DOUBLE) & (bits | order | add), order | add);
    assert_int_equal(hw_real_type_operations(MPI_UINT16_T) & (bits | order | add), bits | order | add);
    assert_int_equal(hw_real_type_operations(MPI_C_DOUBLE_COMPLEX) & (bits | order | add), add);
    assert_int_equal(hw_real_type_operations(MPI_CHAR) & (bits | order | add), 0);
    assert_true(hw_real_type_operations(MPI_CHAR) & HW_REAL_REPLACE);
    assert_int_equal(hw_real_type_operations(MPI_DOUBLE_INT), 0);
    const struct {
        MPI_Op op;
        unsigned operation;
    } ops[] = {{MPI_SUM, HW_REAL_ADD},
               {MPI_PROD, HW_REAL_ADD},
               {MPI_REPLACE, HW_REAL_REPLACE},
               {MPI_NO_OP, HW_REAL_READ},
               {MPI_MIN, HW_REAL_ORDER},
               {MPI_BXOR, HW_REAL_BITWISE},
               {MPI_LOR, HW_REAL_LOGICAL},
               {MPI_LAND, HW_REAL_LOGICAL},
               {MPI_BAND, HW_REAL_BITWISE},
               {MPI_MAX, HW_REAL_ORDER},
               {MPI_BOR, HW_REAL_BITWISE},
               {MPI_LXOR, HW_REAL_LOGICAL},
               {MPI_MAXLOC, 0},
               {MPI_OP_NULL, 0}};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        assert_int_equal(hw_real_op_operation(ops[i].op), ops[i].operation);
    assert_true(hw_real_op_is_predefined(MPI_MAXLOC));
    assert_false(hw_real_op_is_predefined(MPI_OP_NULL));
}

/* A basic one without a call. */
static void types_have_their_sizes(void **state)
{
    (void)state;
    hw_bottom.Type_size_x = NULL;
    assert_int_equal(hw_real_type_size(MPI_DOUBLE), sizeof(double));
    assert_int_equal(hw_real_type_size(MPI_BYTE), 1);
    hw_bottom.Type_size_x = type_size;
    assert_int_equal(hw_real_type_size(MPI_DATATYPE_NULL + 1), 24);
}

/* The n-th handle of derived datatypes, as far apart as handles are. */
static MPI_Datatype derived(int n)
{
    return (MPI_Datatype)((uintptr_t)0x8c000000 + 16 * (uintptr_t)n); /* NOLINT(performance-no-int-to-ptr) */
}

/* Until they are freed, or another handle has their place. */
static void sizes_of_derived_types_are_kept(void **state)
{
    (void)state;
    enum { TYPES = 3 * HW_REAL_TYPE_PLACES };
    uint64_t size;
    type_size_calls = 0;
    assert_false(hw_real_type_is_kept(derived(1), &size));
    for (int i = 0; i < 3; i++)
        assert_int_equal(hw_real_type_size_keep(derived(1)), 24);
    assert_int_equal(type_size_calls, 1);
    assert_true(hw_real_type_is_kept(derived(1), &size));
    assert_int_equal(size, 24);
    hw_real_type_forget(derived(2));
    assert_true(hw_real_type_is_kept(derived(1), &size));
    hw_real_type_forget(derived(1));
    assert_false(hw_real_type_is_kept(derived(1), &size));
    size_of_derived = 40; /* the handle is another type's */
    assert_int_equal(hw_real_type_size_keep(derived(1)), 40);
    size_of_derived = 1 << HW_REAL_TYPE_SIZE_BITS; /* too large for its place */
    assert_int_equal(hw_real_type_size_keep(derived(2)), 1 << HW_REAL_TYPE_SIZE_BITS);
    assert_false(hw_real_type_is_kept(derived(2), &size));
    size_of_derived = 8;
    for (int i = 10; i < TYPES; i++) {
        assert_int_equal(hw_real_type_size_keep(derived(i)), 8);
        assert_true(hw_real_type_is_kept(derived(i), &size));
        if (hw_real_type_is_kept(derived(1), &size))
            assert_int_equal(size, 40); /* its own, or none */
    }
}

static void accumulates_are_in_calls_of_known_mpis(void **state)
{
    (void)state;
    const struct {
        const char *version;
        bool is_known;
    } told[] = {{"MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx\n", true},
                {"MPICH Version:      5.0.2\nMPICH Device:       ch4:ofi", true},
                {"MPICH Version:\t3.3\nMPICH Device:\tch3:nemesis\n", false},
                {"MPICH Version:\t4.0\n", false},
                {"Intel(R) MPI Library 2021.18 for Linux* OS", true},
                {"Intel(R) MPI Library 5.1", false},
                {"Open MPI v5.0", false}};
    if (hw_real_has_device())
        skip(); /* a terminal of another kind, a GPU: whoever runs the test has it open */
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        version = told[i].version;
        assert_int_equal(hw_real_is_accumulate_in_calls(), told[i].is_known);
    }
    version = told[0].version;
    setenv("MPICH_ASYNC_PROGRESS", "1", 1);
    assert_false(hw_real_is_accumulate_in_calls());
    setenv("MPICH_ASYNC_PROGRESS", "No", 1);
    assert_true(hw_real_is_accumulate_in_calls());
    setenv("FI_PROVIDER", "tcp,sockets", 1);
    assert_false(hw_real_is_accumulate_in_calls());
    unsetenv("FI_PROVIDER");
    unsetenv("MPICH_ASYNC_PROGRESS");
}

static atomic_bool is_freed;

static void *free_one(void *unused)
{
    hw_real_type_forget(derived(5));
    hw_atomic_store_seq_cst(&is_freed, true);
    return unused;
}

/* Whoever asks about a handle after a call that waited, and whoever frees one. */
static void no_datatype_is_freed_while_held(void **state)
{
    (void)state;
    enum { CHANCES = 1000 };
    pthread_t thread;
    unsigned frees = hw_atomic_load_acquire(&hw_real_type_frees);
    assert_true(hw_real_type_hold(frees));
    assert_int_equal(pthread_create(&thread, NULL, free_one, NULL), 0);
    while (hw_atomic_load_acquire(&hw_real_type_frees) == frees)
        sched_yield();
    for (int i = 0; i < CHANCES; i++)
        sched_yield();
    assert_false(hw_atomic_load_seq_cst(&is_freed));
    hw_real_type_let_go();
    pthread_join(thread, NULL);
    assert_true(hw_atomic_load_seq_cst(&is_freed));
    assert_false(hw_real_type_hold(frees)); /* its handle may be no more */
    assert_true(hw_real_type_hold(frees + 1));
    hw_real_type_let_go();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_eager_limit_is_asked_of_the_mpi, begin),
        cmocka_unit_test_setup(types_have_their_operations, begin),
        cmocka_unit_test_setup(types_have_their_sizes, begin),
        cmocka_unit_test_setup(sizes_of_derived_types_are_kept, begin),
        cmocka_unit_test_setup(no_datatype_is_freed_while_held, begin),
        cmocka_unit_test_setup(accumulates_are_in_calls_of_known_mpis, begin),
    };
    return cmocka_run_group_tests_name("real_facts", tests, NULL, NULL);
}
