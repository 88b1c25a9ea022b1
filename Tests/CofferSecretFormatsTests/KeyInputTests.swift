import CofferSecretFormats
import CofferCore
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

// The files of Tests/Vectors/keys were made by OpenSSL 3.0 (`openssl genpkey`, `openssl pkey -pubout`, `openssl req -x509`), those
// of OpenSSH by `ssh-keygen`; `NAME.raw` are the last 32 bytes of the DER of `NAME.pem`. Nothing is protected by any of them.

private func vector(_ name: String) throws -> [UInt8] {
    try #require(FileManager.default.contents(atPath: "\(Project.root)/Tests/Vectors/keys/\(name)").map { Array($0) })
}

private struct Found: Equatable {
    let bytes: [UInt8]
    let kind: KeyInput.Kind?
}

private func read(_ input: [UInt8]) throws -> Found {
    let key = try KeyInput(
        from: SecretBytes(copying: input.span.bytes),
        passphrase: { () throws(CofferError) in throw CofferError(.param, "it is encrypted") }
    )
    let kind = key.kind
    return Found(bytes: key.takeBytes().exposeBytes(), kind: kind)
}

/// What is said where it can't be read; `nil` where it can.
private func refusal(_ input: [UInt8]) throws -> String? {
    do {
        _ = try read(input)
        return nil
    } catch let error as CofferError {
        return error.code == .param ? error.message : "\(error.code)"
    }
}

