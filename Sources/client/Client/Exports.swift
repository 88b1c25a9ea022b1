// The parameters and results of calls are declared in these two rooms; an import of this library includes
// them.
@_exported public import CofferCore
@_exported public import CofferWire
