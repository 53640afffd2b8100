/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a stand-in for libmpi that fails on request, to see what the library makes of it.
 *
 * One process, messages to itself; a request completes after a few looks at it. Two threads in it at once end
 * the process, whatever the level. FAKE_MPI lists what goes
 * wrong, separated by commas: level-single  MPI_Init_thread gives MPI_THREAD_SINGLE whatever was asked
 *   slow          nothing goes wrong; each look at a request takes some microseconds
 *   split-error   MPI_Comm_split fails    isend-error   MPI_Isend fails
 *   irecv-error   a receive on a communicator made of another fails (the library's own)
 *   status-error  MPI_Request_get_status fails
 *   wait-error    MPI_Wait reports an error
 *   own-handler   MPI_COMM_WORLD and MPI_COMM_SELF have an error handler of the launcher's making
 *   say-level     nothing goes wrong; MPI_Init_thread prints the level it was asked for
 *   win-error     MPI_Win_create fails     rput-error    MPI_Rput fails
 *   flush-error   MPI_Win_flush and MPI_Win_unlock fail
 * Compiled with WITHOUT_GET_STATUS it lacks that function, as an MPI too old would. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST_MAX = 256, LOOKS_NEEDED = 1000, SLOW_LOOK = 20000, FAKE_ERROR = MPI_ERR_OTHER };

#define ALSO_AS_MPI(name) __typeof__(PMPI_##name) MPI_##name __attribute__((alias("PMPI_" #name)))

struct fake_request {
    int is_used, looks, is_unmatched;
};

static struct fake_request requests[REQUEST_MAX];
static int is_initialized, is_finalized, is_slow, given_level, call_count;

static int is_asked(const char *what)
{
    const char *list = getenv("FAKE_MPI");
    return list != NULL && strstr(list, what) != NULL;
}

#ifdef OPEN_MPI
/* Open MPI's handles are addresses of objects the library exports; only the addresses matter. */
#define HANDLE_OF(index) ((MPI_Request)(void *)&requests[index])
#define INDEX_OF(request) ((int)((struct fake_request *)(void *)(request)-requests))
#define PART ((MPI_Comm)(void *)&given_level)
#define OWN_HANDLER ((MPI_Errhandler)(void *)&call_count)
#define WINDOW ((MPI_Win)(void *)&is_finalized)
#define OBJECT(name) char name##_storage[512] __asm__(#name)
OBJECT(ompi_mpi_comm_world);
OBJECT(ompi_mpi_comm_self);
OBJECT(ompi_mpi_comm_null);
OBJECT(ompi_mpi_group_null);
OBJECT(ompi_request_null);
OBJECT(ompi_message_null);
OBJECT(ompi_message_no_proc);
OBJECT(ompi_mpi_win_null);
OBJECT(ompi_mpi_info_null);
OBJECT(ompi_mpi_info_env);
OBJECT(ompi_mpi_datatype_null);
OBJECT(ompi_mpi_byte);
OBJECT(ompi_mpi_char);
OBJECT(ompi_mpi_int);
OBJECT(ompi_mpi_double);
OBJECT(ompi_mpi_uint64_t);
OBJECT(ompi_mpi_packed);
OBJECT(ompi_mpi_op_max);
OBJECT(ompi_mpi_op_min);
OBJECT(ompi_mpi_op_sum);
OBJECT(ompi_mpi_op_no_op);
OBJECT(ompi_mpi_errhandler_null);
OBJECT(ompi_mpi_errors_return);
OBJECT(ompi_mpi_errors_are_fatal);
#else
#define HANDLE_OF(index) ((MPI_Request)(0x4c000100 + (index)))
#define INDEX_OF(request) ((int)(request)-0x4c000100)
#define PART ((MPI_Comm)0x44000077)
#define OWN_HANDLER ((MPI_Errhandler)0x54000077)
#define WINDOW ((MPI_Win)0x20000077)
#endif

static int threads_inside;

static void begin(void)
{
    if (__atomic_fetch_add(&threads_inside, 1, __ATOMIC_RELAXED) != 0) {
        fputs("fake: two threads at once\n", stderr);
        abort();
    }
}
static void end(void) { __atomic_fetch_sub(&threads_inside, 1, __ATOMIC_RELAXED); }

static int new_request(MPI_Request *request)
{
    for (int i = 0; i < REQUEST_MAX; i++)
        if (!requests[i].is_used) {
            requests[i] = (struct fake_request){.is_used = 1};
            *request = HANDLE_OF(i);
            return MPI_SUCCESS;
        }
    return MPI_ERR_NO_MEM;
}

static int look_at(MPI_Request request)
{
    int index = INDEX_OF(request);
    begin();
    for (volatile int i = 0; i < SLOW_LOOK && is_slow; i++)
        continue;
    end();
    if (index < 0 || index >= REQUEST_MAX || !requests[index].is_used)
        abort(); /* a handle that is not alive: the worst a preloaded library could do */
    if (requests[index].is_unmatched)
        return 0;
    return __atomic_add_fetch(&requests[index].looks, 1, __ATOMIC_RELAXED) >= LOOKS_NEEDED;
}

static void end_request(MPI_Request *request, MPI_Status *status)
{
    requests[INDEX_OF(*request)].is_used = 0;
    *request = MPI_REQUEST_NULL;
    if (status != MPI_STATUS_IGNORE)
        status->MPI_SOURCE = status->MPI_TAG = 0;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    is_initialized = 1;
    is_slow = is_asked("slow");
    if (is_asked("say-level"))
        printf("fake: asked for level %d\n", required);
    *provided = given_level = is_asked("level-single") ? MPI_THREAD_SINGLE : required;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Init_thread);

