#include <sodium.h>

// Clears the registers that a call may leave anything in, the vector registers among them, in the widths that the processor
// has and the compiler does not know of.
__attribute__((noinline, zero_call_used_regs("all"))) static void coffer_clear_registers(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroall" ::: "memory");
    if (__builtin_cpu_supports("avx512f")) {
        __asm__ volatile("vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n"
                         "vpxorq %%zmm18, %%zmm18, %%zmm18\n vpxorq %%zmm19, %%zmm19, %%zmm19\n"
                         "vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
                         "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n"
                         "vpxorq %%zmm24, %%zmm24, %%zmm24\n vpxorq %%zmm25, %%zmm25, %%zmm25\n"
                         "vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
                         "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n"
                         "vpxorq %%zmm30, %%zmm30, %%zmm30\n vpxorq %%zmm31, %%zmm31, %%zmm31" ::: "memory");
    }
#endif
    __asm__ volatile("");
}
