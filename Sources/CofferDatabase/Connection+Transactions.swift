extension Connection {
    /// Does all of something or nothing of it.
    ///
    /// On its own it is on the disk when this returns. Inside another transaction or a batch it is a savepoint: an error
    /// undoes what `body` did and no more, and the disk sees it when the outermost one ends.
    ///
    /// - Parameter body: What to do. If it throws, nothing of it stays.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; what the commit throws, and then nothing of it stays; `batchLost` instead of either
    ///   where SQLite gave up the transaction around this one, so that all who took part in it have to be told.
    package func transaction<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        let isOutermost = level == 0
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

    /// Begins to gather transactions that are to share one commit, and so one sync of the disk.
    ///
    /// - Throws: `misuse` where a batch or a transaction is open; what SQLite answered.
    package func beginBatch() throws(DatabaseError) {
        guard level == 0 else { throw .misuse("a batch inside a transaction") }
        try execute("BEGIN IMMEDIATE")
        level = 1
        isInBatch = true
    }

    /// Puts all that was done since ``beginBatch()`` on the disk.
    ///
    /// - Throws: `misuse` where no batch is open, or a transaction is open in it; otherwise, whatever it throws, the
    ///   batch is over and this connection has undone all of it. If not ``DatabaseError/isCertain``, the disk may still hold it: if the
    ///   process dies before the next commit, the whole batch may be there when the file is opened again.
    package func commitBatch() throws(DatabaseError) {
        try expectBatch()
        do {
            try execute("COMMIT")
            endBatch()
        } catch {
            try undoAll()
            throw error
        }
    }

    /// Undoes all that was done since ``beginBatch()``.
    ///
    /// - Throws: `misuse` where no batch is open, or a transaction is open in it; what SQLite answered.
    package func rollbackBatch() throws(DatabaseError) {
        try expectBatch()
        try undoAll()
    }

    /// Refuses to go on after the transaction is gone: each statement would then be a transaction of its own.
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
            // What this transaction did is still among what the others did, and can't be told apart any more.
            loss = error
            throw lossError
        }
    }
}
