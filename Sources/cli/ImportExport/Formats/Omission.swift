package import CofferClient

/// What an import does not store as it is in the file, for a person.
package struct Omission: Sendable {
    /// The part of the file that it is.
    package enum Part: Sendable {
        case entry
        case attachment(String)
        case field(String)
        /// A field that is stored, but means something else than what it says.
        case kept(String)
    }

    package let part: Part
    /// The entry, by its place and its title.
    let entry: String
    let reason: String

    package init(_ part: Part, of entry: String, because reason: String) {
        self.part = part
        self.entry = entry
        self.reason = reason
    }

    /// Whether it would have been an item of its own.
    package var isItem: Bool {
        switch part {
        case .entry, .attachment: true
        case .field, .kept: false
        }
    }

    /// The words of the warning.
    package var words: String {
        switch part {
        case .entry: "\(entry) is left out: \(reason)"
        case .attachment(let name): "\(entry): the attached file \(quotedForDisplay(name)) is left out: \(reason)"
        case .field(let name): "\(entry): the field \(quotedForDisplay(name)) is left out: \(reason)"
        case .kept(let name): "\(entry): the field \(quotedForDisplay(name)) is stored as it is: \(reason)"
        }
    }
}

extension ExchangeEntry {
    /// How it is called in a warning.
    package var words: String { title.isEmpty ? place : "\(place) \(quotedForDisplay(title))" }

    /// Notes that a part of it is not stored as it is in the file.
    ///
    /// - Throws: `dataTooLarge` if there are more such parts than an entry has fields.
    package mutating func leaveOut(_ part: Omission.Part, because reason: String) throws(CofferError) {
        guard omissions.count < Limits.importFields else {
            throw .tooLarge("\(place) has more than \(Limits.importFields) parts that can't be stored")
        }
        omissions.append(Omission(part, of: words, because: reason))
    }
}

extension ExchangeList {
    /// Appends what a closure reads, or notes why it could not.
    ///
    /// - Parameter title: The title of the entry, for the warning.
    /// - Throws: What is no fault of the entry, such as a lack of memory.
    package mutating func take(
        _ place: String,
        _ title: String = "",
        _ read: () throws(CofferError) -> ExchangeEntry?
    ) throws(CofferError) {
        try take(place, title, Result { () throws(CofferError) in try read() })
    }

    /// Appends what was read, or notes why it could not be.
    package mutating func take(
        _ place: String,
        _ title: String,
        _ outcome: Result<ExchangeEntry?, CofferError>
    ) throws(CofferError) {
        switch outcome {
        case .success(let entry): if let entry { try append(entry) }
        case .failure(let error):
            guard error.code == .param || error.code == .dataTooLarge else { throw error }
            try leaveOut(place, title, error)
        }
    }

    /// Appends another list.
    package mutating func append(contentsOf other: ExchangeList) throws(CofferError) {
        for entry in other.entries {
            var entry = entry
            entry.omissions = []
            try append(entry)
        }
        omissions += other.omissions
    }

    /// Notes that an entry can't be read.
    ///
    /// - Throws: `dataTooLarge` if so many can't be read as an import takes, or why the first can't, if none can.
    package mutating func leaveOut(_ place: String, _ title: String, _ fault: CofferError) throws(CofferError) {
        if firstFault == nil { firstFault = fault }
        var entry = ExchangeEntry(place: place)
        entry.title = title
        let reason =
            fault.message.hasPrefix("\(place): ") ? fault.message.dropFirst(place.utf8.count + 2) : fault.message[...]
        try leaveOut(entry, because: String(reason))
    }

    /// Notes that an entry is not stored.
    ///
    /// - Throws: `dataTooLarge` if so many are not stored as an import takes.
    package mutating func leaveOut(_ entry: ExchangeEntry, because reason: String) throws(CofferError) {
        guard omissions.count < Limits.importEntries else {
            if entries.isEmpty, let firstFault { throw firstFault }
            throw .tooLarge("\(entry.place): more than \(Limits.importEntries) entries can't be stored")
        }
        omissions.append(Omission(.entry, of: entry.words, because: reason))
    }

    /// The list.
    ///
    /// - Throws: The first fault, if no entry could be read: then the file has another format.
    package func checked() throws(CofferError) -> ExchangeList {
        if entries.isEmpty, let firstFault { throw firstFault }
        return self
    }
}
