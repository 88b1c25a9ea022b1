import CofferBackup
import CofferCore
import Synchronization

/// A repository in memory, whose operations can fail, as those of a disk or a network do.
final class MemoryStorage: RepositoryStorage {
    /// What happens at an operation that changes something.
    enum Fault: Equatable {
        /// The operation fails, and those after it do not.
        case failing(Int)
        /// The process is killed before the operation: none of the later ones happens.
        case killed(Int)
    }

    struct State {
        var objects: [String: [UInt8]] = [:]
        var operations = 0
        var fault: Fault?
        /// The bytes that objects may have; `nil` for any number.
        var capacity: Int?
        /// The size that every object is said to have; `nil` for its own.
        var listedByteCount: Int64?
    }

    let place = "memory"
    let state = Mutex(State())

    init(_ objects: [String: [UInt8]] = [:]) { state.withLock { $0.objects = objects } }

    var contents: [String: [UInt8]] { state.withLock { $0.objects } }

    /// The changes so far.
    var operations: Int { state.withLock { $0.operations } }

    func set(_ fault: Fault?) {
        state.withLock {
            $0.fault = fault
            $0.operations = 0
        }
    }

    /// How many bytes all objects have.
    var byteCount: Int { contents.values.reduce(0) { $0 + $1.count } }

    fileprivate func requireSpace(_ byteCount: Int) throws(CofferError) {
        let capacity = state.withLock { $0.capacity }
        guard let capacity, self.byteCount + byteCount > capacity else { return }
        throw CofferError(.diskFull, "the disk is full")
    }

    func set(_ name: String, _ bytes: [UInt8]?) { state.withLock { $0.objects[name] = bytes } }

    fileprivate func change(_ body: (inout State) -> Void) throws(CofferError) {
        let isFailing = state.withLock { state in
            state.operations += 1
            let isFailing =
                switch state.fault {
                case .failing(let number): state.operations == number
                case .killed(let number): state.operations >= number
                case nil: false
                }
            if !isFailing { body(&state) }
            return isFailing
        }
        if isFailing { throw CofferError(.io, "the operation was made to fail") }
    }

    func useAppendOnly() {}

    func objects(in folder: String) throws(CofferError) -> [StoredObject] {
        state.withLock { state in
            state.objects.compactMap { name, bytes in
                guard name.hasPrefix("\(folder)/") else { return nil }
                let rest = String(name.dropFirst(folder.count + 1))
                let byteCount = state.listedByteCount ?? Int64(bytes.count)
                return rest.contains("/") ? nil : StoredObject(name: rest, byteCount: byteCount)
            }
        }
    }

    func read(_ name: String, at offset: Int64, _ count: Int) throws(CofferError) -> [UInt8]? {
        state.withLock { state in
            state.objects[name].map { Array($0.dropFirst(Int(offset)).prefix(count)) }
        }
    }

    func create(_ name: String) throws(CofferError) -> any ObjectSink {
        try change { _ in }
        return Sink(self, name)
    }

    func remove(_ name: String) throws(CofferError) { try change { $0.objects[name] = nil } }

    func removeLeftovers(in folder: String) throws(CofferError) {}

    func lock(_ kind: LockKind) throws(CofferError) -> (any RepositoryLock)? { nil }

    final class Sink: ObjectSink {
        private let storage: MemoryStorage
        private let name: String
        private let bytes = Mutex<[UInt8]>([])

        init(_ storage: MemoryStorage, _ name: String) {
            self.storage = storage
            self.name = name
        }

        func write(_ bytes: RawSpan) throws(CofferError) {
            let copy = bytes.withUnsafeBytes { Array($0) }
            try storage.change { _ in }
            self.bytes.withLock { $0 += copy }
        }

        func finish() throws(CofferError) {
            let all = bytes.withLock { $0 }
            try storage.requireSpace(all.count)
            try storage.change { $0.objects[name] = all }
        }
    }
}
