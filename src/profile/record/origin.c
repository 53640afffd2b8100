/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/record/origin.h"

#include "base/clock.h"
#include "base/visibility.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_BYTES = 4096 };

HW_SPARSE static char command[COMMAND_BYTES];
static uint64_t began_ns, entered_ns;
static double started_s; /* since 1970 */

/* What is written of a command line, as far as there is room. */
struct quoted {
    char *text;
    size_t length, capacity;
};

static void put(struct quoted *out, const char *piece)
{
    for (; *piece != '\0'; piece++) {
        if (out->length < out->capacity)
            out->text[out->length] = *piece;
        out->length++;
    }
}

static bool is_plain(const char *word)
{
    for (const char *c = word; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("@%+=:,./_-", *c))
            return false;
    }
    return *word != '\0';
}

static void put_word(struct quoted *out, const char *word)
{
    if (is_plain(word)) {
        put(out, word);
        return;
    }
    put(out, "'");
    for (; *word != '\0'; word++)
        put(out, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    put(out, "'");
}

void hw_origin_quote(const char *words, size_t length, char *text, size_t capacity)
{
    struct quoted out = {text, 0, capacity};
    for (const char *word = words; word < words + length; word += strlen(word) + 1) {
        if (word != words)
            put(&out, " ");
        put_word(&out, word);
    }
    if (out.length < capacity)
        text[out.length] = '\0';
    else
        memcpy(text + capacity - sizeof "...", "...", sizeof "...");
}

static void read_command(void)
{
    HW_SPARSE static char words[COMMAND_BYTES];
    size_t length = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    while (length < sizeof words - 1) {
        ssize_t got = read(fd, words + length, sizeof words - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    words[length] = '\0'; /* the last word may be cut */
    hw_origin_quote(words, length, command, sizeof command);
}

void hw_origin_begin(void)
{
    struct timespec now;
    began_ns = hw_clock_now_ns();
    if (clock_gettime(CLOCK_REALTIME, &now) == 0)
        started_s = (double)now.tv_sec + (double)now.tv_nsec / (double)HW_NS_PER_S;
    read_command();
}

void hw_origin_entered(void)
{
    if (entered_ns == 0)
        entered_ns = hw_clock_now_ns();
}

void hw_origin_describe(struct hw_record_process *process)
{
    static char host[65];
    gethostname(host, sizeof host - 1);
    process->command = command;
    process->started_s = started_s;
    process->host = host;
    process->version = HEADWAY_VERSION;
    process->init_s = entered_ns > began_ns ? (double)(entered_ns - began_ns) / (double)HW_NS_PER_S : 0;
}
