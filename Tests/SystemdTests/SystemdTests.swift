import Testing

/// The daemon under a real systemd.
///
/// All suites of this target are inside this one, so that they share a machine and run one after the other.
@Suite(
    .serialized,
    .enabled(if: Machine.obstacle == nil, Comment(rawValue: Machine.obstacle ?? "")),
    .machine,
    .timeLimit(.minutes(10))
)
struct SystemdTests {}
