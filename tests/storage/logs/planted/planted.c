/* MPI programs with one known way of doing I/O each. Usage: planted MODE [TIMES [DIRECTORY]]
 * Most loops run TIMES times as often as the smallest case. A mode ending in _fixed is the repaired program. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE(name) if (!strcmp(mode, name))
#define KIB (1 << 10)
#define MIB (1 << 20)
#define NEW (O_CREAT | O_RDWR | O_TRUNC)

static int rank, tasks, times;
static const char *mode, *dir = "out";
static char *buf, path[512];

static int each(int flags) { snprintf(path, 512, "%s/%s.%d", dir, mode, rank); return open(path, flags, 0644); }
static int shared(int flags) { snprintf(path, 512, "%s/%s.shared", dir, mode); return open(path, flags, 0644); }
static void put(int fd, int calls, int size) { for (int i = 0; i < calls; i++) if (write(fd, buf, size) < 0) abort(); }
static void get(int fd, int calls, int size) { for (int i = 0; i < calls; i++) if (read(fd, buf, size) < 0) abort(); }
static void putat(int fd, int size, off_t at) { if (pwrite(fd, buf, size, at) < 0) abort(); }
static void getat(int fd, int size, off_t at) { if (pread(fd, buf, size, at) < 0) abort(); }

/* Rows of a matrix are dealt to tasks in turn, `size` bytes each. */
static void strided(int calls, int size) { int fd = shared(O_CREAT | O_WRONLY);
  for (int i = 0; i < calls; i++) putat(fd, size, ((off_t)i * tasks + rank) * size); close(fd); }
static void block(int calls, int size) { int fd = shared(O_CREAT | O_WRONLY);
  for (int i = 0; i < calls; i++) putat(fd, size, ((off_t)rank * calls + i) * size); close(fd); }

static MPI_File open_mpi(const char *key, const char *value) { MPI_File f; MPI_Info info = MPI_INFO_NULL;
  if (key) { MPI_Info_create(&info); MPI_Info_set(info, key, value); }
  snprintf(path, 512, "%s/%s.shared", dir, mode);
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f)) abort(); return f; }

/* Pieces of 100 bytes of all tasks take turns in the file. */
static void pieces(int collective) { MPI_File f = open_mpi(0, 0); MPI_Datatype t;
  MPI_Type_vector(2000, 100, 100 * tasks, MPI_BYTE, &t); MPI_Type_commit(&t);
  MPI_File_set_view(f, rank * 100, MPI_BYTE, t, "native", MPI_INFO_NULL);
  for (int i = 0; i < 10 * times; i++)
    (collective ? MPI_File_write_all : MPI_File_write)(f, buf, 200000, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&f); MPI_Type_free(&t); }
static void mpi_blocks(int calls, int size, int collective, const char *key, const char *value) { MPI_File f = open_mpi(key, value);
  for (int i = 0; i < calls; i++) { MPI_Offset at = ((MPI_Offset)i * tasks + rank) * size;
    (collective ? MPI_File_write_at_all : MPI_File_write_at)(f, at, buf, size, MPI_BYTE, MPI_STATUS_IGNORE); }
  MPI_File_close(&f); }

/* One HDF5 file per task with `sets` data sets of `n` doubles each, or one file for all. */
static void hdf5(int sets, hsize_t n, int parallel) { hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dxpl = H5Pcreate(H5P_DATASET_XFER);
  snprintf(path, 512, parallel ? "%s/%s.h5" : "%s/%s.%d.h5", dir, mode, rank);
  if (parallel) { H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL); H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE); }
  hid_t f = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  for (int i = 0; i < sets; i++) { char name[32]; hsize_t all = parallel ? n * tasks : n, start = parallel ? n * rank : 0;
    snprintf(name, 32, "d%d", i); hid_t space = H5Screate_simple(1, &all, 0), memory = H5Screate_simple(1, &n, 0);
    hid_t d = H5Dcreate(f, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, 0, &n, 0);
    H5Dwrite(d, H5T_NATIVE_DOUBLE, memory, space, dxpl, buf); H5Dclose(d); H5Sclose(space); H5Sclose(memory); }
  H5Fclose(f); }

static void many(int files, int size, const char *where) { char name[600]; struct stat s;
  for (int i = 0; i < files; i++) { snprintf(name, 600, "%s/%s.%d.%d", dir, where, rank, i);
    int fd = open(name, O_CREAT | O_WRONLY, 0644); if (size) put(fd, 1, size); close(fd); stat(name, &s); }
  for (int i = 0; i < files && !size; i++) { snprintf(name, 600, "%s/%s.%d.%d", dir, where, rank, i); unlink(name); } }

