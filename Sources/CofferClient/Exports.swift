// What calls take and give is in these two: who imports this library has them.
@_exported public import CofferCore
@_exported public import CofferWire
