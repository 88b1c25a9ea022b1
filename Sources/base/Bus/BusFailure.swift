/// An error that a call is answered with.
package struct BusFailure: Error, Equatable, Sendable {
    /// The name of the error, such as `org.freedesktop.DBus.Error.InvalidArgs`.
    package let name: String
    /// What failed, for people.
    package let text: String

    package init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

    /// An error that D-Bus itself names.
    ///
    /// - Parameter word: The last part of its name.
    package init(bus word: String, _ text: String) {
        self.init("\(BusConnection.busName).Error.\(word)", text)
    }

    static let tooMuch = BusFailure(bus: "LimitsExceeded", "the arguments are longer than is taken")
    package static let wrongArguments = BusFailure(bus: "InvalidArgs", "the arguments are not those of the method")
}
