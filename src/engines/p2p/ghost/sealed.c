/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/sealed.h"

#include "engines/p2p/ghost/outbox.h"
#include "engines/p2p/ghost/pairs.h"
#include "engines/p2p/ghost/pulls.h"
#include "engines/p2p/ghost/pushes.h"
#include "engines/p2p/ghost/rings.h"
#include "engines/p2p/ghost/unmatched.h"
#include "ghost/give_up.h"
#include "world/world.h"

#include <stdlib.h>

/* A question that waits until all is known that a sender has posted. */
static struct question {
    struct question *next;
    struct hw_p2p_user *user;
    uint64_t operation, number;
    struct hw_p2p_key key;
} * questions;

/* Messages that matched probes have taken, by name. */
static struct claim {
    struct claim *next;
    struct hw_p2p_offered *offered;
    uint64_t name;
} * claims;
static uint64_t last_number;

bool hw_p2p_sealed_ghost_open(void)
{
    return hw_p2p_rings_open() && hw_p2p_pairs_open() && hw_p2p_pulls_open() && hw_p2p_pushes_open();
}

void hw_p2p_sealed_ghost_close(void)
{
    for (struct claim *claim; (claim = claims) != NULL;) {
        claims = claim->next;
        free(claim->offered);
        free(claim);
    }
    for (struct question *question; (question = questions) != NULL;) {
        questions = question->next;
        free(question);
    }
    hw_p2p_unmatched_close();
    hw_p2p_pushes_close();
    hw_p2p_pulls_close();
    hw_p2p_pairs_close();
    hw_p2p_rings_close();
    hw_p2p_outbox_close();
}

static void *take_memory(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        hw_ghost_give_up("has no memory for messages");
    return memory;
}

/* ---- receives --------------------------------------------------------------------------------------------
 */

static struct hw_p2p_key key_of(const struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    return (struct hw_p2p_key){
        .comm = command->comm, .from = command->peer, .to = user->process, .tag = command->tag};
}

static struct hw_p2p_wanted *wanted_of(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct hw_p2p_wanted *wanted = take_memory(sizeof *wanted);
    *wanted = (struct hw_p2p_wanted){.link.key = key_of(user, command),
                                     .user = user,
                                     .operation = command->operation,
                                     .address = command->address,
                                     .bytes = command->bytes};
    return wanted;
}

static void receive(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct hw_p2p_wanted *wanted = wanted_of(user, command);
    struct hw_p2p_offered *offered = hw_p2p_pairs_want(wanted);
    if (offered == NULL)
        return;
    hw_p2p_rings_unclaimed(user, -1);
    hw_p2p_pulls_begin(offered, wanted);
}

static void cancel_receive(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct hw_p2p_key key = key_of(user, command);
    struct hw_p2p_wanted *wanted = hw_p2p_pairs_withdraw_want(&key, command->operation);
    const struct hw_p2p_end end = {.operation = command->operation, .flags = HW_P2P_END_CANCELLED};
    if (wanted)
        hw_p2p_rings_end(user, &end);
    free(wanted);
}

static void receive_claimed(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct claim **link = &claims, *claim;
    while ((claim = *link) != NULL && claim->name != command->before)
        link = &claim->next;
    if (claim == NULL)
        hw_ghost_give_up("was asked for a message that nobody has matched");
    *link = claim->next;
    hw_p2p_pulls_begin(claim->offered, wanted_of(user, command));
    free(claim);
}

/* ---- questions -------------------------------------------------------------------------------------------
 */

static void answer(struct hw_p2p_user *user, uint64_t operation, const struct hw_p2p_key *key)
{
    const struct hw_p2p_offered *offered = hw_p2p_pairs_look(key);
    struct hw_p2p_end end = {.operation = operation};
    if (offered) {
        end.flags = HW_P2P_END_FOUND;
        end.bytes = offered->bytes;
        end.before = offered->before;
    }
    hw_p2p_rings_end(user, &end);
}

static void look(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct hw_p2p_key key = key_of(user, command);
    if (command->bytes == 0 || hw_p2p_pairs_look(&key)) { /* what it finds is the first of them */
        answer(user, command->operation, &key);
        return;
    }
    struct question *question = take_memory(sizeof *question);
    *question = (struct question){.next = questions,
                                  .user = user,
                                  .operation = command->operation,
                                  .number = ++last_number,
                                  .key = key};
    questions = question;
    const struct hw_p2p_note note = {
        .kind = HW_P2P_NOTE_FLUSH, .from = key.from, .to = key.to, .number = question->number};
    hw_p2p_outbox_put(hw_world_ghost_place(key.from), &note);
}

static void flushed(const struct hw_p2p_note *note)
{
    struct question **link = &questions, *question;
    while ((question = *link) != NULL && question->number != note->number)
        link = &question->next;
    if (question == NULL)
        hw_ghost_give_up("was answered what it did not ask");
    *link = question->next;
    answer(question->user, question->operation, &question->key);
    free(question);
}

