internal import CCofferShims

/// The process' memory that is not locked.
package enum Heap {
    /// Returns freed memory to the system, which the allocator would otherwise keep.
    ///
    /// It takes milliseconds after large allocations.
    package static func giveBack() { coffer_heap_trim() }
}
