import Sessions

extension DeliveryRow {
  static func first(_ connection: SQLiteConnection, _ id: DeliveryID, of relyingParty: String) throws(StoreError)
    -> DeliveryRow?
  {
    try connection.first(
      """
      SELECT \(columns) FROM \(tables)
      WHERE session = \(SQLiteStore.sessionByID) AND type = ? AND events.relying_party = ? AND endpoint = ?
      """, .text(id.event.session.text), .type(id.event.type), .text(relyingParty), .text(id.endpoint),
      read: DeliveryRow.init)
  }
}

extension SQLiteValue {
  static func type(_ type: EventType) -> SQLiteValue { .text(type.status.rawValue) }
}
