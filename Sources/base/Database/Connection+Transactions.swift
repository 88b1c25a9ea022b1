extension Connection {
    /// Runs a closure in a transaction, which is committed or rolled back as a whole.
    ///
    /// On its own, it is on the disk when this returns. Inside another transaction or a batch it is a savepoint: an
    /// error rolls back only what `body` did, and the commit of the outermost one writes it to the disk.
    ///
    /// - Parameter body: The closure. If it throws, the transaction is rolled back.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or of the commit, which is then rolled back; `batchLost` instead if SQLite gave
    ///   up the outer transaction, so that everyone who took part in it must be notified.
    package func transaction<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        let isOutermost = level == 0
        if isOutermost { unreadable = nil }
        try isOutermost ? execute("BEGIN IMMEDIATE") : execute("SAVEPOINT inner")
        level += 1
        do {
            let result = try body()
            try isOutermost ? execute("COMMIT") : execute("RELEASE inner")
            level -= 1
            return result
        } catch {
            try isOutermost ? undoAll() : undoInner()
            throw error
        }
    }

    /// Begins a batch of transactions that share one commit, and so one sync of the disk.
    ///
    /// - Throws: `misuse` if a batch or a transaction is open; SQLite's error.
    package func beginBatch() throws(DatabaseError) {
        guard level == 0 else { throw .misuse("a batch inside a transaction") }
        unreadable = nil
        try execute("BEGIN IMMEDIATE")
        level = 1
        isInBatch = true
    }

    /// Commits everything since ``beginBatch()``.
    ///
    /// - Parameter isDeferred: Whether it may be synced with a later commit, or by ``syncDeferredCommits()``, where
    ///   ``permitDeferredCommits(after:)`` has permitted that. It survives the process, and not a power cut.
    /// - Throws: `misuse` if no batch is open, or a transaction is open in it. After any other error, the batch is over
    ///   and this connection has rolled it back. Unless the error is ``DatabaseError/isCertain``, the disk may still
    ///   hold the batch: if the process dies before the next commit, the whole batch may be there when the file is
    ///   opened again.
    package func commitBatch(isDeferred: Bool = false) throws(DatabaseError) {
        try expectBatch()
        let isDeferred = unsafe isDeferred && logWatch.beginDeferring(handle)
        defer { unsafe logWatch.endDeferring(handle) }
        do {
            try execute("COMMIT")
            if !isDeferred { logWatch.didSync() }
            endBatch()
        } catch {
            try undoAll()
            throw error
        }
    }

    /// Rolls back everything since ``beginBatch()``.
    ///
    /// - Throws: `misuse` if no batch is open, or a transaction is open in it; SQLite's error.
    package func rollbackBatch() throws(DatabaseError) {
        try expectBatch()
        try undoAll()
    }

    /// Refuses to continue after the transaction was lost: each statement would then be a transaction of its own.
    func checkForLoss() throws(DatabaseError) {
        guard level > 0, loss != nil || isInAutocommit else { return }
        throw lossError
    }

    private var lossError: DatabaseError {
        let cause = loss ?? .misuse("the transaction was ended from within")
        let message = "the whole transaction is undone: \(cause.message)"
        return DatabaseError(.batchLost, code: cause.code, systemCode: cause.systemCode, message)
    }

    private func expectBatch() throws(DatabaseError) {
        guard isInBatch else { throw .misuse("no batch is open") }
        guard level == 1 else { throw .misuse("a transaction is open in the batch") }
    }

    private func endBatch() {
        level = 0
        isInBatch = false
        loss = nil
    }

    private func undoAll() throws(DatabaseError) {
        endBatch()
        if !isInAutocommit { try execute("ROLLBACK") }
    }

    private func undoInner() throws(DatabaseError) {
        level -= 1
        try checkForLoss()
        do {
            try execute("ROLLBACK TO inner")
            try execute("RELEASE inner")
        } catch {
            // The changes of this transaction are mixed with those of the others, and can't be separated any more.
            loss = error
            throw lossError
        }
    }
}
