/// The row that a query stands on, whichever the database; columns are copied out, by their place.
protocol StoredRow {
  func integer(_ column: Int32) -> Int64
  func optionalInteger(_ column: Int32) -> Int64?
  func text(_ column: Int32) -> String
  func optionalText(_ column: Int32) -> String?
  func blob(_ column: Int32) -> [UInt8]
  func optionalBlob(_ column: Int32) -> [UInt8]?
}
