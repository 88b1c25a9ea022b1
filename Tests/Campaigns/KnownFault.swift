/// A fault that is known and not yet mended: it is counted, and told at the end of each run.
struct KnownFault: Sendable {
    let campaign: String
    /// A part of what the campaign says of it.
    let pattern: String
    let sentence: String

    static let all = [
        KnownFault(
            campaign: "rows",
            pattern: " is against minimum ",
            sentence: "a number below zero in a row is answered, and the protocol has none"
        )
    ]
}
