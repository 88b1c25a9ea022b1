internal import CKernelFiles
internal import CofferCore
internal import CofferFiles
internal import CofferMemory
package import CofferVault
internal import Glibc

/// A request of the kernel that waits for its answer.
package final class KernelRequest {
    package let header: KernelHeader
    package let operation: KernelOperation
    package let mount: KernelMount
    package let attachments: Attachments
    /// How many bytes come with it.
    let payloadByteCount: Int
    /// The path of its file, for the audit; `nil` if it is unknown.
    package internal(set) var name: String?
    /// The directory that it removes, which programs may be in.
    var removed: NodeAttributes?
    /// The answer, once it has been carried out.
    var answer = KernelAnswer.done

    init(_ header: KernelHeader, _ operation: KernelOperation, _ payload: consuming SecretBytes?, to mount: KernelMount)
    {
        self.header = header
        self.operation = operation
        self.mount = mount
        payloadByteCount = payload.byteCount
        attachments = Attachments(payload: payload, descriptor: nil)
    }

    /// The node that it is about.
    var node: UInt64 { header.node }

    /// The number of the request, however often the kernel asks.
    var number: UInt64 { header.number }

    /// Whether it may have been carried out by a daemon that has ended before it could answer.
    var isRepeated: Bool { header.isRepeated }

    /// Answers it.
    func end(_ answer: KernelAnswer) -> Step {
        self.answer = answer
        return .done
    }
}

/// What the kernel gets for a request.
enum KernelAnswer {
    /// It is done.
    case done
    case failure(Errno)
    case bytes([UInt8])
    /// The kernel counts how often it has looked each of some nodes up.
    case nodes([UInt64], [UInt8])
    /// The content that the handler has read.
    case payload
}

extension Step {
    /// Continues with the answer, as a part of a request of the kernel: an `errno` ends that.
    consuming func answering(
        _ request: KernelRequest,
        _ next: @escaping (consuming Reply) throws -> Step
    ) throws -> Step {
        try then { reply in
            do { return try next(reply) } catch let failure as Errno { return request.end(.failure(failure)) }
        }
    }
}

// MARK: - As bytes

/// The bytes of a structure of the kernel.
func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] {
    unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
}

extension NodeAttributes {
    /// Its attributes, as the kernel reads them.
    ///
    /// - Parameters:
    ///   - number: The kernel's number of the node.
    ///   - owner: The user and the group of what states none.
    func kernel(_ number: UInt64, _ owner: MountOwner) -> fuse_attr {
        var attributes = fuse_attr()
        attributes.ino = number
        attributes.size = UInt64(clamping: byteCount)
        attributes.blocks = UInt64(clamping: storedByteCount / 512 + (storedByteCount % 512 > 0 ? 1 : 0))
        (attributes.atime, attributes.atimensec) = kernelTime(times.accessed)
        (attributes.mtime, attributes.mtimensec) = kernelTime(times.modified)
        (attributes.ctime, attributes.ctimensec) = kernelTime(times.changed)
        attributes.mode = UInt32(mode) | type.modeBits
        attributes.nlink = UInt32(clamping: linkCount)
        attributes.uid = ownership.uid ?? owner.userID
        attributes.gid = ownership.gid ?? owner.groupID
        attributes.blksize = UInt32(Limits.chunkBytes)
        return attributes
    }
}

/// Nanoseconds since 1970, as the kernel has them: the rest is never negative, also before 1970.
private func kernelTime(_ nanoseconds: Int64) -> (UInt64, UInt32) {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let (whole, part) = rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
    return (UInt64(bitPattern: whole), UInt32(truncatingIfNeeded: part))
}

extension FileType {
    /// Its bits in a mode.
    var modeBits: UInt32 {
        switch self {
        case .file: S_IFREG
        case .directory: S_IFDIR
        case .symbolicLink: S_IFLNK
        }
    }
}