static void claim(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct hw_p2p_key key = key_of(user, command);
    const struct hw_p2p_offered *first = hw_p2p_pairs_look(&key);
    bool is_next = first && first->before <= command->bytes; /* no small one was sent before it */
    struct hw_p2p_offered *offered = is_next ? hw_p2p_pairs_claim(&key) : NULL;
    struct hw_p2p_end end = {.operation = command->operation};
    if (offered) {
        struct claim *made = take_memory(sizeof *made);
        *made = (struct claim){.next = claims, .offered = offered, .name = ++last_number};
        claims = made;
        end.flags = HW_P2P_END_FOUND;
        end.bytes = offered->bytes;
        end.before = made->name;
        hw_p2p_rings_unclaimed(user, -1);
    }
    hw_p2p_rings_end(user, &end);
}

/* ---- commands and notes ----------------------------------------------------------------------------------
 */

static void obey(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    if (command->peer < 0 || command->peer >= hw_world.size)
        hw_ghost_give_up("was told to send a message to nobody");
    switch ((enum hw_p2p_command_kind)command->kind) {
    case HW_P2P_SEND:
        hw_p2p_pushes_offer(user, command);
        break;
    case HW_P2P_RECEIVE:
        receive(user, command);
        break;
    case HW_P2P_CANCEL_SEND:
        hw_p2p_pushes_cancel(user, command);
        break;
    case HW_P2P_CANCEL_RECEIVE:
        cancel_receive(user, command);
        break;
    case HW_P2P_LOOK:
        look(user, command);
        break;
    case HW_P2P_CLAIM:
        claim(user, command);
        break;
    case HW_P2P_CLAIMED:
        receive_claimed(user, command);
        break;
    case HW_P2P_SEALED:
        hw_p2p_unmatched_seal(user, command);
        break;
    case HW_P2P_UNSEALED:
        hw_p2p_unmatched_unseal(user, command);
        break;
    }
}

static bool obey_all(struct hw_p2p_user *user)
{
    struct hw_p2p_command command;
    bool has_done = false;
    while (hw_p2p_rings_next(user, &command)) {
        obey(user, &command);
        has_done = true;
    }
    return has_done;
}

static struct hw_p2p_user *user_of(int process)
{
    struct hw_p2p_user *user = hw_p2p_user_of(process);
    if (user == NULL)
        hw_ghost_give_up("was told of a process that it does not serve");
    return user;
}

static void heard_offer(int place, const struct hw_p2p_note *note)
{
    struct hw_p2p_user *user = user_of(note->to);
    struct hw_p2p_offered *offered = take_memory(sizeof *offered);
    *offered = (struct hw_p2p_offered){
        .link.key = {.comm = note->comm, .from = note->from, .to = note->to, .tag = note->tag},
        .place = place,
        .number = note->number,
        .bytes = note->bytes,
        .before = note->before};
    struct hw_p2p_wanted *wanted = hw_p2p_pairs_offer(offered);
    if (wanted)
        hw_p2p_pulls_begin(offered, wanted);
    else
        hw_p2p_rings_unclaimed(user, 1);
}

static void heard_cancel(int place, const struct hw_p2p_note *note)
{
    const struct hw_p2p_key key = {.comm = note->comm, .from = note->from, .to = note->to, .tag = note->tag};
    struct hw_p2p_offered *offered = hw_p2p_pairs_withdraw_offer(&key, place, note->number);
    const struct hw_p2p_note reply = {
        .kind = HW_P2P_NOTE_CANCELLED, .from = note->from, .to = note->to, .number = note->number};
    if (offered == NULL)
        return;
    hw_p2p_rings_unclaimed(user_of(note->to), -1);
    hw_p2p_outbox_put(place, &reply);
    free(offered);
}

static void heard_flush(int place, const struct hw_p2p_note *note)
{
    const struct hw_p2p_note reply = {
        .kind = HW_P2P_NOTE_FLUSHED, .from = note->from, .to = note->to, .number = note->number};
    obey_all(user_of(note->from));
    hw_p2p_outbox_put(place, &reply);
}

void hw_p2p_sealed_heard(int place, const struct hw_p2p_note *note)
{
    switch (note->kind) {
    case HW_P2P_NOTE_SEALED:
        heard_offer(place, note);
        break;
    case HW_P2P_NOTE_PULL:
        hw_p2p_pushes_pulled(note);
        break;
    case HW_P2P_NOTE_CANCEL:
        heard_cancel(place, note);
        break;
    case HW_P2P_NOTE_CANCELLED:
        hw_p2p_pushes_cancelled(note);
        break;
    case HW_P2P_NOTE_FLUSH:
        heard_flush(place, note);
        break;
    case HW_P2P_NOTE_FLUSHED:
        flushed(note);
        break;
    default:
        break;
    }
}

bool hw_p2p_sealed_advance(void)
{
    bool has_done = hw_p2p_outbox_advance();
    for (int i = 0; i < hw_p2p_user_count(); i++)
        has_done = obey_all(hw_p2p_user_at(i)) || has_done;
    hw_p2p_unmatched_look();
    has_done = hw_p2p_pushes_advance() || has_done;
    has_done = hw_p2p_pulls_advance() || has_done;
    return hw_p2p_rings_advance() || has_done;
}

bool hw_p2p_sealed_is_idle(void)
{
    for (int i = 0; i < hw_p2p_user_count(); i++)
        obey_all(hw_p2p_user_at(i));
    return hw_p2p_outbox_is_empty() && hw_p2p_pushes_are_idle() && hw_p2p_pulls_are_idle();
}
