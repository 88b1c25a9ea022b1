import CofferCore
import Testing

/// Arithmetic that no number can end the process with.
@Suite struct NearestArithmeticTests {
    private static let numbers: [Int8] = [.min, .min + 1, -64, -2, -1, 0, 1, 2, 64, .max - 1, .max]

    /// The exact result, as near as it can be.
    private func nearest(_ exact: Int) -> Int8 { Int8(clamping: exact) }

    @Test(arguments: numbers) func `a result that does not fit is the nearest one that does`(one: Int8) {
        for other in Self.numbers {
            #expect(one.nearestSum(other) == nearest(Int(one) + Int(other)))
            #expect(one.nearestDifference(other) == nearest(Int(one) - Int(other)))
            #expect(one.nearestProduct(other) == nearest(Int(one) * Int(other)))
        }
    }

    @Test(arguments: [
        (0, "0 s"), (59, "59 s"), (60, "1 min"), (61, "2 min"), (3600, "1 h"), (86_401, "2 d"),
        (Int.max, "106751991167301 d"),
    ])
    func `a duration of any length is rounded up for display`(seconds: Int, text: String) {
        #expect(durationForDisplay(seconds: seconds) == text)
    }

    @Test func `so it is without a sign`() {
        #expect(UInt8(200).nearestSum(100) == .max && UInt8(1).nearestDifference(2) == 0)
        #expect(UInt8(16).nearestProduct(16) == .max && UInt8(16).nearestProduct(0) == 0)
    }
}
