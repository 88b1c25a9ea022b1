/// A known fault that is not fixed yet: it is counted, and reported at the end of each run.
struct KnownFault: Sendable {
    let campaign: String
    /// A part of the fault's text.
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
