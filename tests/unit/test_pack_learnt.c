/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is learnt of packing is kept by kind, direction and size, and messages go by what it
 * says. */
#include "base/clock.h"
#include "base/options.h"
#include "engines/pack/learnt.h"
#include "engines/pack/worth.h"
#include "profile/record/counters.h"
#include "real/table.h"
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 4096, USES = 8, MANY = 1000 };

static char memory[SIZE];

/* Each test has kinds of its own: what is learnt stays. */
static struct hw_plan plan_of(uint64_t kind)
{
    struct hw_plan plan = {.size = SIZE, .is_disjoint = true, .extent = 2 * SIZE, .kind = kind};
    plan.shape.size = SIZE;
    plan.shape.blocks = 7;
    atomic_init(&plan.state, HW_PLAN_USABLE);
    return plan;
}

static struct hw_pack_given given_of(enum hw_shape_direction direction)
{
    return (struct hw_pack_given){direction, (uintptr_t)memory, 1, MPI_BYTE};
}

static bool judge(struct hw_plan *plan, enum hw_shape_direction direction, struct hw_pack_verdict *verdict)
{
    struct hw_pack_given given = given_of(direction);
    return hw_pack_message_judge(&given, plan, HW_PACK_ONCE, verdict);
}

static int begin(void **state)
{
    (void)state;
    hw_real_pretend_loaded();
    hw_options = hw_options_default;
    hw_pack_message_only_measures = false;
    return 0;
}

static void classes_are_of_kind_direction_and_size(void **state)
{
    (void)state;
    struct hw_plan one = plan_of(1), same = plan_of(1), other = plan_of(2);
    struct hw_pack_class *of = hw_pack_class_find(&one, HW_SHAPE_PACK, SIZE);
    assert_non_null(of);
    assert_ptr_equal(hw_pack_class_find(&same, HW_SHAPE_PACK, 2 * SIZE - 1), of);
    assert_ptr_not_equal(hw_pack_class_find(&same, HW_SHAPE_PACK, 2 * SIZE), of);
    assert_ptr_not_equal(hw_pack_class_find(&same, HW_SHAPE_UNPACK, SIZE), of);
    assert_ptr_not_equal(hw_pack_class_find(&other, HW_SHAPE_PACK, SIZE), of);
    int64_t huge = INT64_C(1) << 40;
    assert_ptr_equal(hw_pack_class_find(&one, HW_SHAPE_PACK, huge),
                     hw_pack_class_find(&one, HW_SHAPE_PACK, 2 * huge));
    assert_int_equal(of->tried.type_extent, 2 * SIZE);
}

static void one_at_a_time_learns(void **state)
{
    (void)state;
    struct hw_plan plan = plan_of(10);
    struct hw_pack_class *of = hw_pack_class_find(&plan, HW_SHAPE_PACK, SIZE);
    enum hw_choice_way way;
    assert_true(hw_pack_class_take(of, &way));
    assert_false(hw_pack_class_take(of, &way));
    hw_pack_class_learn(of, way, 10);
    for (int i = 0; i < MANY && !of->choice.is_settled; i++) {
        assert_true(hw_pack_class_take(of, &way));
        hw_pack_class_learn(of, way, way == HW_CHOICE_OURS ? 1000 : 9000);
    }
    assert_true(of->choice.is_settled);
    assert_int_equal(atomic_load(&of->way), HW_CHOICE_OURS);
    hw_pack_class_count(of, SIZE);
    hw_pack_class_count(of, SIZE);
    struct hw_record_facts facts = {0};
    hw_pack_learnt_describe(&facts);
    assert_int_equal(atomic_load(&hw_counters.packed_calls), 2);
    assert_int_equal(atomic_load(&hw_counters.packed_bytes), 2 * SIZE);
    assert_non_null(facts.packing.write);
    char *text = written_by(facts.packing.write);
    assert_non_null(strstr(text, "\"MPI_Pack\""));
    assert_non_null(strstr(text, "\"Headway\""));
    assert_null(strstr(text, "MPI_Unpack"));
    free(text);
}

static void too_many_kinds_are_not_learnt(void **state)
{
    (void)state;
    bool is_full = false;
    for (uint64_t i = 0; i < MANY && !is_full; i++) {
        struct hw_plan plan = plan_of(1000 + i);
        is_full = hw_pack_class_find(&plan, HW_SHAPE_PACK, SIZE) == NULL;
        assert_non_null(atomic_load(&plan.learnt)); /* nobody looks for it again */
        assert_true(is_full == (hw_pack_class_find(&plan, HW_SHAPE_UNPACK, SIZE) == NULL));
    }
    assert_true(is_full);
}

static void an_option_packs_all(void **state)
{
    (void)state;
    struct hw_plan plan = plan_of(20);
    struct hw_pack_verdict verdict;
    hw_options.pack = HW_OPTION_PACK_ON;
    assert_false(judge(&plan, HW_SHAPE_PACK, &verdict));
    hw_options.pack_messages = HW_OPTION_PACK_MESSAGES_YES;
    assert_true(judge(&plan, HW_SHAPE_PACK, &verdict));
    assert_true(verdict.is_packed);
    assert_int_equal(verdict.bytes, SIZE);
    plan.is_disjoint = false; /* a byte twice: nothing may be received into it */
    assert_false(judge(&plan, HW_SHAPE_UNPACK, &verdict));
    hw_pack_message_only_measures = true;
    assert_false(judge(&plan, HW_SHAPE_PACK, &verdict));
    struct hw_pack_given nowhere = {HW_SHAPE_PACK, 0, 1, MPI_BYTE};
    hw_pack_message_only_measures = false;
    assert_false(hw_pack_message_judge(&nowhere, &plan, HW_PACK_ONCE, &verdict));
    struct hw_pack_given too_many = {HW_SHAPE_PACK, (uintptr_t)memory, INT64_MAX / 2, MPI_BYTE};
    assert_false(hw_pack_message_judge(&too_many, &plan, HW_PACK_ONCE, &verdict));
    atomic_store(&plan.state, HW_PLAN_NONE);
    assert_false(judge(&plan, HW_SHAPE_PACK, &verdict));
}

