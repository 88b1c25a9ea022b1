package import ArgumentParser

// Each option is named as a person types it, with whether it was given.

extension ParsableArguments {
    /// Refuses options of two sets: the sets exclude each other, and the options of a set go together.
    package func exclude(_ sets: KeyValuePairs<String, Bool>...) throws {
        let given = sets.compactMap { set in set.first(where: \.value)?.key }
        guard given.count > 1 else { return }
        throw ValidationError("\(given[0]) and \(given[1]) can't be combined")
    }

    /// Refuses options that change nothing without another one.
    package func require(
        _ option: String,
        _ isGiven: Bool,
        for options: KeyValuePairs<String, Bool>
    ) throws {
        guard !isGiven, let dependent = options.first(where: \.value)?.key else { return }
        throw ValidationError("\(dependent) needs \(option)")
    }
}
