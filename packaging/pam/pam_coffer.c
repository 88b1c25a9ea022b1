// pam_coffer.so: unlocks a user's vault with the login password, and changes its passcode with passwd(1).
//
//   auth      keeps the entered password; with "unlock", as for a lock screen, unlocks with it immediately
//   session   unlocks with the password, and wipes it
//   password  changes the passcode when the password is changed
//
// It never prompts, and always returns PAM_IGNORE: a login succeeds or fails as it would without it. "coffer login" does the
// work, as the user, with the passwords in pipes, and within a time: timeout=SECONDS, 10 by default.
// program=PATH names a program other than /usr/bin/coffer.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>

enum { secret_room = 4096, words_room = 1024, most_groups = 1024, default_seconds = 10, most_seconds = 60 };

static const char remembered[] = "coffer-password";
static const char remembered_new[] = "coffer-new-password";

struct options {
    const char *program;
    int seconds;
    int unlocks;
};

static struct options read_options(pam_handle_t *pamh, int argc, const char **argv) {
    struct options options = {.program = "/usr/bin/coffer", .seconds = default_seconds};
    for (int index = 0; index < argc; index++) {
        const char *option = argv[index];
        char *end = NULL;
        if (strncmp(option, "program=/", 9) == 0) {
            options.program = option + 8;
        } else if (strcmp(option, "unlock") == 0) {
            options.unlocks = 1;
        } else if (strncmp(option, "timeout=", 8) == 0) {
            long seconds = strtol(option + 8, &end, 10);
            if (*end == 0 && seconds >= 1 && seconds <= most_seconds) options.seconds = (int)seconds;
        } else {
            pam_syslog(pamh, LOG_ERR, "unknown option %s", option);
        }
    }
    return options;
}

// Kept passwords

static void forget(pam_handle_t *pamh, void *data, int status) {
    (void)pamh, (void)status;
    if (data == NULL) return;
    explicit_bzero(data, secret_room);
    munmap(data, secret_room);
}

// Copies a password to memory that is neither swapped nor dumped. It may be inherited: some programs open the session in
// another process than the one that asked.
static void *copied(const char *secret) {
    size_t count = strlen(secret);
    if (count == 0 || count >= secret_room) return NULL;
    char *memory = mmap(NULL, secret_room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    mlock(memory, secret_room);
    madvise(memory, secret_room, MADV_DONTDUMP);
    memcpy(memory, secret, count + 1);
    return memory;
}

static void remember(pam_handle_t *pamh, const char *name, const char *secret) {
    void *copy = copied(secret);
    if (copy != NULL && pam_set_data(pamh, name, copy, forget) != PAM_SUCCESS) forget(pamh, copy, 0);
}

static const char *recall(pam_handle_t *pamh, const char *name) {
    const void *data = NULL;
    return pam_get_data(pamh, name, &data) == PAM_SUCCESS ? data : NULL;
}

static const char *given(pam_handle_t *pamh, int item) {
    const void *secret = NULL;
    return pam_get_item(pamh, item, &secret) == PAM_SUCCESS ? secret : NULL;
}

// The program that does it

struct person {
    struct passwd *entry;
    gid_t groups[most_groups];
    int group_count;
    char variables[6][512];
    char *environment[7];
};

static void set_variable(struct person *person, const char *name, const char *value) {
    for (size_t index = 0; index < 6; index++) {
        if (person->environment[index] != NULL) continue;
        int count = snprintf(person->variables[index], sizeof person->variables[index], "%s=%s", name, value);
        if (count < (int)sizeof person->variables[index]) person->environment[index] = person->variables[index];
        return;
    }
}

// Everything that the new process needs, prepared before the fork.
static int find_person(pam_handle_t *pamh, struct person *person) {
    const char *name = NULL;
    memset(person, 0, sizeof *person);
    if (pam_get_user(pamh, &name, NULL) != PAM_SUCCESS || name == NULL) return -1;
    person->entry = pam_modutil_getpwnam(pamh, name);
    if (person->entry == NULL) return -1;
    person->group_count = most_groups;
    if (getgrouplist(name, person->entry->pw_gid, person->groups, &person->group_count) < 0) return -1;
    char runtime[64];
    snprintf(runtime, sizeof runtime, "/run/user/%lu", (unsigned long)person->entry->pw_uid);
    const char *given_runtime = pam_getenv(pamh, "XDG_RUNTIME_DIR");
    const char *configuration = pam_getenv(pamh, "XDG_CONFIG_HOME");
    set_variable(person, "HOME", person->entry->pw_dir);
    set_variable(person, "LOGNAME", person->entry->pw_name);
    set_variable(person, "USER", person->entry->pw_name);
    set_variable(person, "PATH", "/usr/local/bin:/usr/bin:/bin");
    set_variable(person, "XDG_RUNTIME_DIR", given_runtime != NULL ? given_runtime : runtime);
    if (configuration != NULL) set_variable(person, "XDG_CONFIG_HOME", configuration);
    return 0;
}

// Drops the privileges of the calling program that the user does not have.
static int become(const struct person *person) {
    uid_t user = person->entry->pw_uid;
    gid_t group = person->entry->pw_gid;
    // A lock screen already runs as the user.
    if (geteuid() == 0 && setgroups((size_t)person->group_count, person->groups) < 0) return -1;
    if (setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0) return -1;
    return 0;
}

// In the new process: moves descriptors to their numbers, from standard error on, closes all others, and executes the program.
static void carry_out(
    const struct person *person, const char *program, char *const *arguments, const int *descriptors, int count) {
    int moved[3];
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) _exit(126);
    for (int index = 0; index < count; index++)
        if ((moved[index] = fcntl(descriptors[index], F_DUPFD_CLOEXEC, 16)) < 0) _exit(126);
    for (int index = 0; index < count; index++)
        if (dup2(moved[index], 2 + index) < 0) _exit(126);
    closefrom(2 + count);
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (become(person) < 0 || chdir("/") < 0) _exit(126);
    execve(program, arguments, person->environment);
    _exit(127);
}

