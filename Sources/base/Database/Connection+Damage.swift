extension Connection {
    /// Runs a closure in a transaction, which is undone if it meets damage: the doctor finds it.
    ///
    /// - Throws: Any other error of the closure.
    package func unlessDamaged(_ body: () throws -> Void) throws {
        do { try transaction(body) } catch let error where error.isDamage {}
    }

    /// Calls a closure for the numbers of a list, each of which is removed then, even if its row is damaged.
    ///
    /// - Parameters:
    ///   - first: A statement that returns one number of the list.
    ///   - remove: A statement that removes a number, its binding.
    ///   - isEnough: Called after each number; whether to stop for now.
    /// - Returns: Whether the list is empty.
    package func workOff(
        first: StaticString,
        remove: StaticString,
        until isEnough: () -> Bool,
        _ body: (Int64) throws -> Void
    ) throws -> Bool {
        func next() throws -> Int64? { try row(first) { try $0.integer(0) } }
        while let number = try next() {
            // The doctor finds the damage.
            do { try body(number) } catch let error where error.isDamage {}
            try execute(remove, .integer(number))
            if isEnough() { return try next() == nil }
        }
        return true
    }
}
