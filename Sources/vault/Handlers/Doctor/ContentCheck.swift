internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferVault
internal import CofferWire

/// A check of the contents of some files: each to its end, a few chunks at a time on another thread, until it is enough
/// for one answer.
///
/// A file whose key is not available is counted, and so is one whose key a lock wipes meanwhile.
final class ContentCheck {
    private let vault: Vault
    private let store: FileStore
    private let call: Call
    private let report: @Sendable (Int64) -> Void
    /// The last file that was begun; `nil` before the first one.
    private var place: Int64?
    /// The one before it.
    private var former: Int64?
    private var checkedCount = 0
    private var sealedCount = 0
    private var byteCount: Int64 = 0
    private var findings: [Finding] = []
    private var opened: OpenFile?

    init(after place: Int64?, of vault: Vault, wantsProgress: Bool, _ call: Call) throws {
        self.vault = vault
        self.call = call
        self.place = place
        store = try vault.catalog.files
        report = call.progressReport(wantsProgress, total: nil)
        call.atEnd { self.close() }
    }

    private var isEnough: Bool {
        byteCount >= Limits.contentBytesPerCheck || checkedCount + sealedCount >= Limits.queryBatch
            || findings.count >= Limits.findingsPerCheck
    }

    // MARK: Steps

    /// Continues with the next file.
    func resume() throws -> Step {
        try checkWanted()
        guard !isEnough else { return .done(Reply(page(next: place))) }
        guard let number = try store.nextFile(after: place) else { return .done(Reply(page(next: nil))) }
        (former, place) = (place, number)
        // It was removed meanwhile, or its row is damaged, which is a finding of another stage.
        do {
            guard let file = try store.file(numbered: number) else { return .again(resume) }
            return try open(file) {
                let opening = try self.store.openFiles.beginOpening(file, for: .read, scansAnew: true)
                return try self.scan(opening, file)
            }
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            sealedCount += 1
            return .again(resume)
        }
    }

    private func checkWanted() throws {
        try call.checkSender()
        guard vault.openCatalog?.files === store else { throw CofferError.vaultIsGone }
        report(byteCount)
    }

    /// Carries out a step of opening a file, which may be sealed, or too damaged even to be salvaged.
    private func open(_ file: FileItem, _ step: () throws -> Step) throws -> Step {
        do {
            return try step()
        } catch let error as CofferError where error.code == .interactionNotAllowed || error.code == .notAvailable {
            sealedCount += 1
        } catch let error as CofferError where error.code == .decode {
            var damages = Damages()
            damages.join(0..<file.byteCount)
            finish(file, .content, damages)
        }
        return .again(resume)
    }

    /// Scans the rows of a file's chunks.
    private func scan(_ opening: FileOpening, _ file: FileItem) throws -> Step {
        if try store.openFiles.resume(opening, limit: Limits.openingRows) {
            return .again {
                try self.checkWanted()
                return try self.open(file) { try self.scan(opening, file) }
            }
        }
        guard let opened = try store.openFiles.finishSalvaging(opening) else {
            // It was changed during the scan, which begins again.
            place = former
            return .again(resume)
        }
        opened.use.handleCount += 1
        self.opened = opened
        return try read(opened, from: 0, file, opened.integrity.isIntact ? nil : .contentForm, Damages())
    }

    private func read(
        _ opened: OpenFile,
        from offset: Int64,
        _ file: FileItem,
        _ damage: Damage?,
        _ damages: Damages
    ) throws -> Step {
        try checkWanted()
        let plan = try store.plans.reading(offset..<max(offset, opened.byteCount), of: opened)
        return .work(with: ()) { (_) throws(CofferError) in
            try plan.findDamage()
        } ended: { _ in
            opened.endRead()
        } then: { found in
            guard let found else {
                self.sealedCount += 1
                self.close()
                return .again(self.resume)
            }
            self.byteCount += Int64(plan.range.count)
            var damages = damages
            for part in found { damages.join(part) }
            let damage = found.isEmpty ? damage : .content
            // The file may have been truncated meanwhile.
            if !plan.range.isEmpty && plan.range.upperBound < opened.byteCount {
                return try self.read(opened, from: plan.range.upperBound, file, damage, damages)
            }
            self.close()
            self.finish(file, damage, damages)
            return try self.resume()
        }
    }

    private func close() {
        guard let opened = opened.take() else { return }
        opened.use.handleCount -= 1
        store.openFiles.close(opened)
    }

    // MARK: What was found

    private func finish(_ file: FileItem, _ damage: Damage?, _ damages: Damages) {
        checkedCount += 1
        guard let damage else { return }
        findings.append(
            Finding(
                .contents,
                name: call.caller.rights.reach.contains(file.group) ? quotedForDisplay(file.path) : nil,
                damage,
                repair: .salvage,
                isRepaired: false,
                damaged: damages.parts.prefix(Limits.rangesPerFinding).map {
                    DamagedRange(offset: $0.lowerBound, byteCount: Int64($0.count))
                },
                damagedByteCount: damages.byteCount
            )
        )
    }

    private func page(next: Int64?) -> CheckPage {
        CheckPage(
            stage: .contents,
            checkedCount: checkedCount,
            sealedCount: sealedCount,
            quarantinedCount: 0,
            byteCount: byteCount,
            findings: findings,
            cursor: next.map { CheckPlace(stage: .contents, number: $0).cursor }
        )
    }
}
