import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A peer that sends whatever it likes.
struct HostilePeer: ~Copyable {
    let socket: OwnedDescriptor

    init(_ daemon: DaemonProcess) throws {
        socket = try UnixSocket.connect(to: daemon.socketPath)
        // A read without an answer fails after a time, and never hangs.
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    /// A frame.
    static func frame(_ method: Method, _ params: JSONObject = [:], payload: [UInt8] = [], id: Int64 = 1) -> [UInt8] {
        let json = Request(id: .integer(id), method: method.rawValue, params: params).serialized()
        return FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
    }

    /// The beginning of a frame whose payload has so many bytes, and one of them.
    static func beginning(_ method: Method, _ params: JSONObject = [:], payloadCount: Int) -> [UInt8] {
        let json = Request(id: .integer(1), method: method.rawValue, params: params).serialized()
        return FrameHeader.encode(jsonCount: json.count, payloadCount: payloadCount) + json + [0]
    }

    /// Sends everything, if the daemon takes it.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            guard let count = try? socket.send(bytes.span.bytes.extracting(droppingFirst: done)) else { return false }
            done += count
        }
        return true
    }

    /// Sends as much as the daemon accepts, until it accepts no more.
    func flood(_ bytes: [UInt8]) throws {
        try UnixSocket.setNonBlocking(socket)
        while let count = try? socket.send(bytes.span.bytes), count == bytes.count {}
    }

    /// Sends bytes with descriptors, and with credentials besides.
    func send(_ bytes: [UInt8], passing numbers: [Int32], credentials: Bool = false) -> Bool {
        var control: [UInt8] = []
        func append(_ type: Int32, _ data: [UInt8]) {
            withUnsafeBytes(of: UInt64(16 + data.count)) { control += $0 }
            withUnsafeBytes(of: SOL_SOCKET) { control += $0 }
            withUnsafeBytes(of: type) { control += $0 }
            control += data
            control += Array(repeating: 0, count: -control.count & 7)
        }
        if credentials {
            let own: [UInt32] = [UInt32(getpid()), geteuid(), getegid()]
            append(2, own.withUnsafeBytes { Array($0) })
        }
        if !numbers.isEmpty { append(1, numbers.withUnsafeBytes { Array($0) }) }
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(socket.number, &message, Int32(MSG_NOSIGNAL)) == bytes.count
                }
            }
        }
    }

    /// Says that nothing more comes.
    func finish() { shutdown(socket.number, Int32(SHUT_WR)) }

    /// Reads answers until there are so many, or the daemon closes.
    func replies(_ count: Int = .max, until isLast: (JSONValue) -> Bool = { _ in false }) throws -> [JSONValue] {
        var decoder = FrameDecoder()
        var found: [JSONValue] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while found.count < count, case let received = read(socket.number, &piece, piece.count), received > 0 {
            var offset = 0
            while let frame = try decoder.decode(piece.span.bytes.extracting(first: received), at: &offset) {
                found.append(try frame.json.get())
                if let last = found.last, isLast(last) { return found }
            }
        }
        return found
    }
}

extension JSONValue {
    /// The code of an answer that is an error.
    var errorCode: String? { objectValue?["error"]?.objectValue?["data"]?.objectValue?["code"]?.stringValue }
}

/// What a daemon holds, as the kernel sees it.
struct Footprint: CustomStringConvertible {
    let descriptors: Int
    let threads: Int
    let children: Int
    let residentKiB: Int
    let lockedKiB: Int

    /// The daemon can't be dumped, so that only root sees its descriptors: for others, there are none.
    init(of daemon: DaemonProcess) throws {
        let place = "/proc/\(daemon.processID)"
        let status = try String(contentsOfFile: "\(place)/status", encoding: .utf8)
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
            return line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0
        }
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "\(place)/fd").count) ?? 0
        let children =
            (try? String(contentsOfFile: "\(place)/task/\(daemon.processID)/children", encoding: .utf8)) ?? ""
        self.children = children.split(separator: " ").count
        threads = number("Threads")
        residentKiB = number("VmRSS")
        lockedKiB = number("VmLck")
    }

    var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(children) children, \(residentKiB) KiB, \(lockedKiB) KiB locked"
    }

    /// Whether no more is held than at another time: of memory, what an allocator keeps may be more.
    func isBack(to before: Footprint, moreKiB: Int) -> Bool {
        descriptors <= before.descriptors && threads <= before.threads && children == 0
            && residentKiB <= before.residentKiB + moreKiB && lockedKiB <= before.lockedKiB + 1024
    }
}