static void posix_modes(void) { int i, fd, n = times;
  MODE("healthy") { fd = each(NEW); put(fd, 8 * n, 8 * MIB); close(fd); }
  MODE("healthyshared") block(8 * n, 8 * MIB);
  MODE("healthyread") { fd = each(NEW); put(fd, 8 * n, 8 * MIB); close(fd); MPI_Barrier(MPI_COMM_WORLD);
    snprintf(path, 512, "%s/%s.%d", dir, mode, (rank + 1) % tasks); fd = open(path, O_RDONLY); get(fd, 8 * n, 8 * MIB); close(fd); }
  MODE("healthyckpt") for (i = 0; i < 2 * n; i++) {
    snprintf(path, 512, "%s/%s.%d.%d", dir, mode, rank, i); fd = open(path, NEW, 0644); put(fd, 8, 8 * MIB); fsync(fd); close(fd); usleep(200000); }
  MODE("none") {}
  MODE("smallwrite") { fd = each(NEW); put(fd, 20000 * n, 512); close(fd); }
  MODE("smallwrite_fixed") { fd = each(NEW); put(fd, 2 * n, 5120000); if (n < 0) abort(); close(fd); }
  MODE("smallread") { fd = each(NEW); put(fd, 10 * n, MIB); close(fd); MPI_Barrier(MPI_COMM_WORLD);
    fd = each(O_RDONLY); get(fd, 20000 * n, 512); close(fd); }
  MODE("smallshared") strided(5000 * n, 1000);
  MODE("smallshared_fixed") { fd = shared(O_CREAT | O_WRONLY); for (i = 0; i < n; i++) putat(fd, 5000000, ((off_t)i * tasks + rank) * 5000000); close(fd); }
  MODE("unaligned") strided(32 * n, MIB + 17);
  MODE("onerank") { fd = shared(O_CREAT | O_WRONLY); if (!rank) for (i = 0; i < 256 * n; i++) putat(fd, MIB, (off_t)i * MIB); close(fd); }
  MODE("metastorm") many(250 * n, 0, "ms");
  MODE("onedir") { mkdir("out/one", 0755); many(250 * n, 10, "one/f"); }
  MODE("onefileperstep") many(100 * n, 256 * KIB, "st");
  MODE("onefileperstep_fixed") { fd = each(NEW); put(fd, 100 * n, 256 * KIB); close(fd); }
  MODE("reopen") for (i = 0; i < 3000 * n; i++) { fd = each(O_CREAT | O_WRONLY | O_APPEND); put(fd, 1, 64); close(fd); }
  MODE("reopen_fixed") { fd = each(NEW); put(fd, 3000 * n, 64); close(fd); }
  MODE("readafterwrite") { fd = each(NEW); put(fd, 16 * n, 4 * MIB); lseek(fd, 0, SEEK_SET); get(fd, 16 * n, 4 * MIB); close(fd); }
  MODE("pagecache") { fd = each(NEW); put(fd, 32, 4 * MIB); fsync(fd); close(fd); fd = each(O_RDONLY); get(fd, 32, 4 * MIB); close(fd); }
  MODE("imbalance") { fd = each(NEW); put(fd, (rank ? 2 : 200) * n, MIB); close(fd); }
  MODE("imbalance_fixed") { fd = each(NEW); put(fd, (200 + 2 * (tasks - 1)) * n / tasks, MIB); close(fd); }
  MODE("imbckpt") for (int step = 0; step < 5 * n; step++) { fd = each(NEW); put(fd, rank == 1 ? 80 : 8, MIB); fsync(fd); close(fd); MPI_Barrier(MPI_COMM_WORLD); }
  MODE("imbshared") { fd = shared(O_CREAT | O_WRONLY); for (i = 0; i < (rank ? 2 : 200) * n; i++) putat(fd, MIB, ((off_t)rank * 1024 * n + i) * MIB); close(fd); }
  MODE("slowrank") { fd = each(NEW | (rank == 2 ? O_DSYNC : 0)); put(fd, 64 * n, MIB); close(fd); }
  MODE("serialtime") { fd = shared(O_CREAT | O_WRONLY); if (rank == tasks - 1) for (i = 0; i < 40 * n; i++) {
    putat(fd, MIB, (off_t)i * MIB); fsync(fd); } else putat(fd, MIB, (off_t)(4096 + rank) * MIB); close(fd); }
  MODE("fsync") { fd = each(NEW); for (i = 0; i < 200 * n; i++) { put(fd, 1, MIB); fsync(fd); } close(fd); }
  MODE("fsync_fixed") { fd = each(NEW); put(fd, 200 * n, MIB); fsync(fd); close(fd); }
  MODE("fdatasync") { fd = each(NEW); for (i = 0; i < 1000 * n; i++) { put(fd, 1, 4 * KIB); fdatasync(fd); } close(fd); }
  MODE("rmw") { fd = each(NEW); put(fd, 16, 4 * MIB); for (i = 0; i < 8000 * n; i++) {
    off_t at = (off_t)(i * 2654435761u % 16384) * 4 * KIB; getat(fd, 4 * KIB, at); putat(fd, 4 * KIB, at); } close(fd); }
  MODE("randread") { fd = each(NEW); put(fd, 16, 4 * MIB); close(fd); MPI_Barrier(MPI_COMM_WORLD); fd = each(O_RDONLY); srand(rank);
    for (i = 0; i < 8000 * n; i++) getat(fd, 4 * KIB, (off_t)(rand() % 16384) * 4 * KIB); close(fd); }
  MODE("allreadsame") { if (!rank) { fd = shared(NEW); put(fd, 1, 64 * MIB); close(fd); } MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < n; i++) { fd = shared(O_RDONLY); get(fd, 64, MIB); close(fd); } }
  MODE("reread") { fd = each(NEW); put(fd, 1, 8 * MIB); for (i = 0; i < 30 * n; i++) { lseek(fd, 0, SEEK_SET); get(fd, 8, MIB); } close(fd); }
  MODE("reread_fixed") { fd = each(NEW); put(fd, 1, 8 * MIB); lseek(fd, 0, SEEK_SET); get(fd, 8, MIB); close(fd); }
  MODE("overwrite") { fd = each(NEW); for (i = 0; i < 60 * n; i++) { lseek(fd, 0, SEEK_SET); put(fd, 4, MIB); } close(fd); }
  MODE("backward") { fd = each(NEW); for (i = 2000 * n; i > 0; i--) putat(fd, 64 * KIB, (off_t)i * 64 * KIB); close(fd); }
  MODE("seekstorm") { fd = each(NEW); put(fd, 1, 64 * MIB); for (i = 0; i < 100000 * n; i++) lseek(fd, i * 16 % (64 * MIB), SEEK_SET); close(fd); }
}

