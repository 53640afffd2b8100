/* The table of call sites: fixed in size, filled as calls come, never emptied. Everything here is under the
 * lock (lock.h) once the table is open. Internal to src/profile. */
#ifndef HW_PROFILE_SITES_H
#define HW_PROFILE_SITES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* name, what it sums up (the record's schema repeats the names). A door is a call that completes requests;
 * sampled doors are those around which the wire was looked at. */
#define HW_SITE_COUNTERS(X)                                                                                  \
    X(calls, "calls")                                                                                        \
    X(bytes, "bytes they were about; of a door, of the requests it completed")                               \
    X(call_ns, "time in them")                                                                               \
    X(max_ns, "the longest of them")                                                                         \
    X(completed, "of a post: of its requests, those completed; of a door: requests completed by it")         \
    X(computed_ns, "of a post: time outside MPI between it and the door; of a door: the longest of its own") \
    X(blocked_ns, "of a post: its share, by bytes, of the time in the doors that completed its requests")    \
    X(spun_ns,                                                                                               \
      "of a test: time in tests in vain, one right after the other, that end in one that completes")         \
    X(sampled, "doors around which the wire was looked at")                                                  \
    X(sampled_blocked_ns, "time in these")                                                                   \
    X(sampled_computed_ns, "time outside MPI between the look before these and them")                        \
    X(moved_computing, "bytes on the wire (the busier direction) meanwhile")                                 \
    X(moved_waiting,                                                                                         \
      "bytes on the wire (the busier direction of each moment) while the program was in them")               \
    X(moved_alone, "of these, bytes one direction moved after the other, which could have been at once")     \
    X(moved_in_steps, "likewise bytes of reductions to all, whose steps may have to wait for one another")   \
    X(copied, "bytes sent and received meanwhile")                                                           \
    X(usable_ns, "wire time of these that an idle wire could have taken while the program computed")         \
    X(unseen_ns, "time in doors around which it was looked at, but the bytes went elsewhere")                \
    X(watched, "doors in which it was looked at again and again")                                            \
    X(watched_lesser, "bytes in these of the direction that moved less")                                     \
    X(watched_alone, "of these, bytes that moved after the other direction instead of with it")

/* What every call adds to lies in one cache line. */
struct hw_profile_site {
    _Alignas(64) const void *address; /* as hw_callers_find gives it; NULL: free */
    const char *function;
    unsigned size_class; /* 0: no bytes; n: from 2^(n-1) bytes */
#define HW_SITE_FIELD(name, meaning) uint64_t name;
    HW_SITE_COUNTERS(HW_SITE_FIELD)
#undef HW_SITE_FIELD
};

/* Makes the table. False if there is no memory. */
bool hw_sites_open(void);

/* The entry of this key; when the table is full, one entry for all that came too late. */
struct hw_profile_site *hw_sites_find(const void *address, const char *function, uint64_t bytes);

/* One more call. */
void hw_sites_count(struct hw_profile_site *site, uint64_t bytes, uint64_t took_ns);

/* Writes the entries as elements of a JSON array. */
void hw_sites_write(FILE *file);

/* Position of an entry in what hw_sites_write writes is its position in the table; the table says which. */
unsigned hw_sites_index(const struct hw_profile_site *site);

#endif
