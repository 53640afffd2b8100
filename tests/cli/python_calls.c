/* SPDX-License-Identifier: BSD-3-Clause */
/* An extension module of Python that makes MPI calls: with the interpreter's lock and without it, in
 * callbacks, and in a thread that is left over when the interpreter ends. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int is_left_over, has_called;

static void probe(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static PyObject *probe_free(PyObject *self, PyObject *arguments)
{
    (void)self, (void)arguments;
    Py_BEGIN_ALLOW_THREADS probe(); /* site: C */
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* With an exception set, as in a clean-up: it stays. */
static PyObject *probe_holding(PyObject *self, PyObject *arguments)
{
    (void)self, (void)arguments;
    PyErr_SetString(PyExc_KeyError, "kept");
    probe();
    return NULL;
}

static int call_back(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = PyObject_CallObject(value, NULL);
    int status = result ? MPI_SUCCESS : MPI_ERR_OTHER;
    Py_XDECREF(result);
    PyGILState_Release(state);
    return status;
}

static PyObject *delete_attribute(PyObject *self, PyObject *function)
{
    (void)self;
    int key, status;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_back, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, function);
    Py_BEGIN_ALLOW_THREADS status = MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    Py_END_ALLOW_THREADS MPI_Comm_free_keyval(&key);
    return PyLong_FromLong(status);
}

/* Calls MPI when the interpreter is ending and has forgotten its thread, which it never gives back. */
static PyObject *linger(PyObject *self, PyObject *arguments)
{
    (void)self, (void)arguments;
    PyThreadState *unused = PyEval_SaveThread();
    (void)unused;
    atomic_store(&is_left_over, 1);
    while (Py_IsInitialized())
        usleep(100);
    for (int i = 0; i < 100; i++)
        probe();
    atomic_store(&has_called, 1);
    for (;;)
        pause();
    return NULL;
}

static PyObject *is_lingering(PyObject *self, PyObject *arguments)
{
    (void)self, (void)arguments;
    return PyBool_FromLong(atomic_load(&is_left_over));
}

/* The last thing of the interpreter's end. */
static void finalize(void)
{
    while (atomic_load(&is_left_over) && !atomic_load(&has_called))
        usleep(100);
    probe();
    MPI_Finalize();
}

static PyMethodDef methods[] = {{"probe", probe_free, METH_NOARGS, NULL},
                                {"probe_holding", probe_holding, METH_NOARGS, NULL},
                                {"delete_attribute", delete_attribute, METH_O, NULL},
                                {"linger", linger, METH_NOARGS, NULL},
                                {"is_lingering", is_lingering, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "python_calls", .m_size = -1,
                                    .m_methods = methods};

PyMODINIT_FUNC PyInit_python_calls(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return PyErr_Format(PyExc_ImportError, "threads are not supported");
    Py_AtExit(finalize);
    return PyModule_Create(&module);
}
