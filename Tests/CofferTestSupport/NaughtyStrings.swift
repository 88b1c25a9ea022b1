import Foundation

/// The strings of `Tests/Vectors/naughty-strings.txt`, without duplicate bytes.
package enum NaughtyStrings {
    package static let all: [String] = {
        let text = try? String(contentsOfFile: "\(Project.root)/Tests/Vectors/naughty-strings.txt", encoding: .utf8)
        var seen: Set<[UInt8]> = []
        return (text ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            let string = try? JSONDecoder().decode(String.self, from: Data(line.utf8))
            guard let string, seen.insert(Array(string.utf8)).inserted else { return nil }
            return string
        }
    }()

    /// The strings in portions, because a query scans all items.
    package static let portions = stride(from: 0, to: all.count, by: 32).map {
        Array(all[$0..<min($0 + 32, all.count)])
    }
}

extension String {
    /// The bytes in Unicode's normalisation form C, from an independent implementation.
    package var composed: [UInt8] { Array(precomposedStringWithCanonicalMapping.utf8) }
}
