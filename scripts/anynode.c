/* Preloaded: shows a program a node of any shape, and keeps masks from the kernel that this machine cannot apply.
 *
 * ORACLE_APIC    the APIC id of each CPU of the node, in the order of their numbers: "0,2,4,..."
 * ORACLE_LEVELS  threads a core, an L3 cache and a package, then the bits of the APIC id below each: "1,8,32,0,3,5"
 * ORACLE_LOG     file that gets a line "pid: cpus" for each mask that a process sets
 *
 * CPUs are read by functions of the program named ipl_ or IPL_ with the instruction cpuid: there it is made ud2, of the
 * same length, and answered in the signal handler, for the CPU that the process last bound itself to.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static long cpus, apic[4096];
static int level[6];
static long here;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask) {
    (void)pid;
    memset(mask, 0, size);
    for (long cpu = 0; cpu < cpus && (size_t)cpu < size * 8; cpu++)
        CPU_SET_S(cpu, size, mask);
    return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask) {
    char text[32768];
    int used = snprintf(text, sizeof text, "%d:", (int)(pid ? pid : getpid())), first = -1;
    for (long cpu = 0; cpu < cpus && (size_t)cpu < size * 8; cpu++)
        if (CPU_ISSET_S(cpu, size, mask)) {
            used += snprintf(text + used, sizeof text - used, " %ld", cpu);
            first = first < 0 ? (int)cpu : first;
        }
    if (first < 0) {
        errno = EINVAL;
        return -1;
    }
    here = first;
    const char *log = getenv("ORACLE_LOG");
    int file = log ? open(log, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (file >= 0) {
        text[used++] = '\n';
        if (write(file, text, used) < 0)
            perror(log);
        close(file);
    }
    return 0;
}

/* The older pinning asks the kernel itself: it gets back how many bytes of the mask are used. */
long syscall(long number, ...) {
    long given[6];
    va_list rest;
    va_start(rest, number);
    for (int each = 0; each < 6; each++)
        given[each] = va_arg(rest, long);
    va_end(rest);
    static long (*real)(long, ...);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (!cpus || (number != SYS_sched_getaffinity && number != SYS_sched_setaffinity))
        return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
    size_t used = (size_t)(cpus + 63) / 64 * 8;
    if (!given[2]) {
        errno = EFAULT;
        return -1;
    }
    if (number == SYS_sched_setaffinity)
        return sched_setaffinity((pid_t)given[0], (size_t)given[1], (cpu_set_t *)given[2]);
    if ((size_t)given[1] < used) {
        errno = EINVAL;
        return -1;
    }
    sched_getaffinity((pid_t)given[0], used, (cpu_set_t *)given[2]);
    return (long)used;
}

int sched_getcpu(void) { return (int)here; }

long sysconf(int name) {
    extern long __sysconf(int);
    return (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) && cpus ? cpus : __sysconf(name);
}

