// The low-level interface of libfuse, as of 3.5: what Debian 12 and later have in common.
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
