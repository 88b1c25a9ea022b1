import CofferBus
import CofferMemory
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Two connections to a real bus, on one loop: what one writes, the other reads.
@Suite(.serialized) struct BusConnectionTests {
    private let bus: SessionBus
    private let loop: EventLoop

    init() throws {
        bus = try SessionBus()
        loop = try EventLoop()
        setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
    }

    private typealias Write = (BusWriter) throws(SystemError) -> Void
    private typealias Read = (BusMessage) throws -> Void

    /// A connection that passes on each message.
    private final class Peer {
        private(set) var connection: BusConnection?
        private(set) var losses: [SystemError] = []
        var receive: ((BusMessage) throws -> Void)?
        /// A name that no other connection asks for.
        let name = "org.coffer.Test\(UInt32.random(in: 0...(.max)))"
        private(set) var failures: [any Error] = []

        init(on loop: EventLoop) throws {
            connection = try BusConnection(to: .session, on: loop) { [unowned self] message in
                do { try receive?(message) } catch { failures.append(error) }
            } lose: { [unowned self] error in
                losses.append(error)
            }
        }
    }

    private static let path = "/org/coffer/test"

    private func run(until isDone: () -> Bool) {
        while !isDone() {
            loop.poll(milliseconds: -1)
            loop.dispatch()
        }
    }

    /// A connection that has a name on the bus, and does something with each call.
    private func makeServer(_ answer: @escaping (BusMessage, BusConnection) throws -> Void) throws -> Peer {
        let peer = try Peer(on: loop)
        let connection = try #require(peer.connection)
        var isNamed = false
        let call = try connection.callBus("RequestName") { (writer) throws(SystemError) in
            try writer.text(peer.name)
            try writer.number(4)
        }
        peer.receive = { message in
            if message.isCall { try answer(message, connection) }
            if message.answeredCall == call { isNamed = try message.number() == 1 }
        }
        run { isNamed || !peer.failures.isEmpty }
        #expect(isNamed)
        return peer
    }

    /// Calls a method of a server, and passes the reply.
    private func call(_ server: Peer, _ write: Write, reply: @escaping Read = { _ in }) throws {
        let client = try Peer(on: loop)
        let connection = try #require(client.connection)
        var isAnswered = false
        let number = try connection.call("Method", of: "org.coffer.Test", at: Self.path, of: server.name, write)
        client.receive = { message in
            guard message.answeredCall == number else { return }
            isAnswered = true
            try reply(message)
        }
        run { isAnswered || !server.failures.isEmpty }
        #expect(server.failures.isEmpty && client.failures.isEmpty, "\(server.failures) \(client.failures)")
    }

    /// What can be written and read, by its type.
    private static var values: [(type: String, write: Write, read: Read)] {
        [
            (
                "s", { (writer) throws(SystemError) in try writer.text("ü🔑") },
                { message in
                    let found = try message.text()
                    #expect(found == "ü🔑")
                }
            ),
            (
                "o", { (writer) throws(SystemError) in try writer.objectPath("/a/_20") },
                { message in
                    let found = try message.objectPath()
                    #expect(found == "/a/_20")
                }
            ),
            (
                "b", { (writer) throws(SystemError) in try writer.flag(true) },
                { message in
                    let found = try message.flag()
                    #expect(found)
                }
            ),
            (
                "u", { (writer) throws(SystemError) in try writer.number(.max) },
                { message in
                    let found = try message.number()
                    #expect(found == .max)
                }
            ),
            (
                "ay", { (writer) throws(SystemError) in try writer.bytes(([0, 255, 7] as [UInt8]).span.bytes) },
                { message in
                    let found = try message.secret(upTo: 3)?.exposeBytes()
                    #expect(found == [0, 255, 7])
                }
            ),
            (
                "a{ss}", { (writer) throws(SystemError) in try writer.texts(["a": "1", "": "ü"]) },
                { message in
                    let found = try message.texts()
                    #expect(found == ["a": "1", "": "ü"])
                }
            ),
            (
                "ao", { (writer) throws(SystemError) in try writer.objectPaths(["/", "/a"]) },
                { message in
                    let found = try message.objectPaths()
                    #expect(found == ["/", "/a"])
                }
            ),
            (
                "v",
                { (writer) throws(SystemError) in
                    try writer.openVariant(of: "s")
                    try writer.text("in it")
                    try writer.close()
                },
                { message in
                    try message.enterVariant(of: "s")
                    let text = try message.text()
                    #expect(text == "in it")
                    try message.leave()
                }
            ),
            (
                "(sb)",
                { (writer) throws(SystemError) in
                    try writer.openStructure(of: "sb")
                    try writer.text("in it")
                    try writer.flag(false)
                    try writer.close()
                },
                { message in
                    try message.enterStructure(of: "sb")
                    let text = try message.text()
                    #expect(text == "in it")
                    let flag = try message.flag()
                    #expect(!flag)
                    try message.leave()
                }
            ),
        ]
    }