static void other_modes(void) { int i, n = times; FILE *h;
  MODE("stdiosmall") { close(each(NEW)); h = fopen(path, "w"); for (i = 0; i < 200000 * n; i++) fprintf(h, "%d %f\n", i, i * 1.5); fclose(h); }
  MODE("stdiobig") { close(each(NEW)); h = fopen(path, "w"); for (i = 0; i < 32 * n; i++) fwrite(buf, 1, 4 * MIB, h); fclose(h); }
  MODE("stdioflush") { close(each(NEW)); h = fopen(path, "w"); for (i = 0; i < 20000 * n; i++) { fprintf(h, "step %d\n", i); fflush(h); } fclose(h); }
  MODE("stdioflush_fixed") { close(each(NEW)); h = fopen(path, "w"); for (i = 0; i < 20000 * n; i++) fprintf(h, "step %d\n", i); fflush(h); fclose(h); }
  MODE("mpiindep") mpi_blocks(3000 * n, 2000, 0, 0, 0);
  MODE("mpiindep_fixed") mpi_blocks(n, 3000 * 2000, 1, 0, 0);
  MODE("mpicoll") mpi_blocks(32 * n, 2 * MIB, 1, 0, 0);
  MODE("mpicollbig") mpi_blocks(2 * n, 32 * MIB, 1, 0, 0);
  MODE("mpicollsmall") mpi_blocks(300 * n, 2000, 1, 0, 0);
  MODE("mpinogather") { mpi_blocks(3000 * n, 2000, 1, "romio_cb_write", "disable"); }
  MODE("sieve") pieces(0);
  MODE("sieve_fixed") pieces(1);
  MODE("h5many") hdf5(120 * n, 16, 0);
  MODE("h5many_fixed") hdf5(1, 120 * 16 * n, 0);
  MODE("h5manyshared") hdf5(100 * n, 16, 1);
  MODE("healthyh5") hdf5(2 * n, 4 * MIB, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &tasks);
  mode = argv[1]; times = argc > 2 ? atoi(argv[2]) : 1; if (argc > 3) dir = argv[3];
  buf = malloc(64 * MIB); memset(buf, 1, 64 * MIB);
  MPI_Barrier(MPI_COMM_WORLD); double start = MPI_Wtime();
  posix_modes(); other_modes();
  MPI_Barrier(MPI_COMM_WORLD); if (!rank) printf("%s %.3f s\n", mode, MPI_Wtime() - start);
  MPI_Finalize(); return 0; }
