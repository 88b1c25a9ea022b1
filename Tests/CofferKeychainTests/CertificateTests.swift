import CofferCore
import CofferCrypto
import CofferKeychain
import CofferTestSupport
import Foundation
import Testing

private let hasOpenSSL = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

/// Made by OpenSSL 3.0: version 3, Ed25519, with a key identifier.
private let version3 = base64(
    """
    MIIBEDCBw6ADAgECAgMA/xEwBQYDK2VwMBYxFDASBgNVBAMMC0NvZmZlciB0ZXN0MCAXDTI2MTEy
    MTEwMTExNVoYDzIxMjYxMDI4MTAxMTE1WjAWMRQwEgYDVQQDDAtDb2ZmZXIgdGVzdDAqMAUGAytl
    cAMhAFu4IIm8dzCDiHnkNqQR7CFStRXrX5/QXVGuzCfIK9rzozIwMDAdBgNVHQ4EFgQUCyjj3TaR
    yO4kiqQTOD6lwUX559AwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQAVvzfp0RBdBxPfyVrtHgGv
    rCG8ggDbzBH2cr/XWPE+eqVVmUjS9PntcHdy3iTI3YyUc0vUN/8fSyyZBDcRVd8K
    """
)
/// Made by OpenSSL 3.0: version 1, of the same key.
private let version1 = base64(
    """
    MIHVMIGIAgEHMAUGAytlcDAWMRQwEgYDVQQDDAtDb2ZmZXIgdGVzdDAgFw0yNjExMjExMDExMTVa
    GA8yMTI2MTAyODEwMTExNVowFjEUMBIGA1UEAwwLQ29mZmVyIHRlc3QwKjAFBgMrZXADIQBbuCCJ
    vHcwg4h55DakEewhUrUV61+f0F1RrswnyCva8zAFBgMrZXADQQCX8cohBZGAZPtW2gDq0syZFtD2
    L45bGe4rMc7a9zYZmXFJOY4+l2EczhyeTaYWg18VM6AGEpI6JaCGd/4c6p0N
    """
)

