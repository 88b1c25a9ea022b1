package import ArgumentParser

// Each option is named as a person types it, with whether it was given.

extension ParsableArguments {
    /// Refuses options of different sets; those of one set may be combined.
    ///
    /// - Parameters:
    ///   - sets: The sets.
    ///   - reason: Why, for the error, where the names of the options do not show it.
    package func exclude(_ sets: KeyValuePairs<String, Bool>..., because reason: String? = nil) throws {
        let given = sets.compactMap { set in set.first(where: \.value)?.key }
        guard given.count > 1 else { return }
        throw ValidationError("\(given[0]) and \(given[1]) can't be combined" + (reason.map { ": \($0)" } ?? ""))
    }

    /// Refuses options that have no effect without another one.
    package func require(_ option: String, _ isGiven: Bool, for options: KeyValuePairs<String, Bool>) throws {
        guard !isGiven, let dependent = options.first(where: \.value)?.key else { return }
        throw ValidationError("\(dependent) needs \(option)")
    }
}
