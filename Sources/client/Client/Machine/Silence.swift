/// The time for which the daemon owes an answer and is silent.
///
/// A request may take long; a daemon that works on it still answers a `hello` at once. So it is asked whether it is there
/// after half the permitted time.
struct Silence {
    /// The action that is due.
    enum Demand {
        case probe
        /// The connection ends.
        case loss(after: Duration)
    }

    /// How long it may last; `nil` for ever.
    private let limit: Duration?
    /// When the daemon was last heard, or began to owe an answer.
    private var lastHeard: ClientMachine.Instant?
    /// When the daemon must have been heard after it was asked whether it is there.
    private var probeEnds: ClientMachine.Instant?

    init(limit: Duration?) { self.limit = limit }

    /// The time at which an action is due.
    var deadline: ClientMachine.Instant? {
        guard let limit, let lastHeard else { return nil }
        return probeEnds ?? lastHeard + limit / 2
    }

    mutating func end(at now: ClientMachine.Instant) {
        lastHeard = now
        probeEnds = nil
    }

    mutating func demand(at now: ClientMachine.Instant) -> Demand? {
        guard let limit, let deadline, deadline <= now else { return nil }
        if probeEnds != nil { return .loss(after: limit) }
        probeEnds = now + limit / 2
        return .probe
    }
}