private func base64(_ text: String) -> [UInt8] {
    Array(Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
}

private func read(_ der: [UInt8]) throws(CofferError) -> Certificate { try Certificate(der: der.span.bytes) }

/// What is said where it can't be read; `nil` where it can.
private func refusal(_ der: [UInt8]) -> CofferError? {
    do throws(CofferError) {
        _ = try read(der)
        return nil
    } catch {
        return error
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
}

/// A DER element.
private func element(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    let count = content.count
    let length: [UInt8] =
        count < 0x80
        ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
    return [tag] + length + content
}

/// A certificate of which one field at a time can be another.
private struct Draft {
    var version = element(0xA0, element(2, [2]))
    var serial = element(2, [1])
    var algorithm = element(0x30, element(6, [0x2B, 0x65, 0x70]))
    var outerAlgorithm = element(0x30, element(6, [0x2B, 0x65, 0x70]))
    var issuer = element(0x30)
    var validity = element(0x30, element(0x17, Array("260101000000Z".utf8)), element(0x17, Array("270101000000Z".utf8)))
    var subject = element(0x30)
    var keyAlgorithm = element(0x30, element(6, [0x2B, 0x65, 0x6E]))
    var key = element(3, [0] + [UInt8](repeating: 9, count: 32))
    var rest: [UInt8] = []
    var signature = element(3, [0] + [UInt8](repeating: 5, count: 64))
    var behind: [UInt8] = []

    var der: [UInt8] {
        let information = element(0x30, keyAlgorithm, key)
        let signed = element(0x30, version, serial, algorithm, issuer, validity, subject, information, rest)
        return element(0x30, signed, outerAlgorithm, signature) + behind
    }

    static func extensions(_ list: [UInt8]...) -> [UInt8] { element(0xA3, element(0x30, list.flatMap { $0 })) }

    static func keyIdentifier(_ value: [UInt8]) -> [UInt8] {
        element(0x30, element(6, [0x55, 0x1D, 0x0E]), element(4, value))
    }
}

@Suite struct `A certificate` {
    @Test func `says what the certificate of version 3 says`() throws {
        let found = try read(version3)
        #expect(found.certificateType == 3)
        #expect(Certificate.encoding == 3)
        #expect(found.serialNumber == [0, 0xFF, 0x11])
        let name = element(
            0x30,
            element(0x31, element(0x30, element(6, [0x55, 4, 3]), element(12, Array("Coffer test".utf8))))
        )
        #expect(found.issuer == name)
        #expect(found.subject == name)
        #expect(found.subjectKeyID.map(hexadecimal) == "0b28e3dd3691c8ee248aa413383ea5c145f9e7d0")
        #expect(found.publicKeyAlgorithm == "1.3.101.112")
        #expect(found.keyType == .ed25519)
        #expect(hexadecimal(found.publicKey) == "5bb82089bc7730838879e436a411ec2152b515eb5f9fd05d51aecc27c82bdaf3")
        // sha256sum of the 32 bytes.
        let hash = "918d071fd6e467910ccc52340f35357902bada89cee1a831a2b4fd74b6d50cf7"
        #expect(hexadecimal(found.publicKeyHash) == hash)
    }

    @Test func `of version 1 has no key identifier, and the hash of the same key`() throws {
        let found = try read(version1)
        #expect(found.certificateType == 1)
        #expect(found.serialNumber == [7])
        #expect(found.subjectKeyID == nil)
        let other = try read(version3).publicKeyHash
        #expect(found.publicKeyHash == other)
    }

    @Test func `gives its item each attribute that the daemon gives, and no other`() throws {
        let given = Set(KeychainAttribute.allCases.filter { $0.isGiven(in: .certificate) })
        let found = try read(version3).attributes
        #expect(Set(found.keys) == given.subtracting([.creationDate, .modificationDate]))
        for (attribute, value) in found { #expect(value.form == attribute.form, "\(attribute)") }
        let without = try read(version1).attributes
        #expect(without[.subjectKeyID] == nil)
        #expect(without.count == found.count - 1)
    }

    @Test(arguments: [version3, version1])
    func `is refused if it is truncated anywhere, or followed by a byte`(der: [UInt8]) {
        for count in der.indices {
            let found = refusal(Array(der.prefix(count)))
            #expect(found?.code == .param, "\(count) bytes")
        }
        let longer = refusal(der + [0])
        #expect(longer?.message.contains("1 bytes too many") == true)
        let twice = refusal(der + der)
        #expect(twice?.code == .param)
    }

    @Test(arguments: [version3, version1])
    func `is read or refused when any byte is another`(der: [UInt8]) {
        var refusals = 0
        for place in der.indices {
            for value in UInt8.min...UInt8.max where value != der[place] {
                var changed = der
                changed[place] = value
                let found = refusal(changed)
                let isExpected = found == nil || found?.code == .param
                #expect(isExpected, "byte \(place)")
                refusals += found == nil ? 0 : 1
            }
        }
        #expect(refusals > 255 * 60)
    }

    @Test func `is bounded`() {
        let found = refusal([UInt8](repeating: 0x30, count: Limits.secretBytes + 1))
        #expect(found?.code == .dataTooLarge)
        let deep = (0..<200).reduce([UInt8]()) { inner, _ in element(0x30, inner) }
        let ofDeep = refusal(element(0x30, deep))
        #expect(ofDeep?.message.contains("inside one another") == true)
        let deepest = (0..<8000).reduce([UInt8]()) { inner, _ in
            [0x30, 0x82, UInt8(inner.count >> 8), UInt8(inner.count & 255)] + inner
        }
        let ofDeepest = refusal(deepest)
        #expect(ofDeepest?.code == .param)
    }

    @Test func `may be as plain as the draft of these tests`() throws {
        let found = try read(Draft().der)
        #expect(found.keyType == .x25519)
        #expect(found.subject == [0x30, 0])
        var draft = Draft()
        draft.rest =
            element(0x81, [0, 1]) + element(0x82, [0, 2])
            + Draft.extensions(Draft.keyIdentifier(element(4, [1, 2, 3])))
        let withAll = try read(draft.der)
        #expect(withAll.subjectKeyID == [1, 2, 3])
        draft.serial = element(2, [0xFF])
        let negative = try read(draft.der)
        #expect(negative.serialNumber == [0xFF])
    }

    private static let wrong: [(any WritableKeyPath<Draft, [UInt8]> & Sendable, [UInt8], String)] = [
        (\.version, element(0xA0, element(2, [0])), "a version that X.509 has not"),
        (\.version, element(0xA0, element(2, [3])), "a version that X.509 has not"),
        (\.version, element(0xA0, element(2, [0, 2])), "not in its shortest form"),
        (\.version, element(0xA0, element(2, [2]), element(2, [2])), "too many at the end of the version"),
        (\.version, element(0xA0), "the version is missing"),
        (\.serial, element(2), "not in its shortest form"),
        (\.serial, element(2, [0, 1]), "not in its shortest form"),
        (\.serial, element(2, [0xFF, 0x80]), "not in its shortest form"),
        (\.serial, element(4, [1]), "tag 0x04 instead of 0x02"),
        (\.serial, [2, 0x81, 1, 1], "a length that is not in its shortest form"),
        (\.serial, [2, 0x82, 0, 1, 1], "a length that is not in its shortest form"),
        (\.serial, [2, 0x80, 1, 0, 0], "a length that DER has not"),
        (\.serial, [2, 0x85, 0, 0, 0, 0, 1, 1], "a length that DER has not"),
        (\.serial, [0x1F, 1, 1], "a tag above 30"),
        (\.serial, [0, 0], "an end mark"),
        (\.serial, element(0x22, element(2, [1])), "which DER has not"),
        (\.outerAlgorithm, element(0x30, element(6, [0x2B, 0x65, 0x71])), "not the one that is signed"),
        (\.issuer, element(0x10), "which DER has not"),
        (\.issuer, element(0x30, element(0x31)), "a part of a name is missing"),
        (
            \.subject, element(0x30, element(0x31, element(0x30, element(6, [0x80, 1]), element(12)))),
            "object identifier"
        ),
        (\.subject, element(0x30, element(0x31, element(0x30, element(6, [0x55, 4, 3])))), "inside an element"),
        (\.subject, element(0x30, element(0x31, element(0x30, element(6), element(12)))), "object identifier"),
        (\.subject, element(0x30, element(0x31, element(0x30, element(6, [0x81]), element(12)))), "object identifier"),
        (\.validity, element(0x30, element(2, [1]), element(2, [1])), "not a time"),
        (\.validity, element(0x30), "inside an element"),
        (\.keyAlgorithm, element(0x30, element(6, [0x2B, 0x65, 0x6E]), element(5)), "not a key of x25519"),
        (\.key, element(3, [0] + [UInt8](repeating: 9, count: 31)), "not a key of x25519"),
        (\.key, element(3, [1, 2]), "not a string of whole bytes"),
        (\.key, element(3), "not a string of whole bytes"),
        (\.signature, element(3), "not a string of whole bytes"),
        (\.rest, element(0xA3), "the extensions is missing"),
        (\.rest, Draft.extensions(), "an extension is missing"),
        (\.rest, Draft.extensions(Draft.keyIdentifier([1])), "inside an element"),
        (
            \.rest, Draft.extensions(Draft.keyIdentifier(element(4, [1]) + [0])),
            "too many at the end of the subject's key"
        ),
        (
            \.rest, Draft.extensions(Draft.keyIdentifier(element(4, [1])), Draft.keyIdentifier(element(4, [1]))),
            "the extension 2.5.29.14 twice"
        ),
        (
            \.rest, Draft.extensions(element(0x30, element(6, [0x55, 0x1D, 0x0F]), element(1, [1]), element(4))),
            "a truth value"
        ),
        (\.rest, element(0x84), "too many at the end of what is signed"),
        (\.behind, [0], "too many at the end of the input"),
    ]

    @Test(arguments: wrong.indices)
    func `is refused if it violates DER or X.509, and the error says how`(index: Int) {
        let (path, value, finding) = Self.wrong[index]
        var draft = Draft()
        draft[keyPath: path] = value
        let found = refusal(draft.der)
        #expect(found?.code == .param)
        #expect(found?.message.contains(finding) == true, "\(found?.message ?? "it was read")")
    }

    @Test func `that is something else is refused with what it is`() {
        let empty = refusal([])
        #expect(empty?.message == "the certificate can't be read: there are no bytes")
        let pem = refusal(Array("-----BEGIN CERTIFICATE-----".utf8))
        #expect(pem?.message == "the certificate can't be read: it is PEM and not DER")
        // Version 1 has no extensions, and version 2 no more than the two identifiers.
        var draft = Draft()
        draft.version = []
        draft.rest = element(0x81, [0, 1])
        let first = refusal(draft.der)
        #expect(first?.code == .param)
        draft.version = element(0xA0, element(2, [1]))
        let second = refusal(draft.der)
        #expect(second == nil)
        draft.rest = Draft.extensions(Draft.keyIdentifier(element(4, [1])))
        let withExtensions = refusal(draft.der)
        #expect(withExtensions?.code == .param)
    }
}

/// Certificates that OpenSSL makes now, of each kind of key.
@Suite(.enabled(if: hasOpenSSL)) struct `A certificate of OpenSSL` {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        let settings = """
            [req]
            distinguished_name = name
            prompt = no
            [name]
            [identified]
            subjectKeyIdentifier = hash
            basicConstraints = critical, CA:TRUE
            subjectAltName = DNS:example.org, IP:127.0.0.1
            [plain]
            subjectKeyIdentifier = none
            basicConstraints = critical, CA:TRUE

            """
        _ = try directory.write(Array(settings.utf8), to: "settings")
    }

    private func openssl(_ arguments: String) throws -> [UInt8] {
        let words = arguments.split(separator: " ").map { String($0).replacing("~", with: " ") }
        let result = try runCommand("/usr/bin/openssl", words, directory: directory.path)
        try #require(result.status == 0, "openssl \(arguments): \(result.errors)")
        return result.output
    }

    @Test(
        arguments: [
            ("RSA -pkeyopt rsa_keygen_bits:2048", "1.2.840.113549.1.1.1", KeyType?.none),
            ("EC -pkeyopt ec_paramgen_curve:P-256", "1.2.840.10045.2.1", nil),
            ("ED25519", "1.3.101.112", .ed25519),
            ("ED448", "1.3.101.113", nil),
        ],
        ["-extensions identified", "-extensions plain", ""]
    )
    func `is read as OpenSSL reads it`(key: (String, String, KeyType?), extensions: String) throws {
        _ = try openssl("genpkey -algorithm \(key.0) -out key")
        _ = try openssl(
            "req -config settings -new -x509 -key key -subj /C=CH/O=Größe~und~Maß/CN=Coffer -utf8 -days 30 \(extensions) "
                + "-outform DER -out certificate"
        )
        let der = try openssl("x509 -in certificate -inform DER -outform DER")
        let found = try read(der)

        #expect(found.certificateType == (extensions.isEmpty ? 1 : 3))
        #expect(found.publicKeyAlgorithm == key.1)
        #expect(found.keyType == key.2)
        let text = String(decoding: try openssl("x509 -in certificate -inform DER -noout -serial"), as: UTF8.self)
        let digits = hexadecimal(found.serialNumber)
        let serial = digits.hasPrefix("00") ? String(digits.dropFirst(2)) : digits
        #expect(text.lowercased() == "serial=\(serial)\n")
        let information = try openssl("pkey -in key -pubout -outform DER")
        #expect(information.suffix(found.publicKey.count + 1) == [0] + found.publicKey)
        _ = try directory.write(found.publicKey, to: "public")
        let hash = String(decoding: try openssl("dgst -sha256 -r public"), as: UTF8.self)
        #expect(hash.hasPrefix(hexadecimal(found.publicKeyHash)))
        #expect(found.issuer == found.subject)
        let name = String(decoding: found.subject, as: UTF8.self)
        #expect(name.contains("Größe und Maß"))
        #expect((found.subjectKeyID != nil) == (extensions == "-extensions identified"))
        if let identifier = found.subjectKeyID {
            let text = try openssl("x509 -in certificate -inform DER -noout -ext subjectKeyIdentifier")
            let shown = String(decoding: text, as: UTF8.self).replacing(":", with: "").lowercased()
            #expect(shown.contains(hexadecimal(identifier)))
        }
        try check(der)
    }

    /// Cut off anywhere it is refused; with a byte that is another, it is read or refused.
    private func check(_ der: [UInt8]) throws {
        for count in der.indices {
            let found = refusal(Array(der.prefix(count)))
            #expect(found?.code == .param, "\(count) bytes")
        }
        for place in der.indices {
            for bit in 0..<8 {
                var changed = der
                changed[place] ^= 1 << bit
                let found = refusal(changed)
                let isExpected = found == nil || found?.code == .param
                #expect(isExpected, "bit \(bit) of byte \(place)")
            }
        }
    }

    @Test func `of an X25519 key, by another issuer, has the hash that the key has`() throws {
        _ = try openssl("genpkey -algorithm ED25519 -out authority.key")
        _ = try openssl(
            "req -config settings -new -x509 -key authority.key -subj /CN=Authority -days 30 -out authority"
        )
        _ = try openssl("genpkey -algorithm X25519 -out key")
        let publicKey = Array(try openssl("pkey -in key -pubout -outform DER").suffix(32))
        _ = try openssl("pkey -in key -pubout -out public")
        _ = try openssl("req -config settings -new -key authority.key -subj /CN=Coffer -out request")
        let der = try openssl(
            "x509 -req -in request -force_pubkey public -CA authority -CAkey authority.key -set_serial 5 -outform DER"
        )
        let found = try read(der)
        #expect(found.keyType == .x25519)
        #expect(found.publicKey == publicKey)
        let hash = publicKeyHash(of: publicKey)
        #expect(found.publicKeyHash == hash)
        #expect(found.issuer != found.subject)
        let authority = try read(try openssl("x509 -in authority -outform DER")).subject
        #expect(found.issuer == authority)
    }
}
