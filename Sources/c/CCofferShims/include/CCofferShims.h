// What Swift can't spell: macros, variadics and structures that the module of the C library leaves out. Each function
// does one thing and keeps no state. Failures are -1 with errno, as in the system call behind it.
#ifndef COFFER_SHIMS_H
#define COFFER_SHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/xattr.h>

// Sends two runs of bytes, either may be empty, and up to one descriptor (fd, or -1 for none) on a stream socket; never
// raises SIGPIPE.
ssize_t coffer_send(int socket, const void *first, size_t first_count, const void *second, size_t second_count, int fd);

// Who has sent bytes, where the kernel tells.
struct coffer_sender {
    int is_known;
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

// Receives bytes and descriptors. Those that came are stored in fds, close-on-exec, and counted in *nfds; what did not
// fit there was dropped by the kernel, and *truncated is set. Control messages of other kinds than SCM_RIGHTS and
// SCM_CREDENTIALS are ignored.
ssize_t coffer_receive(int socket, void *bytes, size_t count, int *fds, int capacity, int *nfds, int *truncated,
                       struct coffer_sender *sender);

// The type of a descriptor's file (S_IFREG, ...), as the kernel knows it: the file system is not asked.
int coffer_kind_of(int fd);
// Whether a descriptor is an open /dev/fuse. -1 if the kernel can't tell.
int coffer_is_kernel_files(int fd);

// The file at a path, as the kernel knows it. The last component is followed if it is a link of /proc.
int coffer_file_id(const char *path, uint64_t *device, uint64_t *inode);
// The same of a path without links, if the kernel knows each component of it: no file system is asked. -1 with EAGAIN if it
// does not.
int coffer_known_file_id(const char *path, uint64_t *device, uint64_t *inode);

// Makes a pipe, close-on-exec, with that capacity where the user may have it.
int coffer_pipe(int ends[2], int capacity);

// Moves bytes from a pipe to another one without waiting. Returns their number; -1 with EINVAL if that is no pipe, whatever
// file system it is on: it is asked for nothing.
ssize_t coffer_move_to_pipe(int from, int to, size_t count);

// Moves bytes between two descriptors, one of them a pipe, within the kernel. -1 with EINVAL where a file can't do that.
ssize_t coffer_splice(int from, int to, size_t count);
// Copies at most a page between two descriptors, by memory that is wiped; waits where one does not block.
ssize_t coffer_copy(int from, int to, size_t count);

// Has the kernel tell of all that is sent to a socket, or to those that it will accept, who has sent it.
int coffer_pass_credentials(int socket);

// The peer of a connected socket, as the kernel saw it connect.
int coffer_peer_credentials(int socket, pid_t *pid, uid_t *uid, gid_t *gid);

// The supplementary groups of the peer, as the kernel saw it connect, and how many there are. -1 with ERANGE where they do
// not fit.
int coffer_peer_groups(int socket, gid_t *groups, int capacity);

// A descriptor of the process that connected, close-on-exec. -1 with ENOPROTOOPT where the kernel can't tell.
int coffer_peer_process(int socket);
// A descriptor of the process that has a number now, close-on-exec.
int coffer_process_open(pid_t process);
// Whether the process of a descriptor has not ended: 1 or 0; -1 with errno.
int coffer_process_is_running(int process);

// Accepts a connection, non-blocking and close-on-exec.
int coffer_accept(int listener);

// Descriptors of the event loop, all close-on-exec and non-blocking.
int coffer_epoll_create(void);
int coffer_eventfd(void);
// Blocks the signals given and reports them through the descriptor.
int coffer_signalfd(const int *signals, int count);
// Whether a signal would do nothing: the process that started us had it ignored.
int coffer_signal_is_ignored(int signal);
// The next signal of a signalfd, or 0.
int coffer_signalfd_read(int fd);
// A one-shot timer on CLOCK_BOOTTIME: armed at an absolute time in nanoseconds, disarmed with 0.
int coffer_timerfd(void);
int coffer_timerfd_set(int fd, uint64_t nanoseconds);

// No core dump, no ptrace by the same user, no handlers that print memory when the process crashes, no new privileges; all the
// descriptors and locked memory that the limits allow. 0, or -1 if any of it failed.
int coffer_harden_process(void);

// Fills the places of standard streams that were closed, so that no other descriptor is taken for one.
int coffer_open_standard_streams(void);

// Whether a peer's descriptor is ready for events (POLLIN, POLLOUT), or stop is readable; waits without limit.
// 1: ready; 0: stopped; -1: errno.
int coffer_wait_ready(int fd, short events, int stop);

// Memory behind a descriptor that can be sealed, close-on-exec.
int coffer_memory_create(const char *name);
// Fixes size and contents of such memory for good. 0, or -1.
int coffer_memory_seal(int fd);
// Whether a descriptor is memory with those seals.
int coffer_memory_is_sealed(int fd);

// The flag of a descriptor that names a place and opens nothing: a macro that Swift does not see.
extern const int coffer_o_path;

// open(2) relative to a directory, close-on-exec; the variadic mode spelled out.
int coffer_openat(int directory, const char *path, int flags, mode_t mode);

// openat2(2) below a directory, close-on-exec: no component may be a symbolic link, and none leads out of it.
int coffer_open_beneath(int directory, const char *path, int flags);

// Lets two names change places, atomically.
int coffer_exchange(int directory, const char *name, int other_directory, const char *other_name);

/// Turns a range of a file into zeros that take no space, where the file system can do that.
int coffer_punch(int file, int64_t offset, int64_t count);

// Makes a file in a directory that has no name yet, for its owner to write, close-on-exec. -1 where the file system can't, or
// where it could not be given a name later.
int coffer_create_nameless(int directory);
// Gives such a file its name. -1 with EEXIST where there is one.
int coffer_name(int file, int directory, const char *name);
// Moves a file to a name that must be free: -1 with EEXIST where it is not.
int coffer_rename_new(int directory, const char *name, const char *new_name);

// Writes all that a file's file system has not written yet.
int coffer_sync_file_system(int file);

// Has the signals that end a process remove a file first: one file of the process at a time, and the descriptor of its directory
// has to stay open. The one state that is kept here, because a handler has no other way to it.
void coffer_remove_when_killed(int directory, const char *name);
// Has them act as before.
void coffer_keep_when_killed(void);

// Reads at an offset what is in memory already, and not from the disk: fewer bytes, or -1 with EAGAIN, where it is not; -1
// with EOPNOTSUPP where the file system can't tell.
ssize_t coffer_read_cached(int file, void *bytes, size_t count, off_t offset);

// Has the kernel begin to write a part of a file to the disk, without waiting for it.
int coffer_start_writing(int file, off_t offset, off_t count);

// Whether the file system of a path has no disk: tmpfs or ramfs.
int coffer_is_in_memory(const char *path);

// Gives memory that was freed back to the system; glibc keeps it otherwise.
void coffer_heap_trim(void);

// Starts a program, found in PATH, in a session of its own, in the root directory, without any of our
// descriptors. Its pid, or -1.
pid_t coffer_spawn_detached(const char *path, char *const *arguments);

// The environment of this process, up to a null pointer: a variable that Swift does not let touch.
char **coffer_environment(void);

// Starts a program, found in PATH, with the descriptors given as its streams, one more as its descriptor 3 unless that is -1,
// and without any other of ours. No signal is blocked in it. Its pid, or -1.
pid_t coffer_spawn_tool(const char *path, char *const *arguments, int input, int output, int errors, int fourth);

// Starts a program with an environment of its own, with the streams given and all descriptors that are not close-on-exec.
// Signals are blocked and ignored as here, except that those given are not blocked. Its pid, or -1.
pid_t coffer_spawn_relayed(const char *path, char *const *arguments, char *const *environment, int output, int errors,
                           const int *held, int held_count);

// Makes a pipe, close-on-exec, whose reading end does not block. If a stream is a terminal, a terminal with its settings and
// its size takes the place of the pipe; it changes nothing of what is written, and controls no process.
int coffer_open_relay(int stream, int ends[2]);
// Gives one terminal the size of another.
void coffer_copy_window_size(int from, int to);

// The next signal of a signalfd, or 0; and whether the kernel has sent it, as for the keys of a terminal.
int coffer_signalfd_take(int fd, int *is_from_kernel);

// Ends the process as a signal does by default, without a core dump.
void coffer_end_by_signal(int signal);

// How many columns of a terminal a character takes; -1 for one that is not printed, or that the locale does not know.
int coffer_column_count(uint32_t character);

#endif
