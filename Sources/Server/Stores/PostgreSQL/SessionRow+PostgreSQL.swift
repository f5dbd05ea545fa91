import Sessions

/// Reading sessions on a database thread; offers stand in the session's own row.
extension SessionRow {
  /// Of a row that begins with `columnsWithOffers`, or with `columns` and the last three by other names.
  init(_ row: PostgreSQLRow) {
    self.init(columnsOf: row)
    offers = Self.offers(row.texts(18), row.blobs(19), row.blobs(20))
  }
}
