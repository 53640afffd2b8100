/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the members of a window decide alike whether ghosts serve it, from what each of them told. */
#include "engines/rma/window/plan.h"

#include "base/options.h"
#include "fake_group.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Two user processes and a ghost on each of two nodes; ranks in hw_world.all. */
enum { USERS = 4, PROCESSES = 6, OWN = 1 };

static struct hw_world_process processes[PROCESSES] = {
    {.node = 0}, {.node = 0}, {.node = 0, .user_rank = -1},
    {.node = 1}, {.node = 1}, {.node = 1, .user_rank = -1}};
static int members[USERS];
static struct hw_rma_offer told[USERS];
static int asked; /* how often the members told one another */

static int allgather(const void *own, int bytes, MPI_Datatype type, void *all, int all_bytes,
                     MPI_Datatype all_type, MPI_Comm comm)
{
    (void)type, (void)all_type, (void)comm;
    assert_int_equal(bytes, sizeof told[0]);
    assert_int_equal(all_bytes, sizeof told[0]);
    told[OWN] = *(const struct hw_rma_offer *)own;
    memcpy(all, told, (size_t)fake_group.size * sizeof told[0]);
    asked++;
    return MPI_SUCCESS;
}

/* Each member has memory. */
static int allreduce(const void *own, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)op, (void)comm;
    assert_true(count == 1 && type == HW_INT);
    memcpy(all, own, sizeof(int));
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    static const int everybody[USERS] = {0, 1, 3, 4};
    (void)state;
    hw_real_pretend_loaded();
    hw_bottom.Allgather = allgather;
    hw_bottom.Allreduce = allreduce;
    hw_world.processes = processes;
    hw_world.node_count = 2;
    hw_world.user_count = USERS;
    hw_options.redirect = HW_OPTION_REDIRECT_ON;
    memcpy(members, everybody, sizeof members);
    fake_group_install(OWN, USERS, members);
    asked = 0;
    for (int i = 0; i < USERS; i++)
        told[i] = (struct hw_rma_offer){.consent = HW_RMA_WILLING, .place = 64, .range_bytes = 64};
    return 0;
}

static struct hw_rma_plan plan_of(int flavor)
{
    return (struct hw_rma_plan){
        .flavor = flavor, .is_dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC, .own = told[OWN]};
}

static enum hw_status agree(struct hw_rma_plan *plan)
{
    enum hw_status status = hw_rma_plan_judge(plan);
    if (status == HW_OK)
        status = hw_rma_plan_agree(plan);
    return status;
}

static void all_are_willing(void **state)
{
    (void)state;
    struct hw_rma_plan plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE);
    assert_int_equal(agree(&plan), HW_OK);
    assert_int_equal(plan.size, USERS);
    assert_int_equal(plan.rank, OWN);
    assert_true(plan.is_whole && plan.is_in_pieces);
    assert_memory_equal(plan.members, members, sizeof members);
    hw_rma_plan_end(&plan);
}

static void one_that_refuses_is_enough(void **state)
{
    (void)state;
    for (int consent = HW_RMA_REFUSED; consent <= HW_RMA_BESIDE; consent++)
        for (int who = 0; who < USERS; who++) {
            begin(NULL);
            told[who].consent = consent;
            struct hw_rma_plan plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE);
            assert_int_equal(agree(&plan), HW_DECLINED);
            assert_int_equal(asked, 1); /* who refuses tells so: the others wait for it */
            hw_rma_plan_end(&plan);
        }
}

static void memory_that_is_elsewhere_is_no_piece(void **state)
{
    (void)state;
    told[2].place = -1;
    struct hw_rma_plan plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE);
    assert_int_equal(agree(&plan), HW_OK);
    assert_false(plan.is_in_pieces);
    hw_rma_plan_end(&plan);
}

static void dynamic_windows_need_a_range(void **state)
{
    (void)state;
    struct hw_rma_plan plan = plan_of(MPI_WIN_FLAVOR_DYNAMIC);
    assert_int_equal(agree(&plan), HW_OK);
    hw_rma_plan_end(&plan);
    for (int i = 0; i < USERS; i++)
        told[i].range_bytes = 0;
    plan = plan_of(MPI_WIN_FLAVOR_DYNAMIC);
    assert_int_equal(agree(&plan), HW_DECLINED);
    hw_rma_plan_end(&plan);
}

/* What all know alike needs no message. */
static void strangers_are_no_members(void **state)
{
    (void)state;
    members[3] = HW_UNDEFINED;
    struct hw_rma_plan plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE);
    assert_int_equal(agree(&plan), HW_DECLINED);
    hw_rma_plan_end(&plan);
    begin(NULL);
    fake_group.is_inter = 1;
    plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE);
    assert_int_equal(agree(&plan), HW_DECLINED);
    hw_rma_plan_end(&plan);
    begin(NULL);
    hw_options.redirect = HW_OPTION_REDIRECT_OFF;
    plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE);
    assert_int_equal(agree(&plan), HW_DECLINED);
    hw_rma_plan_end(&plan);
    begin(NULL);
    plan = plan_of(MPI_WIN_FLAVOR_SHARED); /* over two nodes */
    assert_int_equal(agree(&plan), HW_DECLINED);
    hw_rma_plan_end(&plan);
    assert_int_equal(asked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_are_willing, begin),
        cmocka_unit_test_setup(one_that_refuses_is_enough, begin),
        cmocka_unit_test_setup(memory_that_is_elsewhere_is_no_piece, begin),
        cmocka_unit_test_setup(dynamic_windows_need_a_range, begin),
        cmocka_unit_test_setup(strangers_are_no_members, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
