// The messages of the kernel to a file system in a program, as they travel through /dev/fuse: the structures of
// <linux/fuse.h>, and what later versions of it name.
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

// Connects a device that was just opened to the mount of another one; returns -1 with errno if the kernel refuses.
static inline int coffer_fuse_clone(int device, int other) {
    uint32_t number = (uint32_t)other;
    return ioctl(device, FUSE_DEV_IOC_CLONE, &number);
}

// Since version 7.40 of the protocol: a process that takes over asks for the requests that the one before had read.
#define COFFER_FUSE_HAS_RESEND (1ULL << 39)
#define COFFER_FUSE_NOTIFY_RESEND 7
#define COFFER_FUSE_UNIQUE_RESEND (1ULL << 63)
// Since version 7.44: names that the kernel has are looked up again.
#define COFFER_FUSE_NOTIFY_INC_EPOCH 8
