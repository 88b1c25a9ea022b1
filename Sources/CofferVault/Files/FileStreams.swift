internal import CofferAccess
package import CofferCore
internal import CofferFiles
internal import CofferMemory
internal import CofferSystem
package import CofferWire
internal import Glibc

// Streams files with an overlay to a client in parts. The rows of a part are looked up when it is read.

extension Vault {
    /// Reads a file with an overlay, or a part of it.
    func getInParts(
        _ item: FileItem,
        _ params: ItemGetParameters,
        in group: String,
        to output: Held<OwnedDescriptor>,
        under lease: LeaseTerms?,
        _ call: Call
    ) throws(CofferError) -> Step {
        let store = try catalog.files
        call.subject = "can't read \(params.name.quoted)"
        return try openForStreaming(item, params.name, in: group, under: lease, store, call) { file in
            // The size of the opened file: another file may have taken the name meanwhile.
            let range = try Self.range(params, in: file.byteCount)
            guard let descriptor = output.take() else { return try self.collect(range, of: file, params.name, store) }
            let writing = StreamedFile(file, store, self, call)
            return try writing.stream(range, to: descriptor, params.wantsProgress) { count, _ in
                Reply(ItemGetResult(store: .file, byteCount: count, delivery: .descriptor))
            }
        }
    }

    /// Streams the readable parts of a damaged file, with zeros in place of the others.
    package func fileSalvage(_ params: FileSalvageParameters, _ call: Call) throws(CofferError) -> Step {
        guard let descriptor = try call.attachments.takeDescriptor() else {
            throw CofferError(.param, "no descriptor was passed that the content goes to")
        }
        try call.attachments.refuseLeftovers(of: .fileSalvage)
        let output = Held<OwnedDescriptor>(descriptor)
        let group = try call.caller.group(nil)
        call.subject = "can't salvage \(params.name.quoted)"
        do {
            let store = try catalog.files
            guard let item = try store.find(params.name, in: group) else {
                throw CofferError(.itemNotFound, "there is no file \(params.name.quoted)")
            }
            return try openForStreaming(item, params.name, in: group, salvaging: true, store, call) { file in
                guard let descriptor = output.take() else { throw CofferError.takenTwice }
                let writing = StreamedFile(file, store, self, call, salvaging: true)
                return try writing.stream(0..<file.byteCount, to: descriptor, params.wantsProgress) { count, damages in
                    Reply(
                        Salvage(
                            byteCount: count,
                            damagedByteCount: damages.byteCount,
                            damaged: damages.parts,
                            mayBeOlder: !file.hasItsRows
                        )
                    )
                }
            }
        } catch {
            throw .init(mapping: error, call.subject)
        }
    }

    /// Opens a file until the end of the request.
    private func openForStreaming(
        _ item: FileItem,
        _ name: ItemName,
        in group: String,
        salvaging: Bool = false,
        under lease: LeaseTerms? = nil,
        _ store: FileStore,
        _ call: Call,
        then next: @escaping (OpenFile) throws -> Step
    ) throws(CofferError) -> Step {
        do {
            return try open(item, name, in: group, for: .read, salvaging: salvaging, under: lease, store, call) {
                file in
                call.atEnd {
                    file.handleCount -= 1
                    store.close(file)
                }
                return try next(file)
            }
        } catch {
            throw .init(mapping: error, "can't read \(name.quoted)")
        }
    }

    private func collect(
        _ range: Range<Int64>,
        of file: OpenFile,
        _ name: ItemName,
        _ store: FileStore
    ) throws(CofferError) -> Step {
        try Self.checkFits(range, name)
        return try read(range, of: file, store) { content in
            .done(
                Reply(
                    ItemGetResult(store: .file, byteCount: Int64(content.count), delivery: .payload),
                    payload: content,
                    protection: .file(store.protectionClass(of: file))
                )
            )
        }
    }
}

/// A transfer of a range of an open file, in parts: the rows of a part are looked up when it is read.
private final class StreamedFile {
    private let file: OpenFile
    private let store: FileStore
    private let vault: Vault
    private let call: Call
    private let salvages: Bool

    private var place: Int64 = 0
    private var damages = Damages()

    init(_ file: OpenFile, _ store: FileStore, _ vault: Vault, _ call: Call, salvaging: Bool = false) {
        self.file = file
        self.store = store
        self.vault = vault
        self.call = call
        salvages = salvaging
    }

    /// Streams a range.
    ///
    /// - Parameter reply: Makes the answer from the number of bytes sent and the damaged parts.
    func stream(
        _ range: Range<Int64>,
        to descriptor: consuming OwnedDescriptor,
        _ wantsProgress: Bool,
        _ reply: @escaping (Int64, Damages) -> Reply
    ) throws -> Step {
        let cancellation = try call.makeCancellation()
        let ending = file.endOnLock(cancellation)
        call.atEnd { [file] in file.forgetEnding(ending) }
        let output = try PeerStream(descriptor, for: O_WRONLY, cancellation: cancellation)
        let report = call.progressReport(wantsProgress, total: Int64(range.count))
        place = range.lowerBound
        func goOn() throws -> Step {
            report(place - range.lowerBound)
            return try part(upTo: range.upperBound, to: output, then: goOn)
                ?? .done(reply(place - range.lowerBound, damages))
        }
        return try goOn()
    }

    /// Returns `nil` at the end of the range.
    private func part(
        upTo end: Int64,
        to output: PeerStream,
        then next: @escaping Step.Next
    ) throws -> Step? {
        guard place < end else { return nil }
        guard vault.openCatalog?.files === store else { throw CofferError.vaultIsGone }
        let plan = try store.planReading(place..<end, of: file)
        // The file may have been truncated meanwhile.
        if plan.range.isEmpty {
            store.finishedReading(file)
            return nil
        }
        let salvages = salvages
        return .work(with: ()) { (_) throws(CofferError) -> [DamagedRange] in
            guard salvages else {
                try plan.perform(to: { try output.write(all: $0) })
                return []
            }
            return try plan.salvage(to: { try output.write(all: $0) })
                .map { DamagedRange(offset: $0.range.lowerBound, byteCount: Int64($0.range.count)) }
        } then: { [self] found in
            store.finishedReading(file)
            for part in found { damages.join(part) }
            place = plan.range.upperBound
            return try next()
        } otherwise: { [self] error in
            store.finishedReading(file)
            throw error
        }
    }
}

/// The damaged parts of a file.
struct Damages {
    /// Their ranges, up to a maximum number.
    private(set) var parts: [DamagedRange] = []
    private(set) var byteCount: Int64 = 0

    /// Adds a part that comes after the others; adjacent parts are merged.
    mutating func join(_ part: DamagedRange) {
        let isAllTold = parts.reduce(0) { $0 + $1.byteCount } == byteCount
        byteCount += part.byteCount
        if isAllTold, let last = parts.last, last.offset + last.byteCount == part.offset {
            parts[parts.count - 1] = DamagedRange(offset: last.offset, byteCount: last.byteCount + part.byteCount)
        } else if parts.count < Limits.pageItems {
            parts.append(part)
        }
    }
}
