import CofferCore
import Foundation

/// A violation of what a campaign expects.
struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws a fault if a condition is false.
func expect(_ holds: Bool, _ fault: @autoclosure () -> String) throws {
    if !holds { throw Fault(fault()) }
}

/// An error as one line.
func inWords(_ error: any Error) -> String {
    (error as? CofferError).map { "\($0.code.rawValue): \($0.message)" } ?? "\(error)"
}

/// Counts the cases and prints the faults.
final class Report {
    /// The number of cases, and the seed.
    let count: Int
    let seed: UInt64
    private let name: String
    private let only: Int?
    private var triedCount = 0
    private var badCount = 0
    private var current: Int?
    private var leftOut = [Int](repeating: 0, count: KnownFault.all.count)
    private var figures: [String: Int] = [:]
    private let deadline: ContinuousClock.Instant

    init(_ name: String, count: Int, seed: UInt64, only: Int?) {
        self.name = name
        self.count = count
        self.seed = seed
        self.only = only
        let seconds = ProcessInfo.processInfo.environment[Self.secondsVariable].flatMap { Int($0) } ?? 0
        deadline = .now + .seconds(seconds)
    }

    /// The environment variable with how long there are further cases; `packaging/tools/fuzz` sets it.
    private static let secondsVariable = "COFFER_CAMPAIGN_SECONDS"

    /// The indices of the cases: so many, and more of them until the time is over.
    var cases: LazyPrefixWhileSequence<PartialRangeFrom<Int>> {
        let first = only ?? 0
        let end = only.map { $0 + 1 } ?? count
        return (first...).lazy.prefix { [deadline, only] number in
            number < end || (only == nil && ContinuousClock.now < deadline)
        }
    }

    /// The generator of a case, which does not depend on earlier cases.
    func generator(of number: Int) -> Generator { Generator(seed: seed, UInt64(number)) }

    /// Runs a case.
    ///
    /// - Returns: Whether it found no fault.
    @discardableResult func attempt(_ number: Int, _ body: () throws -> Void) -> Bool {
        triedCount += 1
        current = number
        defer { current = nil }
        let before = badCount
        Watchdog.shared.begin("seed \(seed), case \(number): no answer within \(Watchdog.seconds) s")
        defer { Watchdog.shared.end() }
        do { try body() } catch { add(inWords(error)) }
        return badCount == before
    }

    /// Prints a fault, unless it is a known one.
    func add(_ text: String) {
        let known = KnownFault.all.firstIndex { $0.campaign == name && text.contains($0.pattern) }
        if let known { return leftOut[known] += 1 }
        badCount += 1
        print("bad: seed \(seed), \(current.map { "case \($0)" } ?? "outside of a case"): \(text)")
        fflush(nil)
        let command = "repeat: packaging/tools/campaign \(name)"
        if let current, !["backups", "kills", "mounted"].contains(name) {
            print("\(command) 1 \(seed) \(current)")
        } else {
            print("\(command) \(count) \(seed) (the instants of the kills are the machine's)")
        }
    }

    /// Adds to a figure of the last line.
    func tally(_ figure: String, _ count: Int = 1) { figures[figure, default: 0] += count }

    /// Prints the figures.
    ///
    /// - Returns: The exit code.
    func finish() -> Int32 {
        for (fault, count) in zip(KnownFault.all, leftOut) where fault.campaign == name {
            print("left out: \(count) of a known fault: \(fault.sentence)")
        }
        let rest = figures.sorted { $0.key < $1.key }.map { ", \($0.key) \($0.value)" }.joined()
        print("\(name): tried \(triedCount), bad \(badCount)\(rest)")
        if triedCount == 0 { return 1 }
        return badCount == 0 ? 0 : 1
    }
}

/// Ends the campaign if a request gets no answer.
final class Watchdog: @unchecked Sendable {
    static let seconds = 120
    static let shared = Watchdog()

    // Sendable: the lock guards all of it.
    private let lock = NSLock()
    private var deadline: ContinuousClock.Instant?
    private var text = ""

    private init() {
        Thread { [self] in
            while true {
                sleep(1)
                look()
            }
        }.start()
    }

    func begin(_ text: String) {
        lock.withLock {
            self.text = text
            deadline = .now + .seconds(Self.seconds)
        }
    }

    func end() { lock.withLock { deadline = nil } }

    private func look() {
        lock.withLock {
            guard let deadline, ContinuousClock.now > deadline else { return }
            print("bad: \(text)")
            fflush(nil)
            _exit(1)
        }
    }
}