// Waits for a process, and kills it when the time is over. Returns its status; -1 if it was killed or the status is unknown.
static int wait_for(pid_t process, int seconds) {
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    struct timespec now, end;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    for (;;) {
        pid_t ended = waitpid(process, &status, WNOHANG);
        if (ended == process) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (ended < 0 && errno != EINTR) return -1;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec)) break;
        nanosleep(&moment, NULL);
    }
    kill(process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return -1;
}

// The read end of a pipe that contains a secret. The whole secret fits into the pipe, so writing does not block.
static int pipe_with(const char *secret) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    size_t count = strlen(secret);
    if (count >= secret_room || write(ends[1], secret, count) != (ssize_t)count) {
        close(ends[0]);
        ends[0] = -1;
    }
    close(ends[1]);
    return ends[0];
}

// Writes the output line by line to the log and, if requested, to the user.
static void tell(pam_handle_t *pamh, int words, int is_silent) {
    char text[words_room];
    char *rest = NULL;
    fcntl(words, F_SETFL, O_NONBLOCK);
    ssize_t count = read(words, text, sizeof text - 1);
    if (count <= 0) return;
    text[count] = 0;
    for (ssize_t index = 0; index < count; index++)
        if ((text[index] >= 0 && text[index] < ' ' && text[index] != '\n') || text[index] == 127) text[index] = '?';
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        pam_syslog(pamh, LOG_NOTICE, "%s", line);
        if (!is_silent) pam_info(pamh, "coffer: %s", line);
    }
}

// Runs "coffer login VERB" as the user, with up to two secrets.
static void run(
    pam_handle_t *pamh, const struct options *options, char *verb, const char *secret, const char *new_secret,
    int is_silent) {
    struct person person;
    char *arguments[] = {"coffer", "login", verb, "--passcode-fd", "3", "--new-passcode-fd", "4", NULL};
    const char *secrets[] = {secret, new_secret};
    int words[2], descriptors[3], count = 0, status = -1;
    if (find_person(pamh, &person) < 0 || pipe2(words, O_CLOEXEC) < 0) return;
    descriptors[count++] = words[1];
    int is_complete = 1;
    for (int index = 0; index < 2 && secrets[index] != NULL && is_complete; index++) {
        is_complete = (descriptors[count] = pipe_with(secrets[index])) >= 0;
        count += is_complete;
    }
    arguments[1 + 2 * count] = NULL;
    // With another disposition, the status of the child process could not be read.
    struct sigaction standard = {.sa_handler = SIG_DFL}, before;
    sigaction(SIGCHLD, &standard, &before);
    pid_t process = is_complete ? fork() : -1;
    if (process == 0) carry_out(&person, options->program, arguments, descriptors, count);
    for (int index = 0; index < count; index++) close(descriptors[index]);
    if (process > 0) status = wait_for(process, options->seconds);
    sigaction(SIGCHLD, &before, NULL);
    if (status < 0 || status == 126 || status == 127)
        pam_syslog(pamh, LOG_WARNING, "%s was not run, or not done in %d s", options->program, options->seconds);
    tell(pamh, words[0], is_silent);
    close(words[0]);
}

// The module

int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct options options = read_options(pamh, argc, argv);
    const char *secret = given(pamh, PAM_AUTHTOK);
    (void)flags;
    if (secret == NULL) return PAM_IGNORE;
    if (options.unlocks)
        run(pamh, &options, "unlock", secret, NULL, 1);
    else
        remember(pamh, remembered, secret);
    return PAM_IGNORE;
}

int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    (void)pamh, (void)flags, (void)argc, (void)argv;
    return PAM_IGNORE;
}

int pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct options options = read_options(pamh, argc, argv);
    const char *secret = recall(pamh, remembered);
    const char *new_secret = recall(pamh, remembered_new);
    (void)flags;
    if (secret != NULL) run(pamh, &options, "unlock", secret, NULL, 1);
    if (secret != NULL && new_secret != NULL) run(pamh, &options, "change", secret, new_secret, 1);
    pam_set_data(pamh, remembered, NULL, NULL);
    pam_set_data(pamh, remembered_new, NULL, NULL);
    return PAM_IGNORE;
}

int pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    (void)pamh, (void)flags, (void)argc, (void)argv;
    return PAM_IGNORE;
}

int pam_sm_chauthtok(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    if (flags & PAM_PRELIM_CHECK) return PAM_IGNORE;
    struct options options = read_options(pamh, argc, argv);
    const char *old = given(pamh, PAM_OLDAUTHTOK);
    const char *new_secret = given(pamh, PAM_AUTHTOK);
    if (new_secret == NULL) return PAM_IGNORE;
    // An expired password is changed before there is a session in which the vault can be reached.
    if ((flags & PAM_CHANGE_EXPIRED_AUTHTOK) && old != NULL)
        remember(pamh, remembered_new, new_secret);
    else
        run(pamh, &options, "change", old, old == NULL ? NULL : new_secret, (flags & PAM_SILENT) != 0);
    return PAM_IGNORE;
}
