import VerificationService

/// Reading sessions on a database thread; offers have a table of their own.
extension SessionRow {
  static func first(
    _ connection: SQLiteConnection, where condition: String, _ values: SQLiteValue...
  ) throws(StoreError) -> SessionRow? {
    try all(connection, "SELECT \(columns) FROM sessions WHERE \(condition)", values).first
  }

  static func all(
    _ connection: SQLiteConnection, _ sql: String, _ values: [SQLiteValue]
  ) throws(StoreError) -> [SessionRow] {
    var rows = try connection.rows(sql, values, SessionRow.init(columnsOf:))
    for index in rows.indices { try rows[index].readOffers(connection) }
    return rows
  }

  mutating func readOffers(_ connection: SQLiteConnection, withMaterial: Bool = true) throws(StoreError) {
    offers = try connection.rows(
      "SELECT protocol, data, \(withMaterial ? "material" : "NULL") FROM offers WHERE session = ? ORDER BY position",
      [.integer(seq)]
    ) { Offer(protocolName: $0.text(0), data: $0.blob(1), material: $0.optionalBlob(2)) }
  }
}
