/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/keyval.h"

#if !HW_ABI_OPEN_MPI

#include "real/fortran.h"

/* How MPICH and Intel MPI call the functions of other languages. A handle is a number here. */
typedef int copy_proxy_function(MPI_Comm_copy_attr_function *function, int handle, int keyval, void *extra,
                                int type, void *value, void **copied, int *flag);
typedef int delete_proxy_function(MPI_Comm_delete_attr_function *function, int handle, int keyval, int type,
                                  void *value, void *extra);
typedef void set_proxy_function(int keyval, void *copy_proxy, void *delete_proxy);

static const struct hw_real_keyval_hooks *const hooks = &hw_real_keyval_hooks;

static int copy_by_proxy(MPI_Comm_copy_attr_function *function, int handle, int keyval, void *extra, int type,
                         void *value, void **copied, int *flag)
{
    const struct hw_real_keyval *own = extra;
    copy_proxy_function *proxy = (copy_proxy_function *)own->copy_proxy;
    return proxy(function == hooks->copy ? own->copy_function : function, hooks->as_known(handle), keyval,
                 own->extra, type, value, copied, flag);
}

static int delete_by_proxy(MPI_Comm_delete_attr_function *function, int handle, int keyval, int type,
                           void *value, void *extra)
{
    const struct hw_real_keyval *own = extra;
    delete_proxy_function *proxy = (delete_proxy_function *)own->delete_proxy;
    return proxy(function == hooks->erase ? own->delete_function : function, hooks->as_known(handle), keyval,
                 type, value, own->extra);
}

/* By this the Fortran and C++ libraries make a keyval theirs right after MPI_Comm_create_keyval. */
__attribute__((visibility("default"))) void MPII_Keyval_set_proxy(int keyval, void *copy_proxy,
                                                                  void *delete_proxy)
{
    static struct hw_real_fortran real = {"MPII_Keyval_set_proxy", NULL};
    set_proxy_function *set_proxy = hw_real_fortran_find(&real);
    struct hw_real_keyval *own = hooks->find(keyval);
    if (own) {
        own->copy_proxy = copy_proxy;
        own->delete_proxy = delete_proxy;
    }
    if (set_proxy)
        set_proxy(keyval, own ? (void *)copy_by_proxy : copy_proxy,
                  own ? (void *)delete_by_proxy : delete_proxy);
}

#endif
