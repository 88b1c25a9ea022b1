package import CofferCore
package import CofferKeys
internal import CofferSystem

/// What the recovery keys of a vault are for, and when they were made, by the numbers of their keyslots.
///
/// It is sealed as the record of the backup is, so that it can be read in every state. A label is no part of what opens
/// the vault: without one, the keyslot is listed alone.
package struct KeyslotLabels {
    private static let version: UInt8 = 1

    private struct Label {
        let number: UInt8
        let made: Int64
        let text: String
    }

    private var labels: [Label] = []

    /// Adds what belongs to each keyslot.
    package func described(_ slots: [KeyslotInfo]) -> [KeyslotInfo] {
        slots.map { slot in
            let label = labels.first { Int($0.number) == slot.number && slot.kind == .recoveryKey }
            guard let label else { return slot }
            let text = label.text.isEmpty ? nil : label.text
            return KeyslotInfo(number: slot.number, kind: slot.kind, made: label.made, label: text)
        }
    }

    /// Records a keyslot that was made now.
    package mutating func set(_ text: String?, for number: Int) {
        remove(number)
        labels.append(Label(number: UInt8(clamping: number), made: wallClockMilliseconds(), text: text ?? ""))
    }

    /// Forgets a keyslot.
    package mutating func remove(_ number: Int) { labels.removeAll { Int($0.number) == number } }

    fileprivate init() {}

    fileprivate var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(UInt8(clamping: labels.count))
        for label in labels {
            writer.write(label.number)
            writer.write(label.made)
            writer.write(UInt16(clamping: label.text.utf8.count))
            writer.write(raw: Array(label.text.utf8))
        }
        return writer.bytes
    }

    fileprivate init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        let count: UInt8 = try reader.read()
        for _ in 0..<count {
            let (number, made) = (try reader.read(UInt8.self), try reader.read(Int64.self))
            let byteCount = Int(try reader.read(UInt16.self))
            let text = String(decoding: try reader.readRaw(byteCount), as: UTF8.self)
            labels.append(Label(number: number, made: made, text: text))
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

extension Catalog {
    /// The labels of the keyslots; none if they can't be read, since nothing depends on them.
    package func keyslotLabels(_ keys: VaultKeys) throws -> KeyslotLabels {
        guard let stored = try setting(.keyslots), let opened = try? keys.open(slotLabels: stored),
            let labels = try? KeyslotLabels(decoding: opened)
        else { return KeyslotLabels() }
        return labels
    }

    /// Stores the labels of the keyslots, within the open transaction.
    package func store(_ labels: KeyslotLabels, _ keys: VaultKeys) throws {
        try store(keys.seal(slotLabels: labels.encoded), as: .keyslots)
    }
}
