#include <sodium.h>

// Clears the registers that a call may leave anything in, the vector registers among them.
__attribute__((noinline, zero_call_used_regs("all"))) static void coffer_clear_registers(void) { __asm__ volatile(""); }
