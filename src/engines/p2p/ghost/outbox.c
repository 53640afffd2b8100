/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/outbox.h"

#include "ghost/give_up.h"

#include <stddef.h>
#include <stdlib.h>

static struct letter {
    struct letter *next;
    int place;
    struct hw_p2p_note note;
} * first, **last = &first;

void hw_p2p_outbox_put(int place, const struct hw_p2p_note *note)
{
    if (first == NULL && hw_p2p_wire_tell(place, note))
        return;
    struct letter *letter = malloc(sizeof *letter);
    if (letter == NULL)
        hw_ghost_give_up("has no memory for messages");
    *letter = (struct letter){.place = place, .note = *note};
    *last = letter;
    last = &letter->next;
}

bool hw_p2p_outbox_advance(void)
{
    bool has_done = false;
    for (struct letter *letter; (letter = first) != NULL && hw_p2p_wire_tell(letter->place, &letter->note);) {
        first = letter->next;
        if (first == NULL)
            last = &first;
        free(letter);
        has_done = true;
    }
    return has_done;
}

bool hw_p2p_outbox_is_empty(void) { return first == NULL; }

void hw_p2p_outbox_close(void)
{
    for (struct letter *letter; (letter = first) != NULL;) {
        first = letter->next;
        free(letter);
    }
    last = &first;
}