/* What is received is looked at after it has come, and after many looks that brought nothing never again. */
static void rare_messages_are_left_alone(void **state)
{
    (void)state;
    struct hw_plan plan = plan_of(30);
    struct hw_pack_given given = given_of(HW_SHAPE_UNPACK);
    struct hw_pack_verdict verdict;
    for (int i = 0; i < USES; i++)
        assert_false(judge(&plan, HW_SHAPE_UNPACK, &verdict));
    assert_false(hw_pack_message_judge(&given, &plan, HW_PACK_AGAIN, &verdict)); /* persistent */
    uint64_t trials = atomic_load(&hw_counters.packed_message_trials);
    assert_true(judge(&plan, HW_SHAPE_UNPACK, &verdict));
    assert_int_equal(verdict.look.kind, HW_PACK_LOOK_TRY);
    assert_false(verdict.is_packed);
    hw_pack_look_end(&verdict.look, &given, &plan, NULL);
    assert_int_equal(verdict.look.kind, HW_PACK_LOOK_NOT);
    assert_int_equal(atomic_load(&hw_counters.packed_message_trials), trials + 1);
    int looks = 1;
    while (looks < MANY && judge(&plan, HW_SHAPE_UNPACK, &verdict))
        looks++;
    assert_in_range(looks, 2, 4 * USES);
    struct hw_pack_class *of = hw_pack_class_find(&plan, HW_SHAPE_UNPACK, SIZE);
    assert_int_equal(atomic_load(&of->messages.way), HW_PACK_MESSAGE_MPI);
}

/* A receive that is looked at takes a copy of its datatype, so those that never bring enough are not, in the
 * end. */
static void what_brings_too_little_is_looked_at_seldom(void **state)
{
    (void)state;
    struct hw_plan plan = plan_of(50);
    struct hw_pack_given given = given_of(HW_SHAPE_UNPACK);
    struct hw_pack_verdict verdict;
    int looks = 0;
    atomic_store(&plan.state, HW_PLAN_SEEN);
    for (int i = 0; i < MANY; i++)
        if (judge(&plan, HW_SHAPE_UNPACK, &verdict)) {
            assert_int_equal(verdict.look.kind, HW_PACK_LOOK_TRY);
            hw_pack_look_end(&verdict.look, &given, &plan, NULL); /* which tells nothing */
            looks++;
        }
    assert_in_range(looks, USES, 6 * USES);
    assert_int_equal(hw_plan_state(&plan), HW_PLAN_SEEN);
}

/* Both ways in turn, one message at a time; others go as the one that is looked at. */
static void what_a_trial_found_is_confirmed(void **state)
{
    (void)state;
    struct hw_plan plan = plan_of(40);
    struct hw_pack_given given = given_of(HW_SHAPE_PACK);
    struct hw_pack_class *of = hw_pack_class_find(&plan, HW_SHAPE_PACK, SIZE);
    struct hw_pack_verdict verdict, meanwhile;
    atomic_store(&of->messages.way, HW_PACK_MESSAGE_TRIED);
    bool has[HW_CHOICE_WAYS] = {false};
    int looks = 0;
    for (; looks < MANY && atomic_load(&of->messages.way) == HW_PACK_MESSAGE_TRIED; looks++) {
        assert_true(judge(&plan, HW_SHAPE_PACK, &verdict));
        assert_int_equal(verdict.look.kind, HW_PACK_LOOK_TIME);
        has[verdict.look.way] = true;
        assert_true(judge(&plan, HW_SHAPE_PACK, &meanwhile) == verdict.is_packed);
        assert_int_equal(meanwhile.look.kind, HW_PACK_LOOK_NOT);
        if (looks == 0) {
            hw_pack_look_drop(&verdict.look);
            continue;
        }
        verdict.look.began_ns -= verdict.look.way == HW_CHOICE_OURS ? 0 : HW_NS_PER_S; /* ours is shorter */
        hw_pack_look_end(&verdict.look, &given, &plan, NULL);
    }
    assert_true(has[HW_CHOICE_MPI] && has[HW_CHOICE_OURS]);
    assert_in_range(looks, 3, MANY - 1);
    assert_int_equal(atomic_load(&of->messages.way), HW_PACK_MESSAGE_OURS);
    assert_true(judge(&plan, HW_SHAPE_PACK, &verdict));
    assert_true(verdict.is_packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(classes_are_of_kind_direction_and_size, begin),
        cmocka_unit_test_setup(one_at_a_time_learns, begin),
        cmocka_unit_test_setup(an_option_packs_all, begin),
        cmocka_unit_test_setup(rare_messages_are_left_alone, begin),
        cmocka_unit_test_setup(what_brings_too_little_is_looked_at_seldom, begin),
        cmocka_unit_test_setup(what_a_trial_found_is_confirmed, begin),
        cmocka_unit_test_setup(too_many_kinds_are_not_learnt, begin),
    };
    return cmocka_run_group_tests_name("pack_learnt", tests, NULL, NULL);
}
