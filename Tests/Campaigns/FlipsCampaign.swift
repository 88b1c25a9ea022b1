import CofferTestSupport
import Foundation

/// Changed bytes in the state directory: flipped, zeroed, truncated or appended.
///
/// Damage is reported or has no effect. It never changes a content, and no item is missing without a report.
enum FlipsCampaign {
    static func run(_ report: Report) throws {
        var random = report.generator(of: .max)
        let vaults = try SampleVault.Ending.allCases.map { try SampleVault($0, &random) }
        for vault in vaults { try vault.expectWhole() }
        for number in report.cases {
            report.attempt(number) {
                var random = report.generator(of: number)
                let vault = random.pick(vaults)
                try attack(vault, &random, report)
            }
        }
    }

    private static func attack(_ vault: SampleVault, _ random: inout Generator, _ report: Report) throws {
        let directory = try copyState(vault.statePath)
        let statePath = directory.appending("state")
        let file = try pickFile(statePath, &random)
        let change = try Change(of: "\(statePath)/\(file)", &random)
        try change.make(at: "\(statePath)/\(file)")
        do {
            let daemon = try DaemonProcess(in: directory, launchedBy: DaemonProcess.endingWithUs)
            let found = try vault.inspect(daemon)
            report.tally(found.hasNothing ? "harmless" : "named")
        } catch {
            throw Fault("\(file): \(change): \(inWords(error))")
        }
    }

    /// Picks the catalog and its log as often as all other files together.
    private static func pickFile(_ statePath: String, _ random: inout Generator) throws -> String {
        let paths = try filePaths(in: statePath)
        let catalog = paths.filter { $0.hasPrefix("vault.sqlite") }
        return random.chance(0.5) ? random.pick(catalog) : random.pick(paths)
    }

    /// A change of a file.
    private struct Change: CustomStringConvertible {
        let description: String
        private let bytes: [UInt8]

        init(of path: String, _ random: inout Generator) throws {
            var bytes = Array(try Data(contentsOf: URL(filePath: path)))
            let place = bytes.isEmpty ? 0 : random.below(bytes.count)
            let count = min(bytes.count - place, random.pick([1, 16, 512, 4096]))
            switch bytes.isEmpty ? 6 : random.below(7) {
            case 0, 1, 2:
                let bit = random.below(8)
                bytes[place] ^= 1 << bit
                description = "bit \(bit) of byte \(place) flipped"
            case 3:
                bytes.replaceSubrange(place..<(place + count), with: repeatElement(0, count: count))
                description = "\(count) bytes from \(place) on zeroed"
            case 4:
                bytes.replaceSubrange(place..<(place + count), with: random.content(count))
                description = "\(count) bytes from \(place) on written over"
            case 5:
                bytes.removeLast(bytes.count - place)
                description = "cut off to \(place) bytes"
            default:
                let added = random.below(5000) + 1
                bytes += random.chance(0.5) ? random.content(added) : [UInt8](repeating: 0, count: added)
                description = "\(added) bytes added"
            }
            self.bytes = bytes
        }

        /// Writes the change in place, which keeps owner and mode.
        func make(at path: String) throws {
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: bytes)
            try file.close()
        }
    }
}
