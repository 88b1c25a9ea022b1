package import CofferClient
internal import CofferSecretFormats

/// The secrets that a program is to get, as the command line and the files of variables name them.
package struct Provisions {
    private(set) var variables: [(name: String, source: VariableSource)] = []
    private(set) var files: [(variable: String, reference: SecretReference)] = []
    let input: SecretReference?
    private var names: Set<String> = []

    /// - Parameters:
    ///   - assignments: `VAR=NAME[#FIELD]`, whose variables get secrets.
    ///   - variableFiles: The paths of files of variables.
    ///   - files: `VAR=NAME[#FIELD]`, whose variables get paths.
    ///   - input: What standard input is to be.
    package init(
        _ assignments: [String],
        variableFiles: [String],
        files: [String],
        input: String?
    ) throws(CofferError) {
        self.input = try input.map { (text) throws(CofferError) in try SecretReference(argument: text) }
        for path in variableFiles {
            for variable in try EnvironmentFile.variables(ofFile: path) {
                try claim(variable.name, at: "\(quotedForDisplay(path)), line \(variable.line): ")
                variables.append((variable.name, variable.source))
            }
        }
        for text in assignments {
            let (name, reference) = try Self.assignment(text, of: "--env")
            try claim(name)
            variables.append((name, .secret(reference)))
        }
        for text in files {
            let (name, reference) = try Self.assignment(text, of: "--file")
            try claim(name)
            self.files.append((name, reference))
        }
    }

    /// The items, each of them once, in the order in which they are read.
    package var items: [ItemName] {
        var items: [ItemName] = []
        func add(_ reference: SecretReference) {
            if !items.contains(reference.name) { items.append(reference.name) }
        }
        for case .secret(let reference) in variables.map(\.source) { add(reference) }
        files.forEach { add($0.reference) }
        if let input { add(input) }
        return items
    }

    private static func assignment(
        _ text: String,
        of option: String
    ) throws(CofferError) -> (name: String, reference: SecretReference) {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw CofferError(.param, "\(option) \(quotedForDisplay(text)): expected VAR=NAME or VAR=NAME#FIELD")
        }
        let name = String(text[..<mark])
        guard name.isVariableName else {
            throw CofferError(.param, "\(option) \(quotedForDisplay(text)): \(Self.nameRule(name))")
        }
        return (name, try SecretReference(argument: String(text[text.utf8.index(after: mark)...])))
    }

    /// What is wrong with the name of a variable.
    static func nameRule(_ name: String) -> String {
        "\(quotedForDisplay(name)) is no name of a variable: it has letters, digits and '_', and begins with no digit"
    }

    private mutating func claim(_ name: String, at place: String = "") throws(CofferError) {
        if names.insert(name).inserted { return }
        throw CofferError(
            .param,
            "\(place)the variable \(quotedForDisplay(name)) is set twice",
            hint: "leave out one of the two: --env, --env-file and --file set a variable once"
        )
    }
}
