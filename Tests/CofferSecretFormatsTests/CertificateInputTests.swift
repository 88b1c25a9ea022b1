import CofferSecretFormats
import CofferCore
import CofferMemory
import Foundation
import Testing

/// Not a certificate: what is in a block is for the daemon to judge.
private let content = [UInt8]([0x30]) + (0..<100).map { UInt8($0 + 100) }

private func block(_ label: String = "CERTIFICATE", _ content: [UInt8] = content, _ end: String = "\n") -> String {
    let text = Data(content).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n".replacing("\n", with: end)
}

private func der(_ input: [UInt8]) throws -> [UInt8] {
    try CertificateInput.der(from: SecretBytes(copying: input.span.bytes)).exposeBytes()
}

private func der(_ input: String) throws -> [UInt8] { try der(Array(input.utf8)) }

private func refusal(_ input: String) -> String? {
    do {
        _ = try der(input)
        return nil
    } catch let error as CofferError {
        return error.code == .param ? error.message : "\(error.code)"
    } catch {
        return "\(error)"
    }
}

@Suite struct `A certificate that is given` {
    @Test func `in DER is passed on as it is`() throws {
        let found = try der(content)
        #expect(found == content)
        let short = try der([0x30])
        #expect(short == [0x30])
    }

    @Test(arguments: 0...100)
    func `in PEM is the bytes in its block`(count: Int) throws {
        let bytes = Array(content.prefix(count + 1))
        let found = try der(block("CERTIFICATE", bytes))
        #expect(found == bytes)
    }

    @Test func `in PEM may have text around it, other blocks before it, and ends of lines of either kind`() throws {
        let texts = [
            block("CERTIFICATE", content, "\r\n"),
            String(block().dropLast()),
            "subject=CN = Größe\n\n" + block() + "more\n" + block("CERTIFICATE", [0x30]),
            block("PRIVATE KEY", [1, 2, 3]) + block() + "-----BEGIN CERTIFICATE-----\nnot looked at",
            "-----BEGIN EC PARAMETERS-----\n\nanything: at all\n-----END EC PARAMETERS-----\n" + block(),
        ]
        for text in texts {
            let found = try der(text)
            #expect(found == content)
        }
    }

    @Test(
        arguments: [
            ("", "the input is empty"),
            ("hello\n", "it is neither DER nor PEM"),
            ("-----BEGIN CERTIFICATE-----\nMAA=\n", "the block 'CERTIFICATE' of line 1 has no end"),
            ("\n-----BEGIN CERTIFICATE----\nMAA=\n", "line 2 begins a block and is malformed"),
            ("-----BEGIN -----\n", "line 1 begins a block and is malformed"),
            (
                "-----BEGIN CERTIFICATE-----\nMAA=\n-----END PRIVATE KEY-----\n",
                "line 3 does not end the block 'CERTIFICATE' of line 1"
            ),
            (
                "-----BEGIN CERTIFICATE-----\nMAA=\n-----BEGIN CERTIFICATE-----\n",
                "line 3 does not end the block 'CERTIFICATE' of line 1"
            ),
            ("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", "the block of the CERTIFICATE is empty"),
            ("-----BEGIN CERTIFICATE-----\nMAA\n-----END CERTIFICATE-----\n", "cut off: it has 3 characters"),
            ("-----BEGIN CERTIFICATE-----\nMAB=\n-----END CERTIFICATE-----\n", "line 2 is not base64, at character 4"),
            ("-----BEGIN CERTIFICATE-----\nMR==\n-----END CERTIFICATE-----\n", "line 2 is not base64, at character 3"),
            ("-----BEGIN CERTIFICATE-----\nM===\n-----END CERTIFICATE-----\n", "line 2 is not base64, at character 2"),
            ("-----BEGIN CERTIFICATE-----\nMA=A\n-----END CERTIFICATE-----\n", "line 2 is not base64, at character 4"),
            (
                "-----BEGIN CERTIFICATE-----\nMAA=\nMAAA\n-----END CERTIFICATE-----\n",
                "line 3 is not base64, at character 1"
            ),
            ("-----BEGIN CERTIFICATE-----\nM AA\n-----END CERTIFICATE-----\n", "line 2 is not base64, at character 2"),
            ("-----BEGIN CERTIFICATE-----\nMA-_\n-----END CERTIFICATE-----\n", "line 2 is not base64, at character 3"),
            ("-----BEGIN CERTIFICATE-----\nMAAA\n\n-----END CERTIFICATE-----\n", "line 3, inside the block"),
        ]
    )
    func `in PEM that is malformed is refused, with the line`(text: String, finding: String) {
        let found = refusal(text)
        #expect(found?.contains(finding) == true, "\(found ?? "it was read")")
    }

    @Test func `beside nothing but other blocks is missed, and they are named`() {
        let found = refusal(block("PRIVATE KEY") + block("CERTIFICATE REQUEST") + block("PRIVATE KEY"))
        #expect(
            found
                == "can't read the certificate: it has no block of a CERTIFICATE, but 'PRIVATE KEY', 'CERTIFICATE REQUEST'"
        )
    }

    @Test func `is read or refused, wherever it is cut off or a byte is another`() throws {
        let text = Array(block().utf8)
        for count in 0..<(text.count - 1) {
            let found = refusal(String(decoding: text.prefix(count), as: UTF8.self))
            #expect(found?.contains("can't read the certificate") == true, "\(count) bytes")
        }
        for place in text.indices {
            for value: UInt8 in [0, 10, 13, 32, 45, 61, 65, 127, 128, 255] {
                var changed = text
                changed[place] = value
                do {
                    _ = try der(changed)
                } catch let error as CofferError {
                    #expect(error.code == .param, "byte \(place)")
                }
            }
        }
    }
}
