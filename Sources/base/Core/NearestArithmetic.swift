// Sums of numbers that come from outside: a clock, a row of a database, a request. Plain arithmetic ends the process where
// the result can't be represented.
// They are inlined into other rooms: not specialized, each operation on a type is a call.

extension FixedWidthInteger {
    /// The sum, or the nearest number that can be represented.
    @inlinable package func nearestSum(_ other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that can be represented.
    @inlinable package func nearestDifference(_ other: Self) -> Self {
        let (difference, isBeyond) = subtractingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the nearest number that can be represented.
    @inlinable package func nearestProduct(_ other: Self) -> Self {
        let (product, isBeyond) = multipliedReportingOverflow(by: other)
        return isBeyond ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
