/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <string.h>

uint64_t dice_next(struct dice *dice)
{
    dice->state ^= dice->state >> 12;
    dice->state ^= dice->state << 25;
    dice->state ^= dice->state >> 27;
    return dice->state * UINT64_C(2685821657736338717);
}

int dice_roll(struct dice *dice, int sides) { return (int)((dice_next(dice) >> 33) % (uint64_t)sides); }

static void slot_draw(struct slot_plan *slot, struct dice *dice, int member_count)
{
    slot->role = (enum role)dice_roll(dice, ROLE_COUNT);
    slot->call = (enum call)dice_roll(dice, CALL_COUNT);
    slot->owner = dice_roll(dice, member_count);
    slot->call_count = 1 + dice_roll(dice, CALLS_MAX);
    slot->type = dice_roll(dice, 3);
    slot->op = dice_roll(dice, 5);
    slot->is_strided = dice_roll(dice, 3) == 0;
    slot->is_request = dice_roll(dice, 3) == 0;
    slot->flush = dice_roll(dice, 6);
    slot->readers = dice_next(dice);
    if (slot->role == ROLE_OWNED && slot->call == CALL_PUT)
        slot->call_count = 1; /* two puts to one place are not ordered */
}

void plan_draw(struct plan *plan, uint64_t seed, int world_size)
{
    struct dice dice = {.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    static const int units[] = {1, 4, 8, SLOT_BYTES};
    memset(plan, 0, sizeof *plan);
    for (int i = 0; i < 8; i++)
        dice_next(&dice);
    for (int i = 0; i < WINDOWS; i++) {
        plan->windows[i].members = world_size > 2 ? dice_roll(&dice, 3) : dice_roll(&dice, 2);
        plan->windows[i].disp_unit = units[dice_roll(&dice, 4)];
        plan->windows[i].has_hints = dice_roll(&dice, 3) == 0;
        /* Intel MPI ends in operations on created windows with reordered processes, plain. */
        plan->windows[i].is_created = dice_roll(&dice, 2) == 0 && plan->windows[i].members != 1;
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct round_plan *round = &plan->rounds[i];
        round->window = dice_roll(&dice, WINDOWS);
        round->sync = (enum sync)dice_roll(&dice, SYNC_COUNT);
        int member_count = world_size - (plan->windows[round->window].members == 2);
        for (int target = 0; target < member_count; target++)
            for (int slot = 0; slot < SLOTS; slot++)
                slot_draw(&round->slots[target][slot], &dice, member_count);
        round->sets_info = dice_roll(&dice, 3) == 0;
    }
}
