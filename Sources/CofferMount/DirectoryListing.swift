/// The entries of a directory as they were when a program opened or rewound it: the place of an entry in it is its
/// cookie, and stays.
package struct DirectoryListing: Sendable {
    package struct Entry: Sendable {
        package let name: FileName
        package let attributes: Attributes
    }

    package let entries: [Entry]
}
