/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: packed_messages SEED CASES [often]: random messages of derived datatypes between two ranks,
 * every way of sending by every way of receiving; layouts that differ on both sides, datatypes freed while in
 * use, messages shorter than the receive, doors with and without statuses. Prints a digest of what was
 * received, gaps included, and of the statuses. With `often` each case is repeated until its datatypes have
 * plans, have been tried, or been found faster by either way, and that is when they are freed. */
#include "check.h"
#include "layouts.h"

enum { MESSAGES_MAX = 6, ROOM = 1 << 20, FILLER = 0x5a };

static bool is_often;
static bool has_buffered; /* MPICH 4.0 truncates some of those, plain too: doc/guide/troubleshooting.md */

/* ---- one message -----------------------------------------------------------------------------------------
 */

struct message {
    unsigned send, receive, door;
    int tag, sent_count, received_count;
    bool is_freed_early, wants_status;
    MPI_Datatype sent_type, received_type;
    char *memory, *begin;
    MPI_Request request;
    MPI_Message matched;
    MPI_Status status;
};

enum { SEND, SSEND, RSEND, ISEND, ISSEND, IRSEND, BSEND, SEND_INIT, SSEND_INIT, RSEND_INIT, SENDRECV, SENDS };
enum { RECV, RECV_ANY, PROBE_RECV, MPROBE_MRECV, IMPROBE_IMRECV, IRECV, RECV_INIT, RECV_SENDRECV, RECEIVES };
enum { DOORS = 9 };

static uint64_t digest;

static void mix(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ byte[i]) * UINT64_C(0x100000001B3);
}

static void mix_int(int number) { mix(&number, sizeof number); }

static bool is_ready(unsigned send) { return send == RSEND || send == IRSEND || send == RSEND_INIT; }
static bool is_persistent(unsigned send)
{
    return send == SEND_INIT || send == SSEND_INIT || send == RSEND_INIT;
}

/* Room for the datatype wherever it reaches from `begin`. */
static void make_buffer(struct message *m, int count, MPI_Datatype type, bool is_sent)
{
    MPI_Aint lowest, extent, true_lowest, span;
    MPI_Type_get_extent(type, &lowest, &extent);
    MPI_Type_get_true_extent(type, &true_lowest, &span);
    size_t bytes = (size_t)(span + (extent > 0 ? extent : -extent) * count + 64);
    CHECK(bytes < ROOM * 8);
    memset(m->memory, FILLER, bytes + 512);
    for (size_t i = 0; is_sent && i < bytes + 512; i++)
        m->memory[i] = (char)(i * 7 + (size_t)m->tag);
    m->begin = m->memory + (true_lowest < 0 ? -true_lowest : 0) + 16;
}

/* By every rank alike, so that both know all. */
static void draw(struct message *m, int number, bool is_alone)
{
    unsigned kind = below(6);
    int elements = 4 * (1 + (int)below(below(3) == 0 ? 20 : 700));
    m->send = below(SENDS);
    m->receive = below(RECEIVES);
    if (m->send == BSEND && !has_buffered)
        m->send = SEND;
    if (!is_alone && (m->send == SENDRECV || m->receive == RECV_SENDRECV || m->receive == RECV_ANY))
        m->send = ISEND, m->receive = IRECV;
    if (m->send == SENDRECV || m->receive == RECV_SENDRECV)
        m->send = SENDRECV, m->receive = RECV_SENDRECV;
    if (is_ready(m->send) && m->receive != RECV_INIT)
        m->receive = IRECV;
    m->door = below(DOORS);
    m->tag = 10 + number;
    m->sent_count = 1 + (int)below(3);
    m->received_count = m->sent_count + (below(3) == 0);
    m->is_freed_early = below(2);
    m->wants_status = below(2);
    MPI_Datatype sent = make_element(kind, below(2)), received = make_element(kind, below(2));
    m->sent_type = make_layout(elements, sent, kind == 5);
    m->received_type = make_layout(elements, received, kind == 5);
    MPI_Type_free(&sent);
    MPI_Type_free(&received);
}

