package import CofferCore

extension ItemName {
    /// Reads a name from the command line.
    ///
    /// - Throws: `param` if it is not a name, or was not UTF-8. Swift replaces invalid bytes by U+FFFD, so
    ///   that two different names would become equal.
    package init(argument: String) throws(CofferError) {
        if argument.unicodeScalars.contains("\u{FFFD}") {
            throw CofferError(.param, "bad name: it is not UTF-8", hint: "a name is a path such as 'github.com/token'")
        }
        try self.init(argument)
    }
}