    @Test func `a value is read as it was written, by who is called and by who has called`() throws {
        for value in Self.values {
            let server = try makeServer { message, connection in
                #expect((message.path, message.interface) == (Self.path, "org.coffer.Test"))
                #expect(message.member == "Method" && message.sender?.hasPrefix(":") == true)
                try value.read(message)
                try connection.answer(message, value.write)
            }
            try call(server, value.write) { message in
                #expect(message.failure == nil && !message.isCall)
                try value.read(message)
            }
        }
    }

    @Test func `a value of another type, or none, is a failure of who reads, and no end`() throws {
        for reader in Self.values {
            let server = try makeServer { message, connection in
                do {
                    try reader.read(message)
                    try connection.answer(message)
                } catch let failure as BusFailure { try connection.refuse(message, failure) }
            }
            for writer in Self.values + [("", { _ in }, { _ in })] {
                try call(server, writer.write) { message in
                    let expected = writer.type == reader.type ? nil : BusFailure.wrongArguments
                    #expect(message.failure == expected, "\(writer.type) read as \(reader.type)")
                }
            }
        }
    }

    @Test func `a secret is read up to its limit, and an answer can hold one`() throws {
        let bytes = pseudoRandomBytes(1_048_576)
        let server = try makeServer { message, connection in
            message.markSecret()
            do {
                let secret = try message.secret(upTo: bytes.count)?.exposeBytes() ?? []
                try connection.answer(message, isSecret: true) { (writer) throws(SystemError) in
                    try writer.bytes(secret.span.bytes)
                }
            } catch let failure as BusFailure { try connection.refuse(message, failure) }
        }
        for count in [0, 1, bytes.count] {
            let sent = Array(bytes.prefix(count))
            try call(server, { (writer) throws(SystemError) in try writer.bytes(sent.span.bytes) }) { message in
                let found = try message.secret(upTo: count)?.exposeBytes() ?? []
                #expect(found == sent)
            }
        }
        let more = bytes + [0]
        try call(server, { (writer) throws(SystemError) in try writer.bytes(more.span.bytes) }) { message in
            #expect(message.failure?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        }
    }

    @Test func `an error has the name and the text that it was given`() throws {
        let failure = BusFailure("org.coffer.Error.Test", "not toda¥")
        let server = try makeServer { message, connection in try connection.refuse(message, failure) }
        try call(server, { _ in }) { message in #expect(message.failure == failure) }
    }

    @Test func `a call of a name that nobody has is answered with an error`() throws {
        let client = try Peer(on: loop)
        let number = try #require(client.connection)
            .call("Method", of: "org.coffer.Test", at: Self.path, of: "org.coffer.Nobody")
        var failure: BusFailure?
        client.receive = { message in
            if message.answeredCall == number { failure = message.failure }
        }
        run { failure != nil }
        #expect(failure?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
    }

    @Test func `a signal is heard by who subscribes to it`() throws {
        let (speaker, listener) = (try Peer(on: loop), try Peer(on: loop))
        var heard: [String] = []
        listener.receive = { message in
            if message.member == "Signal" { heard.append(try message.text()) }
        }
        let subscribed = try #require(listener.connection)
        try subscribed.subscribe("type='signal',interface='org.coffer.Test'")
        // Signals may be sent before the bus has read the subscription.
        var count = 0
        while heard.isEmpty {
            count += 1
            let number = "\(count)"
            try speaker.connection?.emit("Signal", of: "org.coffer.Test", at: Self.path) {
                (writer) throws(SystemError) in
                try writer.text(number)
            }
            loop.poll(milliseconds: 10)
            loop.dispatch()
        }
        #expect(Int(try #require(heard.first)) != nil && listener.failures.isEmpty)
    }

    @Test func `the end of the bus is told once`() throws {
        let server = try makeServer { _, _ in }
        bus.end()
        run { !server.losses.isEmpty }
        for _ in 0..<20 {
            loop.poll(milliseconds: 1)
            loop.dispatch()
        }
        #expect(server.losses.count == 1)
    }

    @Test func `a descriptor that a program passes is a duplicate of its file`() throws {
        var text: String?
        let server = try makeServer { message, connection in
            let descriptor = try message.descriptor()
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
            text = String(decoding: buffer.prefix(count), as: UTF8.self)
            try connection.answer(message)
        }
        let folder = try TemporaryDirectory()
        let path = try folder.write("from a file".utf8, to: "file")
        let script = """
            import sys
            from jeepney import DBusAddress, MessageType, new_method_call
            from jeepney.io.blocking import open_dbus_connection
            connection = open_dbus_connection(bus='SESSION', enable_fds=True)
            call = new_method_call(DBusAddress('\(Self.path)', '\(server.name)', 'a.b'), 'Pass', 'h', (open(sys.argv[1]),))
            assert connection.send_and_get_reply(call).header.message_type == MessageType.method_return
            """
        let address = bus.address
        let program = Background {
            try runCommand(
                "/usr/bin/python3",
                ["-c", script, path],
                environment: ["DBUS_SESSION_BUS_ADDRESS": address]
            )
        }
        run { text != nil || !server.failures.isEmpty }
        let result = try program.wait()
        #expect(result.status == 0, "\(result.errors)")
        #expect(text == "from a file" && server.failures.isEmpty)
    }
}