static void start_send(struct message *m, int peer)
{
    void *b = m->begin;
    int n = m->sent_count, t = m->tag;
    MPI_Datatype type = m->sent_type;
    MPI_Comm comm = MPI_COMM_WORLD;
    m->request = MPI_REQUEST_NULL;
    switch (m->send) {
    case SEND:
        MPI_Send(b, n, type, peer, t, comm);
        break;
    case SSEND:
        MPI_Ssend(b, n, type, peer, t, comm);
        break;
    case RSEND:
        MPI_Rsend(b, n, type, peer, t, comm);
        break;
    case BSEND:
        MPI_Bsend(b, n, type, peer, t, comm);
        break;
    case ISEND:
        MPI_Isend(b, n, type, peer, t, comm, &m->request);
        break;
    case ISSEND:
        MPI_Issend(b, n, type, peer, t, comm, &m->request);
        break;
    case IRSEND:
        MPI_Irsend(b, n, type, peer, t, comm, &m->request);
        break;
    case SEND_INIT:
        MPI_Send_init(b, n, type, peer, t, comm, &m->request);
        break;
    case SSEND_INIT:
        MPI_Ssend_init(b, n, type, peer, t, comm, &m->request);
        break;
    case RSEND_INIT:
        MPI_Rsend_init(b, n, type, peer, t, comm, &m->request);
        break;
    default:
        MPI_Sendrecv(b, n, type, peer, t, NULL, 0, MPI_INT, peer, t + 100, comm, MPI_STATUS_IGNORE);
    }
    if (is_persistent(m->send)) {
        memset(m->begin, m->tag, 64); /* after the definition, before the start */
        MPI_Start(&m->request);
    }
}

static void start_receive(struct message *m, int peer)
{
    void *b = m->begin;
    int n = m->received_count, t = m->tag, flag = 0;
    MPI_Datatype type = m->received_type;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Status *status = m->wants_status ? &m->status : MPI_STATUS_IGNORE;
    m->request = MPI_REQUEST_NULL;
    switch (m->receive) {
    case RECV:
        MPI_Recv(b, n, type, peer, t, comm, status);
        break;
    case RECV_ANY:
        MPI_Recv(b, n, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status);
        break;
    case PROBE_RECV:
        MPI_Probe(peer, t, comm, &m->status);
        MPI_Get_count(&m->status, type, &flag);
        mix_int(flag);
        MPI_Recv(b, n, type, peer, t, comm, status);
        break;
    case MPROBE_MRECV:
        MPI_Mprobe(peer, t, comm, &m->matched, &m->status);
        MPI_Mrecv(b, n, type, &m->matched, status);
        break;
    case IMPROBE_IMRECV:
        while (!flag)
            MPI_Improbe(peer, t, comm, &flag, &m->matched, &m->status);
        MPI_Imrecv(b, n, type, &m->matched, &m->request);
        break;
    case IRECV:
        MPI_Irecv(b, n, type, peer, t, comm, &m->request);
        break;
    case RECV_INIT:
        MPI_Recv_init(b, n, type, peer, t, comm, &m->request);
        MPI_Start(&m->request);
        break;
    default:
        MPI_Sendrecv(NULL, 0, MPI_INT, peer, t + 100, b, n, type, peer, t, comm, status);
    }
}

/* ---- completion ------------------------------------------------------------------------------------------
 */

static void complete(int count, MPI_Request *requests, MPI_Status *statuses, unsigned door)
{
    int flag = 0, index, some, indices[MESSAGES_MAX];
    MPI_Status *one = MPI_STATUS_IGNORE;
    bool is_array = statuses != MPI_STATUSES_IGNORE;
    if (door == 1) {
        MPI_Waitall(count, requests, statuses);
        return;
    }
    if (door == 2) {
        while (!flag)
            MPI_Testall(count, requests, &flag, statuses);
        return;
    }
    MPI_Status found[MESSAGES_MAX];
    for (int left = count; left > 0;) {
        some = 0;
        index = MPI_UNDEFINED;
        if (door == 3) {
            MPI_Waitany(count, requests, &index, is_array ? &found[0] : one);
        } else if (door == 4) {
            MPI_Testany(count, requests, &index, &flag, is_array ? &found[0] : one);
        } else if (door == 5 || door == 6) {
            (door == 5 ? MPI_Waitsome : MPI_Testsome)(count, requests, &some, indices,
                                                      is_array ? found : MPI_STATUSES_IGNORE);
        } else {
            index = count - left;
            flag = 0;
            while (door == 8 && !flag)
                MPI_Request_get_status(requests[index], &flag, MPI_STATUS_IGNORE);
            for (flag = 0; door == 7 && !flag;)
                MPI_Test(&requests[index], &flag, is_array ? &found[0] : one);
            if (door != 7)
                MPI_Wait(&requests[index], is_array ? &found[0] : one);
        }
        if (some == MPI_UNDEFINED)
            break;
        for (int i = 0; i < some; i++) {
            if (is_array)
                statuses[indices[i]] = found[i];
            left--;
        }
        if (index != MPI_UNDEFINED) {
            if (is_array)
                statuses[index] = found[0];
            left--;
        } else if (door == 3) {
            break;
        }
    }
}