int PMPI_Init(int *argc, char ***argv)
{
    int provided;
    return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}
ALSO_AS_MPI(Init);

int PMPI_Initialized(int *flag)
{
    *flag = is_initialized;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Initialized);

int PMPI_Finalized(int *flag)
{
    *flag = is_finalized;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Finalized);

int PMPI_Finalize(void)
{
    is_finalized = 1;
    printf("fake: %d communication calls\n", call_count);
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Finalize);

int PMPI_Query_thread(int *provided)
{
    *provided = given_level;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Query_thread);

int PMPI_Get_library_version(char *version, int *length)
{
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Fake MPI 1.0");
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Get_library_version);

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    begin();
    *rank = 0;
    end();
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Comm_rank);

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
    (void)comm;
    *handler = is_asked("own-handler") ? OWN_HANDLER : MPI_ERRORS_ARE_FATAL;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Comm_get_errhandler);

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Comm_set_errhandler);

int PMPI_Errhandler_free(MPI_Errhandler *handler)
{
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Errhandler_free);

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Comm_size);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
    (void)comm, (void)color, (void)key;
    *part = PART;
    return is_asked("split-error") ? FAKE_ERROR : MPI_SUCCESS;
}
ALSO_AS_MPI(Comm_split);

int PMPI_Comm_free(MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Comm_free);

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Comm_get_parent);

int PMPI_Type_size(MPI_Datatype type, int *size)
{
    (void)type;
    *size = 1;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Type_size);

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    (void)type;
    *size = 1; /* the program sends nothing but bytes */
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Type_size_x);

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    (void)data;
    (void)count;
    (void)type;
    (void)dest;
    (void)tag;
    (void)comm;
    begin();
    call_count++;
    end();
    return is_asked("isend-error") ? FAKE_ERROR : new_request(request);
}
ALSO_AS_MPI(Isend);

int PMPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    (void)data;
    (void)count;
    (void)type;
    (void)source;
    (void)tag;
    if (comm == PART && is_asked("irecv-error"))
        return FAKE_ERROR;
    int code = new_request(request);
    if (code == MPI_SUCCESS)
        requests[INDEX_OF(*request)].is_unmatched = comm == PART; /* nobody ever sends there */
    return code;
}
ALSO_AS_MPI(Irecv);

int PMPI_Cancel(MPI_Request *request)
{
    requests[INDEX_OF(*request)].is_unmatched = 0;
    requests[INDEX_OF(*request)].looks = LOOKS_NEEDED;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Cancel);

#ifndef WITHOUT_GET_STATUS
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    (void)status;
    *flag = look_at(request);
    return is_asked("status-error") ? FAKE_ERROR : MPI_SUCCESS;
}
ALSO_AS_MPI(Request_get_status);
#endif

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    *flag = look_at(*request);
    if (*flag)
        end_request(request, status);
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Test);

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    while (!look_at(*request))
        ;
    end_request(request, status);
    return is_asked("wait-error") ? FAKE_ERROR : MPI_SUCCESS;
}
ALSO_AS_MPI(Wait);

static int window_count;

int PMPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    (void)base, (void)size, (void)unit, (void)info, (void)comm;
    begin();
    end();
    if (is_asked("win-error"))
        return FAKE_ERROR;
    window_count++;
    *win = WINDOW;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Win_create);

int PMPI_Win_free(MPI_Win *win)
{
    if (*win != WINDOW || window_count == 0)
        abort();
    window_count--;
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Win_free);

int PMPI_Win_lock(int kind, int rank, int assertion, MPI_Win win)
{
    (void)kind, (void)rank, (void)assertion;
    return win == WINDOW ? MPI_SUCCESS : FAKE_ERROR;
}
ALSO_AS_MPI(Win_lock);

static int complete(MPI_Win win)
{
    begin();
    end();
    return win != WINDOW || is_asked("flush-error") ? FAKE_ERROR : MPI_SUCCESS;
}

int PMPI_Win_unlock(int rank, MPI_Win win)
{
    (void)rank;
    return complete(win);
}
ALSO_AS_MPI(Win_unlock);

int PMPI_Win_flush(int rank, MPI_Win win)
{
    (void)rank;
    return complete(win);
}
ALSO_AS_MPI(Win_flush);

int PMPI_Put(const void *data, int count, MPI_Datatype type, int rank, MPI_Aint place, int there,
             MPI_Datatype type_there, MPI_Win win)
{
    (void)data, (void)count, (void)type, (void)rank, (void)place, (void)there, (void)type_there;
    return win == WINDOW ? MPI_SUCCESS : FAKE_ERROR;
}
ALSO_AS_MPI(Put);

int PMPI_Rput(const void *data, int count, MPI_Datatype type, int rank, MPI_Aint place, int there,
              MPI_Datatype type_there, MPI_Win win, MPI_Request *request)
{
    (void)data, (void)count, (void)type, (void)rank, (void)place, (void)there, (void)type_there, (void)win;
    begin();
    call_count++;
    end();
    return is_asked("rput-error") ? FAKE_ERROR : new_request(request);
}
ALSO_AS_MPI(Rput);

int PMPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}
ALSO_AS_MPI(Barrier);

int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    exit(code);
}
ALSO_AS_MPI(Abort);
