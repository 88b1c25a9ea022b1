// Writes the frames of SQLite's log in one system call, where SQLite makes two for each page, and has the file grow ahead of
// them: a sync of a file that has grown takes two to three times as long as one of bytes that were overwritten.
#ifndef COFFER_LOG_WRITER_H
#define COFFER_LOG_WRITER_H

struct sqlite3;

// Has the log of an open database gather adjoining writes, up to so many bytes, until it is synced, read, measured, cut or
// closed. A failure is reported there; what was gathered is dropped then, and SQLite rolls back. It must be called on the
// thread of the connection, after SQLite has opened the log. Returns SQLite's result code.
int coffer_gather_log_writes(struct sqlite3 *database, int capacity);

// Has the log of an open database only write what SQLite asks it to sync, or sync it again. Both may be called only after
// coffer_gather_log_writes, on the same thread. Returns SQLite's result code.
int coffer_defer_log_syncs(struct sqlite3 *database, int defers);

// Syncs the log of an open database, with what was only written.
int coffer_sync_log(struct sqlite3 *database);

#endif
