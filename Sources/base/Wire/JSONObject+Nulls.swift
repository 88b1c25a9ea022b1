internal import CofferCore

// `null` is no value. Where it counted as absent, a client whose variable is unset would get a wider request than it
// meant.

extension JSONObject {
    /// Refuses parameters that are `null`, or have `null` inside.
    ///
    /// - Parameters:
    ///   - never: The parameters that must not be `null`; it counts as absent for all others.
    ///   - removing: The parameters that are checked by their own reader, because `null` removes something there.
    /// - Throws: `param`, naming the first one.
    func refuseNulls(
        at never: @autoclosure () -> [String],
        exceptInside removing: @autoclosure () -> [String]
    ) throws(CofferError) {
        for member in list {
            let key = member.key
            if case .null = member.value {
                if never().contains(where: { key.hasSameBytes(as: $0) }) { throw .null(key) }
            } else if let place = member.value.placeOfNull, !removing().contains(where: { key.hasSameBytes(as: $0) }) {
                throw .null(key + place)
            }
        }
    }

    /// Refuses every `null` among the members.
    func refuseNullMembers(of parameter: String) throws(CofferError) {
        for member in list {
            if case .null = member.value { throw .null("\(parameter).\(member.key)") }
        }
    }
}

extension JSONValue {
    /// The path to the first `null` inside; `nil` if there is none.
    fileprivate var placeOfNull: String? {
        switch self {
        case .object(let object):
            for member in object.list {
                if case .null = member.value { return ".\(member.key)" }
                if let place = member.value.placeOfNull { return ".\(member.key)\(place)" }
            }
        case .array(let elements):
            for (index, value) in elements.enumerated() {
                if case .null = value { return "[\(index)]" }
                if let place = value.placeOfNull { return "[\(index)]\(place)" }
            }
        case .null, .bool, .integer, .number, .string: break
        }
        return nil
    }
}

extension CofferError {
    fileprivate static func null(_ place: String) -> CofferError {
        CofferError(
            .param,
            "parameter \(quotedForDisplay(place)): null is no value",
            hint: "give a value, or leave it out"
        )
    }
}
