import Base
import Sessions

/// Reading sessions on a database thread.
extension SessionRow {
  static func first(
    _ connection: SQLiteConnection, where condition: String, _ values: SQLiteValue...
  ) throws(StoreError) -> SessionRow? {
    try connection.rows("SELECT \(columnsWithOffers) FROM sessions WHERE \(condition)", values, SessionRow.init).first
  }

  /// Of a row that begins with `columnsWithOffers`, or with the last three as others.
  init(_ row: SQLiteRow) {
    self.init(columnsOf: row)
    offers = Self.offers(
      OfferLines.protocols(row.optionalText(18)), OfferLines.requests(row.blob(19)),
      OfferLines.materials(row.optionalText(20)))
  }
}

/// A session's offers as lines of three columns.
enum OfferLines {
  private static let end = UInt8(ascii: "\n")

  static func protocols(_ offers: [ProtocolOffer]) -> String { offers.map(\.protocolName).joined(separator: "\n") }

  static func protocols(_ text: String?) -> [String] {
    (text ?? "").split(separator: "\n").map(String.init)
  }

  static func requests(_ offers: [ProtocolOffer]) -> [UInt8] {
    Array(offers.map(\.data.bytes).joined(separator: CollectionOfOne(end)))
  }

  static func requests(_ bytes: [UInt8]) -> [[UInt8]] { bytes.split(separator: end).map(Array.init) }

  /// Nil where there is none.
  static func materials(_ offers: [ProtocolOffer]) -> String? {
    guard offers.contains(where: { $0.sealedMaterial != nil }) else { return nil }
    return offers.map { Hex.encode($0.sealedMaterial ?? []) }.joined(separator: "\n")
  }

  static func materials(_ text: String?) -> [[UInt8]?] {
    (text ?? "").split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? nil : Hex.decode($0) }
  }
}
