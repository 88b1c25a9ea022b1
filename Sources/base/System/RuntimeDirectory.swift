internal import Glibc

/// The directory in which a user's own daemon has its sockets.
package enum RuntimeDirectory {
    /// Finds it.
    ///
    /// Root has none: root's daemon is the machine's, in a login session as well.
    ///
    /// - Parameters:
    ///   - variable: Returns the value of an environment variable.
    ///   - userID: The user; by default that of this process.
    ///   - logins: The directory below which a login makes one for each user.
    /// - Returns: `$XDG_RUNTIME_DIR` unless it belongs to another user, from whom `su` has left it; otherwise the one
    ///   that a login has made for the user, if there is one.
    package static func own(
        _ variable: (String) -> String?,
        userID: UInt32? = nil,
        logins: String = "/run/user"
    ) -> String? {
        let userID = userID ?? geteuid()
        if userID == 0 { return nil }
        if let given = variable("XDG_RUNTIME_DIR"), !given.isEmpty, owner(of: given) ?? userID == userID {
            return given
        }
        let path = "\(logins)/\(userID)"
        return owner(of: path) == userID ? path : nil
    }

    /// The owner of a directory; `nil` if there is no such directory.
    private static func owner(of path: String) -> UInt32? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        return status.st_uid
    }
}
