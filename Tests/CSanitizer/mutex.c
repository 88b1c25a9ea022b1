// Tells the Thread Sanitizer of a Mutex that a thread has waited for. It sees the lock where nothing has to wait, because
// that is compiled into the caller; waiting is done by libswiftSynchronization, which is built without the sanitizer. Without
// this it reports whatever a Mutex guards.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void locking(uint32_t thread, __attribute__((swift_context)) void *mutex);
typedef __attribute__((swiftcall)) void unlocking(__attribute__((swift_context)) void *mutex);

locking lock_slow __asm__(LOCK);
unlocking unlock_slow __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
    ((locking *)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) {
    __tsan_release(mutex);
    ((unlocking *)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
#endif