static void note(const struct message *m, const MPI_Status *status)
{
    int count, elements;
    MPI_Get_count(status, m->received_type, &count);
    MPI_Get_elements(status, m->received_type, &elements);
    mix_int(status->MPI_SOURCE);
    mix_int(status->MPI_TAG);
    mix_int(count);
    mix_int(elements);
}

/* Persistent ones stay. */
static void end_requests(int count, struct message *messages, bool is_sender)
{
    MPI_Request requests[MESSAGES_MAX];
    MPI_Status statuses[MESSAGES_MAX];
    bool wants = messages[0].wants_status;
    int active = 0, which[MESSAGES_MAX];
    for (int i = 0; i < count; i++)
        if (messages[i].request != MPI_REQUEST_NULL) {
            which[active] = i;
            requests[active++] = messages[i].request;
        }
    complete(active, requests, wants ? statuses : MPI_STATUSES_IGNORE, messages[0].door);
    for (int i = 0; i < active; i++) {
        struct message *m = &messages[which[i]];
        m->request = requests[i];
        if (!is_sender && wants && !m->is_freed_early)
            note(m, &statuses[i]);
        if (m->request != MPI_REQUEST_NULL)
            MPI_Request_free(&m->request);
    }
}

static void run_round(int count, struct message *messages, bool is_sender, int peer, bool frees)
{
    bool is_any_ready = false;
    for (int i = 0; i < count; i++) {
        struct message *m = &messages[i];
        is_any_ready = is_any_ready || is_ready(m->send);
        make_buffer(m, is_sender ? m->sent_count : m->received_count,
                    is_sender ? m->sent_type : m->received_type, is_sender);
    }
    if (is_any_ready && is_sender)
        MPI_Recv(NULL, 0, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* What blocks comes last, so that nobody waits for somebody who waits. */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            struct message *m = &messages[i];
            bool is_late = m->receive != IRECV && m->receive != RECV_INIT;
            if (is_late != (pass == 1))
                continue;
            if (is_sender)
                start_send(m, peer);
            else
                start_receive(m, peer);
            if (frees && m->is_freed_early)
                MPI_Type_free(is_sender ? &m->sent_type : &m->received_type);
            if (!is_sender && is_late && m->wants_status && m->request == MPI_REQUEST_NULL &&
                !(frees && m->is_freed_early))
                note(m, &m->status);
        }
        if (is_any_ready && !is_sender && pass == 0)
            MPI_Send(NULL, 0, MPI_INT, peer, 5, MPI_COMM_WORLD);
    }
    end_requests(count, messages, is_sender);
    for (int i = 0; !is_sender && i < count; i++)
        mix(messages[i].memory, ROOM);
}

static void run_case(int number, struct message *messages)
{
    static const int often[] = {9, 18, 36};
    int count = 1 + (int)below(MESSAGES_MAX), sender = (int)below(2),
        repeats = is_often ? often[number % 3] : 3;
    bool is_sender = check_rank == sender;
    for (int i = 0; i < count; i++)
        draw(&messages[i], i, count == 1);
    digest = UINT64_C(0xCBF29CE484222325);
    for (int repeat = 0; repeat < repeats; repeat++)
        run_round(count, messages, is_sender, 1 - check_rank, repeat == repeats - 1);
    for (int i = 0; i < count; i++) {
        struct message *m = &messages[i];
        if (!m->is_freed_early || !is_sender)
            MPI_Type_free(&m->sent_type);
        if (!m->is_freed_early || is_sender)
            MPI_Type_free(&m->received_type);
    }
    printf("rank %d case-%d %016llx\n", check_rank, number, (unsigned long long)digest);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    unsigned seed = (unsigned)strtoul(argc > 1 ? argv[1] : "1", NULL, 10);
    int cases = argc > 2 ? atoi(argv[2]) : 20;
    is_often = argc > 3;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    has_buffered = strstr(version, "MPICH Version:\t4.0") == NULL;
    static char attached[1 << 22];
    struct message messages[MESSAGES_MAX] = {0};
    for (int i = 0; i < MESSAGES_MAX; i++)
        CHECK((messages[i].memory = calloc(1, ROOM * 8 + 1024)) != NULL);
    MPI_Buffer_attach(attached, sizeof attached);
    for (int number = 0; number < cases && check_rank < 2; number++) {
        state = (seed + (unsigned)number) * 2654435761u | 1;
        run_case(number, messages);
    }
    void *detached;
    int bytes;
    MPI_Buffer_detach(&detached, &bytes);
    for (int i = 0; i < MESSAGES_MAX; i++)
        free(messages[i].memory);
    MPI_Finalize();
    return 0;
}
