/* Writes numbers as its user's language does. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%.1f\n", 0.5);
    MPI_Finalize();
    return 0;
}
