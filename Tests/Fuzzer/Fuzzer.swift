import FuzzTargets
import Glibc

/// The target that the environment names.
private let target: FuzzTarget = {
    let name = getenv("COFFER_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        fatalError("set COFFER_FUZZ_TARGET to one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
}()

/// What libFuzzer calls with each input; a finding ends the process, and libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    do throws(FuzzFinding) {
        try target.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        fatalError(error.description)
    }
    return 0
}
