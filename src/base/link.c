/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/link.h"

#include <dirent.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATH_BYTES = 128, WORD_BYTES = 32, ANSWER_BYTES = 32 * 1024, MOST_ANSWERS = 1024 };
enum { BITS = 8, MEGA = 1000000 };

/* The queueing disciplines at the root of one interface. */
struct roots {
    unsigned interface;
    int count;
    uint64_t bytes_per_s; /* of a token bucket; 0: it is none */
};

static bool has_attribute(const char *interface, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/sys/class/net/%s/%s", interface, name);
    return access(path, F_OK) == 0;
}

/* "" if it is not there. */
static void read_attribute(const char *interface, const char *name, char word[WORD_BYTES])
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/sys/class/net/%s/%s", interface, name);
    word[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(word, WORD_BYTES, file) == NULL)
        word[0] = '\0';
    fclose(file);
    word[strcspn(word, "\n")] = '\0';
}

/* A bridge, a VLAN, a bond: what it stands on tells. */
static bool stands_on_others(const char *interface)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/sys/class/net/%s", interface);
    DIR *directory = opendir(path);
    bool result = false;
    if (directory == NULL)
        return false;
    for (struct dirent *entry; !result && (entry = readdir(directory));)
        result = strncmp(entry->d_name, "lower_", strlen("lower_")) == 0;
    closedir(directory);
    return result;
}

static uint64_t bucket_bytes_per_s(const struct rtattr *options)
{
    uint64_t rate = 0;
    int left = (int)RTA_PAYLOAD(options);
    for (struct rtattr *one = RTA_DATA(options); RTA_OK(one, left); one = RTA_NEXT(one, left)) {
        struct tc_tbf_qopt parameters;
        if (one->rta_type == TCA_TBF_PARMS && RTA_PAYLOAD(one) >= sizeof parameters && rate == 0) {
            memcpy(&parameters, RTA_DATA(one), sizeof parameters);
            rate = parameters.rate.rate;
        } else if (one->rta_type == TCA_TBF_RATE64 && RTA_PAYLOAD(one) >= sizeof rate) {
            memcpy(&rate, RTA_DATA(one), sizeof rate);
        }
    }
    return rate;
}

static void add_root(struct roots *roots, const struct nlmsghdr *message)
{
    const struct tcmsg *what = NLMSG_DATA(message);
    if (message->nlmsg_type != RTM_NEWQDISC || (unsigned)what->tcm_ifindex != roots->interface ||
        what->tcm_parent != TC_H_ROOT)
        return;
    const struct rtattr *options = NULL;
    bool is_bucket = false;
    int left = (int)(message->nlmsg_len - NLMSG_LENGTH(sizeof *what));
    for (struct rtattr *one = TCA_RTA(what); RTA_OK(one, left); one = RTA_NEXT(one, left)) {
        if (one->rta_type == TCA_KIND)
            is_bucket = strncmp(RTA_DATA(one), "tbf", RTA_PAYLOAD(one)) == 0;
        else if (one->rta_type == TCA_OPTIONS)
            options = one;
    }
    roots->count++;
    roots->bytes_per_s = is_bucket && options ? bucket_bytes_per_s(options) : 0;
}

/* Adds what one datagram tells. False after the last one. */
static bool add_answer(struct roots *roots, const char *answer, int length)
{
    const struct nlmsghdr *message = (const struct nlmsghdr *)answer;
    for (; NLMSG_OK(message, (unsigned)length); message = NLMSG_NEXT(message, length)) {
        if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
            return false;
        add_root(roots, message);
    }
    return true;
}

static void ask_roots(int socket_fd, struct roots *roots)
{
    struct {
        struct nlmsghdr head;
        struct tcmsg what;
    } question = {.head = {.nlmsg_len = NLMSG_LENGTH(sizeof question.what),
                           .nlmsg_type = RTM_GETQDISC,
                           .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
                  .what = {.tcm_family = AF_UNSPEC, .tcm_ifindex = (int)roots->interface}};
    _Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
    const struct timeval patience = {.tv_sec = 1};
    setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (send(socket_fd, &question, question.head.nlmsg_len, 0) < 0)
        return;
    for (int i = 0; i < MOST_ANSWERS; i++) {
        ssize_t length = recv(socket_fd, answer, sizeof answer, 0);
        if (length <= 0 || !add_answer(roots, answer, (int)length))
            return;
    }
}

static uint64_t limit_bits_per_s(unsigned interface)
{
    struct roots roots = {.interface = interface};
    int socket_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (socket_fd < 0)
        return 0;
    ask_roots(socket_fd, &roots);
    close(socket_fd);
    return roots.count == 1 ? BITS * roots.bytes_per_s : 0;
}

/* *is_one: it is a link of its own, and up. */
static uint64_t interface_bits_per_s(const struct if_nameindex *interface, bool *is_one)
{
    char word[WORD_BYTES];
    read_attribute(interface->if_name, "operstate", word);
    *is_one = strcmp(interface->if_name, "lo") != 0 && (!strcmp(word, "up") || !strcmp(word, "unknown"));
    if (!*is_one)
        return 0;
    if (has_attribute(interface->if_name, "device")) {
        read_attribute(interface->if_name, "speed", word);
        long speed = strtol(word, NULL, 10);
        return speed > 0 ? (uint64_t)speed * MEGA : 0;
    }
    *is_one = !stands_on_others(interface->if_name);
    return *is_one ? limit_bits_per_s(interface->if_index) : 0;
}

uint64_t hw_link_bits_per_s(void)
{
    uint64_t most = 0;
    bool do_all_tell = true;
    struct if_nameindex *interfaces = if_nameindex();
    if (interfaces == NULL)
        return 0;
    for (struct if_nameindex *one = interfaces; do_all_tell && one->if_index != 0; one++) {
        bool is_one;
        uint64_t rate = interface_bits_per_s(one, &is_one);
        do_all_tell = !is_one || rate > 0;
        most = rate > most ? rate : most;
    }
    if_freenameindex(interfaces);
    return do_all_tell ? most : 0;
}
