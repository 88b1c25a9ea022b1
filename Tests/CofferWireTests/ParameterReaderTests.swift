import CofferCore
import CofferWire
import Testing

@Suite struct ParameterReaderTests {
    /// Reads from an object in one go, and gives the error's message where it fails.
    private func message(
        _ params: JSONObject,
        _ read: (inout ParameterReader) throws(CofferError) -> Void
    ) -> String? {
        var reader = ParameterReader(params)
        do throws(CofferError) {
            try read(&reader)
            return nil
        } catch {
            #expect(error.code == .param)
            return error.message
        }
    }

    @Test func `parameters are read by name and kind`() throws {
        var reader = ParameterReader([
            "name": "a", "limit": 10, "force": true, "kind": "token", "tags": ["x", "y"], "none": .null,
        ])
        #expect(try reader.string("name") == "a")
        #expect(try reader.integer("limit", in: 1...10) == 10)
        #expect(try reader.optionalBool("force") == true)
        #expect(try reader.value("kind", as: ItemKind.self) == .token)
        #expect(try reader.strings("tags") == ["x", "y"])
        #expect(try reader.optionalString("none") == nil)
        try reader.finish()
    }

    @Test func `what may be absent is nil where it is absent or null`() throws {
        for params: JSONObject in [[:], ["p": .null]] {
            var reader = ParameterReader(params)
            #expect(try reader.optionalString("p") == nil)
            #expect(try reader.optionalInteger("p") == nil)
            #expect(try reader.optionalBool("p") == nil)
            #expect(try reader.optionalStrings("p") == nil)
            #expect(try reader.value("p", as: ItemKind.self) == nil)
            try reader.finish()
        }
    }

    @Test(arguments: [[:], ["p": .null]] as [JSONObject])
    func `what has to be there is missed`(_ params: JSONObject) {
        #expect(
            message(params) { (r) throws(CofferError) in _ = try r.string("p") }
                == "parameter 'p' is missing: expected a string"
        )
        #expect(
            message(params) { (r) throws(CofferError) in _ = try r.integer("p", in: 0...7) }
                == "parameter 'p' is missing: expected a whole number from 0 to 7"
        )
        #expect(
            message(params) { (r) throws(CofferError) in _ = try r.strings("p") }
                == "parameter 'p' is missing: expected an array of strings"
        )
    }

    @Test(arguments: [true, 1, .number(1), [], [:]] as [JSONValue])
    func `another kind than a string is refused`(_ value: JSONValue) {
        let expected = "parameter 'p': expected a string"
        #expect(message(["p": value]) { (r) throws(CofferError) in _ = try r.string("p") } == expected)
        #expect(message(["p": value]) { (r) throws(CofferError) in _ = try r.optionalString("p") } == expected)
    }

    @Test(arguments: [true, "1", .number(1), .number(1e2), 0, 1001, -1, [1]] as [JSONValue])
    func `anything but an integer in range is refused`(_ value: JSONValue) {
        let expected = "parameter 'limit': expected a whole number from 1 to 1000"
        #expect(
            message(["limit": value]) { (r) throws(CofferError) in _ = try r.optionalInteger("limit", in: 1...1000) }
                == expected
        )
        #expect(
            message(["limit": value]) { (r) throws(CofferError) in _ = try r.integer("limit", in: 1...1000) }
                == expected
        )
    }

    @Test(arguments: [1, 2, 999, 1000] as [Int64])
    func `the ends of a range belong to it`(_ value: Int64) throws {
        var reader = ParameterReader(["limit": .integer(value)])
        #expect(try reader.integer("limit", in: 1...1000) == value)
    }

    @Test func `a range that is open on a side is described as such`() {
        let wrong: JSONObject = ["p": "x"]
        #expect(
            message(wrong) { (r) throws(CofferError) in _ = try r.integer("p") }
                == "parameter 'p': expected a whole number"
        )
        #expect(
            message(wrong) { (r) throws(CofferError) in _ = try r.integer("p", in: 5...Int64.max) }
                == "parameter 'p': expected a whole number from 5 on"
        )
        #expect(
            message(wrong) { (r) throws(CofferError) in _ = try r.integer("p", in: Int64.min...5) }
                == "parameter 'p': expected a whole number up to 5"
        )
    }

    @Test func `a number is no truth value`() {
        #expect(
            message(["p": 1]) { (r) throws(CofferError) in _ = try r.optionalBool("p") }
                == "parameter 'p': expected true or false"
        )
    }

    @Test(arguments: ["", "File", "files", 1, .null] as [JSONValue])
    func `a name that an enumeration lacks is refused with those it has, and null is none`(_ value: JSONValue) {
        let found = message(["store": value]) { (r) throws(CofferError) in _ = try r.value("store", as: StoreName.self)
        }
        #expect(found == (value == .null ? nil : "parameter 'store': expected one of 'keychain', 'file'"))
    }

    @Test(arguments: ["a", ["a", 1], [.null], 1] as [JSONValue])
    func `anything but an array of strings is refused`(_ value: JSONValue) {
        #expect(
            message(["p": value]) { (r) throws(CofferError) in _ = try r.strings("p") }
                == "parameter 'p': expected an array of strings"
        )
    }

    @Test func `an unknown member is refused, and the error lists the known ones`() throws {
        var reader = ParameterReader(["name": "a", "nmae": "b"])
        _ = try reader.string("name")
        _ = try reader.optionalBool("force")
        let error = #expect(throws: CofferError.self) { try reader.finish() }
        #expect(error?.code == .param)
        #expect(error?.message == "unknown parameter 'nmae'")
        #expect(error?.hint == "the parameters here are 'name', 'force'")
    }

    @Test func `without parameters any member is one too many, even null`() {
        let error = #expect(throws: CofferError.self) { try ParameterReader(["x\u{1}": .null]).finish() }
        #expect(error?.message == "unknown parameter 'x\\u{01}'")
        #expect(error?.hint == "there are no parameters here")
    }
}
