/// What a column of a CSV file has, by the name that one of many programs gives it.
enum CSVColumn: Sendable {
    case title, url, username, password, notes, otp, folder, tags, favorite, created, modified, fields
    /// What only the other program has a use for.
    case ignored
    /// Anything else, which becomes a field of the name.
    case other(String)

    private static let names: [String: CSVColumn] = [
        "name": .title, "title": .title, "account": .title,
        "url": .url, "website": .url, "web site": .url, "login_uri": .url, "uri": .url, "urls": .url,
        "username": .username, "login_username": .username, "user name": .username, "login name": .username,
        "login": .username, "user": .username, "email": .username,
        "password": .password, "login_password": .password,
        "note": .notes, "notes": .notes, "extra": .notes, "comments": .notes, "notesplain": .notes,
        "totp": .otp, "otpauth": .otp, "otp": .otp, "login_totp": .otp, "one-time password": .otp, "otpsecret": .otp,
        "otpurl": .otp,
        "grouping": .folder, "group": .folder, "folder": .folder, "vault": .folder,
        "tags": .tags, "fav": .favorite, "favorite": .favorite, "favorite status": .favorite, "favourite": .favorite,
        "created": .created, "timecreated": .created, "createtime": .created,
        "last modified": .modified, "timepasswordchanged": .modified, "modifytime": .modified,
        "fields": .fields,
        "guid": .ignored, "icon": .ignored, "reprompt": .ignored, "timelastused": .ignored,
        "formactionorigin": .ignored, "archived": .ignored, "archived status": .ignored, "type": .ignored,
    ]

    init(_ name: String) { self = Self.names[name.lowercased()] ?? .other(name) }

    var isPassword: Bool { if case .password = self { true } else { false } }
}
