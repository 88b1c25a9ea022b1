/// A fault that is known and not yet mended: it is counted, and told at the end of each run.
struct KnownFault: Sendable {
    let campaign: String
    /// A part of what the campaign says of it.
    let pattern: String
    let sentence: String

    static let all = [
        KnownFault(
            campaign: "calls",
            pattern: "in initialization: the refusal",
            sentence: "an init is refused, and the vault is there"
        ),
        KnownFault(
            campaign: "calls",
            pattern: "refused with decode: can't read the vault",
            sentence: "a read that fails is told as damage"
        ),
        KnownFault(
            campaign: "flips",
            pattern: "vault.sqlite-wal:",
            sentence: "a byte changed in the log takes back what was acknowledged, and nothing says so"
        ),
        KnownFault(
            campaign: "flips",
            pattern: "missing, and nothing says so",
            sentence: "damage in an index hides an item, and nothing says so"
        ),
        KnownFault(
            campaign: "flips",
            pattern: ": internal: ",
            sentence: "damage of the schema is told as a fault of the daemon"
        ),
        KnownFault(
            campaign: "power",
            pattern: ", eachDirectory,",
            sentence: "where directories have no journal, a content is lost between two of them"
        ),
        KnownFault(
            campaign: "rows",
            pattern: "openrpc.json does not describe this: /values/",
            sentence: "a former value is listed by a number that the protocol does not have"
        ),
        KnownFault(
            campaign: "rows",
            pattern: ": internal: ",
            sentence: "damage of the schema is told as a fault of the daemon"
        ),
    ]
}
