// Writes the frames of SQLite's log in one system call, where SQLite makes two for each page.
#ifndef COFFER_LOG_WRITER_H
#define COFFER_LOG_WRITER_H

struct sqlite3;

// Has the log of an open database gather adjoining writes, up to so many bytes, until it is synced, read, measured, cut or
// closed. A failure is reported there; what was gathered is dropped then, and SQLite rolls back. It must be called on the
// thread of the connection, after SQLite has opened the log. Returns SQLite's result code.
int coffer_gather_log_writes(struct sqlite3 *database, int capacity);

#endif
