package import CofferWire

/// A page of a listing, which says where the next one begins.
package protocol Page {
    /// The position of the next page, read before the page is: `nil` after the last.
    static func next(in json: JSONValue) -> String?
}

extension ItemPage: Page {
    package static func next(in json: JSONValue) -> String? { json.objectValue?["next"]?.stringValue }
}
