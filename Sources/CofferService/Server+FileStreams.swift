internal import CofferAccess
internal import CofferCore
internal import CofferFiles
internal import CofferMemory
internal import CofferSystem
internal import CofferWire
internal import Glibc

// Whole files that have chunks which were rewritten, streamed to a client: part by part, so that what is known of a part is
// looked up when it is its turn.

extension Server {
    /// Gives a part of a file whose chunks lie in several places.
    ///
    /// Another file may take the name before this one is open. So the part is one of the file that was opened.
    func getThroughHandle(
        _ item: FileItem,
        _ params: ItemGetParameters,
        in group: String,
        to descriptor: consuming OwnedDescriptor?,
        under lease: LeaseTerms?,
        after commit: PendingCommit?
    ) throws(CofferError) -> Work {
        let store = try vault.catalog.files
        let handoff = Handoff(descriptor)
        return { (transfer) async throws(CofferError) in
            try await commit?.wait()
            let file = try await self.openForStreaming(item, params.name, in: group, under: lease, store, transfer)
            defer { self.endStreaming(file, store) }
            let range = try Self.range(params, in: file.byteCount)
            guard let output = handoff.take() else {
                let content = try await self.collect(range, of: file, params.name, store, transfer)
                return Reply(
                    ItemGetResult(store: .file, byteCount: Int64(content.count), delivery: .payload),
                    payload: content,
                    protection: .file(store.protectionClass(of: file))
                )
            }
            let count = try await self.stream(
                range,
                of: file,
                to: output,
                salvaging: false,
                params.wantsProgress,
                store,
                transfer
            ).count
            return Reply(ItemGetResult(store: .file, byteCount: count, delivery: .descriptor))
        }
    }

    /// Gives what can be read of a damaged file, and zeros for the rest.
    func salvageFile(
        _ params: FileSalvageParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        guard let descriptor = try attachments.takeDescriptor() else {
            throw CofferError(.param, "no descriptor was passed that the content goes to")
        }
        try attachments.refuseLeftovers(of: .fileSalvage)
        let handoff = Handoff(descriptor)
        let group = try caller.group(nil)
        let store = try vault.catalog.files
        return .later { (transfer) async throws(CofferError) in
            do {
                guard let item = try store.find(params.name, in: group) else {
                    throw CofferError(.itemNotFound, "there is no file \(params.name.quoted)")
                }
                let file = try await self.openForStreaming(
                    item,
                    params.name,
                    in: group,
                    salvaging: true,
                    store,
                    transfer
                )
                defer { self.endStreaming(file, store) }
                guard let output = handoff.take() else { throw CofferError.carriedOutTwice }
                let saved = try await self.stream(
                    0..<file.byteCount,
                    of: file,
                    to: output,
                    salvaging: true,
                    params.wantsProgress,
                    store,
                    transfer
                )
                return Reply(
                    Salvage(
                        byteCount: saved.count,
                        damagedByteCount: saved.damages.byteCount,
                        damaged: saved.damages.parts,
                        mayBeOlder: !file.hasItsRows
                    )
                )
            } catch {
                throw .init(mapping: error, "can't salvage \(params.name.quoted)")
            }
        }
    }

    private func openForStreaming(
        _ item: FileItem,
        _ name: ItemName,
        in group: String,
        salvaging: Bool = false,
        under lease: LeaseTerms? = nil,
        _ store: FileStore,
        _ transfer: Transfer
    ) async throws(CofferError) -> OpenFile {
        await fileOpenings.enter(for: transfer.tenant)
        defer { fileOpenings.leave() }
        do {
            return try await open(
                item,
                name,
                in: group,
                for: .read,
                salvaging: salvaging,
                under: lease,
                store,
                transfer
            )
        } catch {
            throw .init(mapping: error, "can't read \(name.quoted)")
        }
    }

    private func endStreaming(_ file: OpenFile, _ store: FileStore) {
        file.handleCount -= 1
        store.close(file)
    }

    private func collect(
        _ range: Range<Int64>,
        of file: OpenFile,
        _ name: ItemName,
        _ store: FileStore,
        _ transfer: Transfer
    ) async throws(CofferError) -> SecretBytes {
        guard range.count <= Limits.framePayloadBytes else {
            throw CofferError(
                .dataTooLarge,
                "\(name.quoted) has \(range.count) bytes, and a reply carries \(Limits.framePayloadBytes) at most",
                hint: "pass a descriptor to write it to, or ask for a range"
            )
        }
        let plan = try self.plan(range, of: file, store)
        defer { store.finishedReading(file) }
        return try await workers.run(for: transfer.tenant) { () throws(CofferError) in try plan.collect() }
    }

    private func plan(
        _ range: Range<Int64>,
        of file: OpenFile,
        _ store: FileStore
    ) throws(CofferError) -> ReadPlan {
        do {
            return try store.planReading(range, of: file)
        } catch {
            throw .init(mapping: error, "can't read \(file.subject)")
        }
    }

    /// Writes a part of a file to a descriptor.
    ///
    /// - Returns: How many bytes there were, and which of them are zeros because they can't be read.
    private func stream(
        _ range: Range<Int64>,
        of file: OpenFile,
        to descriptor: consuming OwnedDescriptor,
        salvaging: Bool,
        _ wantsProgress: Bool,
        _ store: FileStore,
        _ transfer: Transfer
    ) async throws(CofferError) -> (count: Int64, damages: Damages) {
        let cancellation = try makeCancellation(for: transfer)
        let ending = file.endOnLock(cancellation)
        defer { file.forgetEnding(ending) }
        let output = SharedStream(try PeerStream(descriptor, for: O_WRONLY, cancellation: cancellation))
        let report = progressReport(wantsProgress, total: Int64(range.count), transfer)
        var place = range.lowerBound
        var damages = Damages()
        while place < range.upperBound {
            guard vault.openCatalog?.files === store else { throw CofferError.vaultIsGone }
            let plan = try self.plan(place..<range.upperBound, of: file, store)
            defer { store.finishedReading(file) }
            // The file may have become shorter meanwhile.
            if plan.range.isEmpty { break }
            let found = try await workers.run(for: transfer.tenant) { () throws(CofferError) -> [DamagedRange] in
                guard salvaging else {
                    try plan.perform(to: { try output.stream.write(all: $0) })
                    return []
                }
                return try plan.salvage(to: { try output.stream.write(all: $0) })
                    .map { DamagedRange(offset: $0.range.lowerBound, byteCount: Int64($0.range.count)) }
            }
            for part in found { damages.join(part) }
            place = plan.range.upperBound
            report(place - range.lowerBound)
        }
        return (place - range.lowerBound, damages)
    }
}

/// What of a file can't be read.
private struct Damages {
    /// Where: as many parts as are told.
    private(set) var parts: [DamagedRange] = []
    private(set) var byteCount: Int64 = 0

    /// Takes in what lies behind the others: parts that touch are one.
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
