internal import CofferFileContent
internal import CofferCore
package import CofferFiles
package import CofferSystem
package import CofferVault
package import CofferWire
internal import Glibc

// Streams files with an overlay to a client in parts. The rows of a part are looked up when it is read.

extension FileHandlers {
    /// Reads a file with an overlay, or a part of it.
    package func getInParts(
        _ item: FileItem,
        _ params: ItemGetParameters,
        to output: Held<PeerDescriptor>,
        _ call: Call
    ) throws -> Step {
        let store = try catalog.files
        return try open(item, for: .read, store, call) { file in
            self.close(file, store, atEndOf: call)
            // The size of the opened file: another file may have taken the name meanwhile.
            let range = try params.range(in: file.byteCount)
            guard let descriptor = output.take() else {
                try range.checkFits(params.name)
                return try self.read(range, of: file, store, call) { content in
                    .content(content, .file(store.openContents.protectionClass(of: file)))
                }
            }
            return try self.stream(range, of: file, store, to: descriptor, params.wantsProgress, call) { count, _ in
                Reply(ItemGetResult(store: .file, byteCount: count, delivery: .descriptor))
            }
        }
    }

    /// Streams the readable parts of a damaged file, with zeros in place of the others.
    package func fileSalvage(_ params: FileSalvageParameters, _ call: Call) throws -> Step {
        guard let descriptor = try call.attachments.takeDescriptor() else {
            throw CofferError(.param, "no descriptor was passed that the content goes to")
        }
        let output = Held<PeerDescriptor>(descriptor)
        let group = try call.group(params.group)
        call.isFor("can't salvage \(params.name.quoted)")
        let store = try catalog.files
        guard let item = try store.find(params.name, in: group) else {
            throw CofferError(.itemNotFound, "there is no file \(params.name.quoted)")
        }
        return try open(item, for: .read, salvaging: true, store, call) { file in
            self.close(file, store, atEndOf: call)
            guard let descriptor = output.take() else { throw CofferError.takenTwice }
            let (range, wantsProgress) = (0..<file.byteCount, params.wantsProgress)
            return try self.stream(range, of: file, store, salvaging: true, to: descriptor, wantsProgress, call) {
                Reply(Salvage($0, $1, mayBeOlder: !file.integrity.hasItsRows))
            }
        }
    }

    /// Closes a file that no handle holds at the end of the request.
    func close(_ file: OpenFile, _ store: FileStore, atEndOf call: Call) {
        call.atEnd {
            file.use.handleCount -= 1
            store.openFiles.close(file)
        }
    }

    /// Streams a range of an open file in parts: the rows of a part are looked up when it is read.
    ///
    /// - Parameter reply: Makes the answer from the number of bytes sent and the damaged parts.
    private func stream(
        _ range: Range<Int64>,
        of file: OpenFile,
        _ store: FileStore,
        salvaging: Bool = false,
        to descriptor: consuming PeerDescriptor,
        _ wantsProgress: Bool,
        _ call: Call,
        _ reply: @escaping (Int64, Damages) -> Reply
    ) throws -> Step {
        let cancellation = try call.makeCancellation()
        let ending = file.endOnLock(cancellation)
        call.atEnd { file.forgetEnding(ending) }
        let output = try PeerStream(descriptor, for: O_WRONLY, cancellation: cancellation)
        let report = call.progressReport(wantsProgress, total: Int64(range.count))
        var place = range.lowerBound
        var damages = Damages()
        func done() -> Step {
            .work(with: ()) { (_) throws(CofferError) in
                do throws(TransferError) { try output.finish() } catch { throw error.cofferError }
            } then: { _ in
                .done(reply(place - range.lowerBound, damages))
            }
        }
        func resume() throws -> Step {
            report(place - range.lowerBound)
            guard place < range.upperBound else { return done() }
            guard openCatalog?.files === store else { throw CofferError.vaultIsGone }
            let plan = try store.plans.reading(place..<range.upperBound, of: file)
            // The file may have been truncated meanwhile.
            if plan.range.isEmpty {
                file.endRead()
                return done()
            }
            return .work(with: ()) { (_) throws(CofferError) -> [Range<Int64>] in
                if salvaging { return try plan.salvage(to: { try output.write(all: $0) }) }
                try plan.perform(to: { try output.write(all: $0) })
                return []
            } ended: { _ in
                file.endRead()
            } then: { found in
                for part in found { damages.join(part) }
                place = plan.range.upperBound
                return try resume()
            }
        }
        return try resume()
    }
}

extension Salvage {
    fileprivate init(_ byteCount: Int64, _ damages: Damages, mayBeOlder: Bool) {
        self.init(
            byteCount: byteCount,
            damagedByteCount: damages.byteCount,
            damaged: damages.parts.map { DamagedRange(offset: $0.lowerBound, byteCount: Int64($0.count)) },
            mayBeOlder: mayBeOlder
        )
    }
}
