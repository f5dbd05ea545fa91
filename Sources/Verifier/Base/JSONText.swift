/// One JSON value as this program wrote it: what is stored, sealed and told is written once and read by nobody on the way.
public struct JSONText: Sendable, Hashable {
  public let bytes: [UInt8]

  public init(_ json: JSON) { bytes = json.serialized() }

  /// - Parameter bytes: of one value, from this program's own writing.
  public init(written bytes: [UInt8]) { self.bytes = bytes }

  /// The value, however many others are in it.
  public func parsed() throws(JSON.SyntaxError) -> JSON { try JSON(parsing: bytes, values: .max) }
}