/* An Intel processor of the shape that was asked for. */
static void answer(unsigned leaf, unsigned sub, unsigned *a, unsigned *b, unsigned *c, unsigned *d) {
    unsigned id = (unsigned)apic[here % cpus];
    __cpuid_count(leaf, sub, *a, *b, *c, *d);
    if (leaf == 0) {
        *a = 0x1b, *b = 0x756e6547, *d = 0x49656e69, *c = 0x6c65746e;
    } else if (leaf == 1) {
        *a = 0x606a6;
        *b = (id & 0xff) << 24 | (unsigned)((1 << level[5]) > 255 ? 255 : 1 << level[5]) << 16 | 0x0800;
        *c &= ~(1u << 31);
        *d |= 1u << 28;
    } else if (leaf == 4) {
        static const unsigned size[4] = {48, 32, 1280, 32768};
        if (sub > 3) {
            *a = *b = *c = *d = 0;
            return;
        }
        unsigned type = sub == 0 ? 1 : sub == 1 ? 2 : 3, height = sub < 2 ? 1 : sub, ways = 16;
        unsigned sharing = 1u << (sub < 3 ? level[3] : level[4]), cores = 1u << (level[5] - level[3]);
        *a = type | height << 5 | 1 << 8 | (sharing - 1) << 14 | ((cores - 1) & 63) << 26;
        *b = 63 | (ways - 1) << 22, *c = size[sub] * 1024 / 64 / ways - 1, *d = 0;
    } else if (leaf == 0xb) {
        *a = sub == 0 ? (unsigned)level[3] : sub == 1 ? (unsigned)level[5] : 0;
        *b = sub == 0 ? (unsigned)level[0] : sub == 1 ? (unsigned)level[2] : 0;
        *c = sub | (sub < 2 ? sub + 1 : 0) << 8, *d = id;
    } else if (leaf == 0x1f || leaf == 0x1a || (leaf > 0x1b && leaf < 0x80000000u)) {
        *a = *b = *c = *d = 0;
    } else if (leaf == 0x80000000u) {
        *a = 0x80000008u;
    } else if (leaf >= 0x80000002u && leaf <= 0x80000004u) {
        char brand[48] = "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz";
        memcpy(a, brand + (leaf - 0x80000002u) * 16, 4), memcpy(b, brand + (leaf - 0x80000002u) * 16 + 4, 4);
        memcpy(c, brand + (leaf - 0x80000002u) * 16 + 8, 4), memcpy(d, brand + (leaf - 0x80000002u) * 16 + 12, 4);
    }
}

static void on_cpuid(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    unsigned a, b, c, d;
    if (memcmp((void *)regs[REG_RIP], "\x0f\x0b", 2))
        _exit(132);
    answer((unsigned)regs[REG_RAX], (unsigned)regs[REG_RCX], &a, &b, &c, &d);
    regs[REG_RAX] = a, regs[REG_RBX] = b, regs[REG_RCX] = c, regs[REG_RDX] = d, regs[REG_RIP] += 2;
}

static void patch(unsigned char *from, size_t length) {
    uintptr_t first = (uintptr_t)from & ~4095ul, last = ((uintptr_t)from + length + 4095) & ~4095ul;
    if (mprotect((void *)first, last - first, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
    for (size_t at = 0; at + 1 < length; at++)
        if (from[at] == 0x0f && from[at + 1] == 0xa2)
            from[at + 1] = 0x0b;
    mprotect((void *)first, last - first, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void start(void) {
    char *at = getenv("ORACLE_APIC"), *levels = getenv("ORACLE_LEVELS");
    for (; at && *at && cpus < 4096; at += *at == ',')
        apic[cpus++] = strtol(at, &at, 10);
    if (!cpus || !levels || sscanf(levels, "%d,%d,%d,%d,%d,%d", level, level + 1, level + 2, level + 3, level + 4, level + 5) < 6)
        return;
    int file = open("/proc/self/exe", O_RDONLY);
    struct stat known;
    if (file < 0 || fstat(file, &known))
        return;
    char *elf = mmap(NULL, known.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    Elf64_Ehdr *head = (Elf64_Ehdr *)elf;
    if (elf == MAP_FAILED || memcmp(elf, ELFMAG, SELFMAG) || head->e_type != ET_EXEC)
        return;
    Elf64_Shdr *sections = (Elf64_Shdr *)(elf + head->e_shoff);
    int found = 0;
    for (int number = 0; number < head->e_shnum; number++) {
        if (sections[number].sh_type != SHT_SYMTAB)
            continue;
        const char *names = elf + sections[sections[number].sh_link].sh_offset;
        Elf64_Sym *symbols = (Elf64_Sym *)(elf + sections[number].sh_offset);
        for (size_t each = 0; each < sections[number].sh_size / sizeof *symbols; each++) {
            const char *name = names + symbols[each].st_name;
            int reads_cpuid = !strncmp(name, "ipl_", 4) || !strncmp(name, "IPL_", 4);
            if (reads_cpuid && ELF64_ST_TYPE(symbols[each].st_info) == STT_FUNC && symbols[each].st_size && ++found)
                patch((unsigned char *)symbols[each].st_value, symbols[each].st_size);
        }
    }
    munmap(elf, known.st_size);
    struct sigaction action = {.sa_sigaction = on_cpuid, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (found)
        sigaction(SIGILL, &action, NULL);
}
