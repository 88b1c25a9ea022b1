internal import CCofferShims

/// The memory of the process that is not locked.
package enum Heap {
    /// Gives memory that was freed back to the system; the allocator keeps it for itself otherwise.
    ///
    /// Takes milliseconds after there was much.
    package static func giveBack() { coffer_heap_trim() }
}
