import VerificationService

/// Reading sessions on a database thread; offers stand in the session's own row.
extension SessionRow {
  static let postgreSQLColumns = columns + ", protocols, requests, materials"

  /// Of a row that begins with `postgreSQLColumns`, or with `columns` and the last three by other names.
  init(_ row: PostgreSQLRow) {
    self.init(columnsOf: row)
    let requests = row.blobs(19)
    let materials = row.blobs(20)
    offers = row.texts(18).enumerated().map { index, name in
      Offer(
        protocolName: name, data: requests.indices.contains(index) ? requests[index] ?? [] : [],
        material: materials.indices.contains(index) ? materials[index] : nil)
    }
  }
}
