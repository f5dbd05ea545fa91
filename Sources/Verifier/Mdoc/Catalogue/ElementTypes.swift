/// The CBOR types that the value of an element may have.
///
/// Where sources disagree every form is allowed. The empty set says that no type is prescribed.
public struct ElementTypes: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let text = ElementTypes(rawValue: 1 << 0)
  public static let bool = ElementTypes(rawValue: 1 << 1)
  /// A whole number that is not negative.
  public static let unsigned = ElementTypes(rawValue: 1 << 2)
  public static let bytes = ElementTypes(rawValue: 1 << 3)
  /// `full-date`: tag 1004 (RFC 8943).
  public static let fullDate = ElementTypes(rawValue: 1 << 4)
  /// `tdate`: tag 0 (RFC 8949, 3.4.1).
  public static let dateTime = ElementTypes(rawValue: 1 << 5)
  public static let array = ElementTypes(rawValue: 1 << 6)
  public static let map = ElementTypes(rawValue: 1 << 7)

  public static let notPrescribed: ElementTypes = []
  /// `tdate / full-date`.
  public static let date: ElementTypes = [.fullDate, .dateTime]

  /// Whether a value has one of the types, or none is prescribed.
  func allows(_ value: ElementValue) -> Bool { isEmpty || !isDisjoint(with: Self.type(of: value)) }

  /// The type of a value; none for what no element of the standards is.
  private static func type(of value: ElementValue) -> ElementTypes {
    switch value {
    case .text: .text
    case .bool: .bool
    case .integer(let number): number >= 0 ? .unsigned : []
    case .bytes: .bytes
    case .fullDate: .fullDate
    case .dateTime: .dateTime
    case .array: .array
    case .map: .map
    case .double, .null, .tagged: []
    }
  }

  /// As CDDL writes them.
  public var names: [String] {
    let all: [(ElementTypes, String)] = [
      (.text, "tstr"), (.bool, "bool"), (.unsigned, "uint"), (.bytes, "bstr"), (.fullDate, "full-date"),
      (.dateTime, "tdate"), (.array, "array"), (.map, "map"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}
