import CofferClient
import CofferSecretFormats
import CofferProvision
import Foundation
import Testing

/// What a program prints, cut into writes at every place.
@Suite struct MaskerTests {
    private static let secret = "s3cr3t/pa'ss wö"

    /// The output when the writes end at some places.
    private func masked(_ text: [UInt8], _ secrets: [String], cutAt places: [Int]) throws -> String {
        var masker = try Masker(try Masker.patterns(of: try secrets.map { try Secret(exposed: $0) }))
        var output: [UInt8] = []
        func print(_ bytes: RawSpan) { output += (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
        let ends = places.sorted() + [text.count]
        var start = 0
        for end in ends {
            let part = text[start..<end]
            _ = masker.take(
                { memory in
                    memory.copyBytes(from: part)
                    return part.count
                },
                to: print
            )
            start = end
        }
        masker.finish(to: print)
        return String(decoding: output, as: UTF8.self)
    }

    @Test(
        arguments: [
            "s3cr3t/pa'ss wö",
            "s3cr3t%2Fpa%27ss%20w%C3%B6", "s3cr3t/pa'ss+w%c3%b6",
            #"s3cr3t\/pa'ss w\u00f6"#, #"s3cr3t/pa\'ss w\303\266"#,
            #"s3cr3t/pa'\''ss wö"#, #"s3cr3t/pa'"'"'ss wö"#,
        ]
    )
    func `a secret is masked in each of its forms, wherever two writes divide it`(form: String) throws {
        let text = Array("<\(form)>".utf8)
        for first in 0...text.count {
            for second in stride(from: first, through: text.count, by: 3) {
                let output = try masked(text, [Self.secret], cutAt: [first, second])
                #expect(output == "<********>", "cut at \(first) and \(second)")
            }
        }
    }

    @Test(arguments: 0..<3)
    func `a secret inside of a longer text is masked in base64, wherever a write divides it`(offset: Int) throws {
        let before = Array("xyz".utf8.prefix(offset))
        let text = Array(Data(before + Array("a long enough secret".utf8)).base64EncodedString().utf8)
        for place in 0...text.count {
            let output = try masked(text, ["a long enough secret"], cutAt: [place])
            #expect(output.hasSuffix("********"), "cut at \(place)")
            // The characters before have bits of what is before the secret.
            #expect(output.utf8.count == 8 + (offset * 8 + 5) / 6, "cut at \(place)")
        }
    }

    @Test(arguments: ["a secret", "a secret1", "a secret12"], ["\n", "\r\n"])
    func `a secret with a line end is masked in base64 up to its last character`(secret: String, end: String) throws {
        for before in ["", "x", "xy"] {
            let text = Array(Data((before + secret + end).utf8).base64EncodedString().utf8)
            for place in 0...text.count {
                let output = try masked(text, [secret], cutAt: [place])
                #expect(output.hasSuffix("********"), "cut at \(place) behind '\(before)'")
                #expect(output.utf8.count == 8 + (before.utf8.count * 8 + 5) / 6, "cut at \(place)")
            }
        }
    }

    @Test func `what only begins like a secret is printed as it is`() throws {
        let text = Array("s3cr3t/pa and s3cr3t/pa'ss w".utf8)
        for place in 0...text.count {
            #expect(try masked(text, [Self.secret], cutAt: [place]) == String(decoding: text, as: UTF8.self))
        }
    }

    @Test func `what can't begin a secret is passed on before more arrives`() throws {
        var masker = try Masker(try Masker.patterns(of: [try Secret(exposed: "hunter22")]))
        var passed = 0
        let text = Array("prompt: hun".utf8)
        _ = masker.take(
            { memory in
                memory.copyBytes(from: text)
                return text.count
            },
            to: { passed += $0.byteCount }
        )
        #expect(passed == "prompt: ".utf8.count)
    }

    @Test func `two secrets that overlap become one mask`() throws {
        let text = Array("-abcdefgh-".utf8)
        for place in 0...text.count {
            #expect(try masked(text, ["abcdef", "defgh"], cutAt: [place]) == "-********-")
        }
    }

    @Test func `each line of a secret is masked, but no line of three bytes`() throws {
        let secret = "first line\r\nabc\nlast line\n"
        let text = Array("last line, abc, first line".utf8)
        #expect(try masked(text, [secret], cutAt: []) == "********, abc, ********")
        #expect(try Masker.patterns(of: [try Secret(exposed: "abc\n")]).isEmpty)
    }
}