/// What is in the first block of a PEM text.
private func der(_ pem: [UInt8]) throws -> [UInt8] {
    let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
    return Array(try #require(Data(base64Encoded: lines.joined())))
}

@Suite struct `A key that is given` {
    private static let vectors: [(name: String, raw: String, kind: KeyInput.Kind)] = [
        ("ed25519", "ed25519", KeyInput.Kind(type: .ed25519, isPrivate: true)),
        ("x25519", "x25519", KeyInput.Kind(type: .x25519, isPrivate: true)),
        ("ed25519-public", "ed25519-public", KeyInput.Kind(type: .ed25519, isPrivate: false)),
    ]

    @Test(arguments: vectors.indices)
    func `as OpenSSL writes it, in PEM or DER, is its 32 bytes, and says what it is`(index: Int) throws {
        let vector = Self.vectors[index]
        let pem = try CofferSecretFormatsTests.vector("\(vector.name).pem")
        let expected = Found(bytes: try CofferSecretFormatsTests.vector("\(vector.raw).raw"), kind: vector.kind)
        let inputs = [
            pem, try der(pem), Array("Bag Attributes\n\n".utf8) + pem,
            try CofferSecretFormatsTests.vector("ed25519-certificate.pem") + pem,
        ]
        for input in inputs {
            let found = try read(input)
            #expect(found == expected)
        }
    }

    @Test func `of X25519 that is public is its 32 bytes`() throws {
        let pem = try vector("x25519-public.pem")
        let found = try read(pem)
        let expected = Found(bytes: try der(pem).suffix(32), kind: .init(type: .x25519, isPrivate: false))
        #expect(found == expected)
    }

    @Test func `of OpenSSH is its seed`() throws {
        let pem = try vector("openssh.pem")
        let found = try read(pem)
        // The seed is followed by the public key.
        let all = try der(pem)
        #expect(found.kind == .init(type: .ed25519, isPrivate: true))
        #expect(found.bytes.count == 32)
        let place = try #require(Data(all).range(of: Data(found.bytes))).upperBound
        let published = try #require(Data(all).range(of: Data("ssh-ed25519".utf8) + [0, 0, 0, 32])).upperBound
        #expect(all[place..<(place + 32)] == all[published..<(published + 32)])
    }

    @Test func `of 32 bytes, or of neither form, is passed on as it is`() throws {
        for bytes in [[UInt8](repeating: 0x30, count: 32), [], [1, 2, 3], Array("no key at all".utf8)] {
            let found = try read(bytes)
            #expect(found == Found(bytes: bytes, kind: nil))
        }
    }

    @Test func `followed by its public key is the same key`() throws {
        var bytes = try der(vector("ed25519.pem"))
        let attributes: [UInt8] = [0xA0, 0x00]
        bytes[1] += UInt8(attributes.count)
        let found = try read(bytes + attributes)
        #expect(found.bytes == (try vector("ed25519.raw")))
        bytes[1] += 35
        bytes[4] = 1
        let published = try bytes + attributes + [0x81, 33, 0] + vector("ed25519-public.raw")
        let second = try read(published)
        #expect(second.bytes == (try vector("ed25519.raw")))
        bytes[4] = 0
        let older = try refusal(bytes + attributes + [0x81, 33, 0] + vector("ed25519-public.raw"))
        #expect(older?.contains("malformed") == true, "version 1 has no public key")
    }

    @Test(
        arguments: [
            ("ed25519-encrypted.pem", "it is encrypted"), ("openssh-encrypted.pem", "it is encrypted"),
            ("ed25519-certificate.pem", "it has no block of a PRIVATE KEY"),
        ]
    )
    func `that is encrypted or of another kind is refused with that reason`(name: String, words: String) throws {
        let found = try refusal(vector(name))
        #expect(found?.contains(words) == true, "\(found ?? "read")")
    }

    @Test(arguments: ["ed25519.pem", "ed25519-public.pem", "openssh.pem", "p256.pem", "openssh-ecdsa.pem"])
    func `is read if all of its base64 is on one line`(name: String) throws {
        let pem = try vector(name)
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").map(String.init)
        let (front, back) = (try #require(lines.first), try #require(lines.last))
        let body = lines.dropFirst().dropLast().joined()
        for end in ["\n", "\r\n"] {
            let joined = try read(Array([front, body, back].map { $0 + end }.joined().utf8))
            #expect(try joined == read(pem))
        }
    }

    @Test(
        arguments: ["ed25519.pem", "x25519.pem", "ed25519-public.pem", "openssh.pem", "p256.pem", "openssh-ecdsa.pem"]
    )
    func `with a byte too few or too many is refused`(name: String) throws {
        let label = name.hasPrefix("openssh") ? "OPENSSH PRIVATE KEY" : nil
        let whole = try der(vector(name))
        func wrapped(_ bytes: [UInt8]) -> [UInt8] {
            guard let label else { return bytes }
            let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return Array("-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n".utf8)
        }
        let good = try refusal(wrapped(whole))
        #expect(good == nil)
        for count in 1..<whole.count where count != 32 {
            let found = try refusal(wrapped(Array(whole.prefix(count))))
            #expect(found != nil, "\(count)")
        }
        let longer = try refusal(wrapped(whole + [0]))
        #expect(longer != nil)
    }

    @Test(arguments: ["ed25519.pem", "ed25519-public.pem", "openssh.pem", "p256.pem", "openssh-ecdsa.pem"])
    func `with a byte that is another never crashes, and never says more than it holds`(name: String) throws {
        let label = name.hasPrefix("openssh") ? "OPENSSH PRIVATE KEY" : "PRIVATE KEY"
        let whole = try der(vector(name))
        for place in whole.indices {
            for flip in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = whole
                changed[place] ^= flip
                let text = Data(changed).base64EncodedString()
                    .split(by: 64).joined(separator: "\n")
                let input = Array("-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n".utf8)
                guard let found = try? read(input) else { continue }
                #expect(found.bytes.count == 32 || found.kind?.type == .ecdsa && found.bytes.count < 256)
            }
        }
    }

    @Test func `in a block with another's label is refused`() throws {
        let text = String(decoding: try vector("ed25519.pem"), as: UTF8.self)
        let swapped = try refusal(Array(text.replacing("PRIVATE", with: "PUBLIC").utf8))
        #expect(swapped?.contains("malformed") == true)
    }
}

extension String {
    fileprivate func split(by count: Int) -> [Substring] {
        stride(from: 0, to: utf8.count, by: count).map { start in
            let from = index(startIndex, offsetBy: start)
            return self[from...].prefix(count)
        }
    }
}
