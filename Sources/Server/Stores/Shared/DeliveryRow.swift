import Base
import Sessions

/// A delivery's columns, with its event's, as they were read.
struct DeliveryRow: Sendable {
  static let columns =
    EventRow.columns
    + ", deliveries.event, endpoint, status, attempts, begun, due, fault, fault_status"
  static let tables = "deliveries JOIN events ON events.seq = deliveries.event"

  /// The event's.
  let seq: Int64
  let endpoint: String
  var attempts: Int
  var due: Int64
  private let event: EventRow
  private let status: String
  private let begun: Int64
  private let fault: String?
  private let faultStatus: Int64?

  init(_ row: some StoredRow) {
    event = EventRow(row)
    seq = row.integer(5)
    endpoint = row.text(6)
    status = row.text(7)
    attempts = Int(row.integer(8))
    begun = row.integer(9)
    due = row.integer(10)
    fault = row.optionalText(11)
    faultStatus = row.optionalInteger(12)
  }

  func record() throws(StoreError) -> DeliveryRecord {
    guard let status = DeliveryStatus(rawValue: status) else { throw .corrupt("a delivery") }
    return DeliveryRecord(
      event: try event.record(), endpoint: endpoint, status: status, attempts: attempts,
      begun: Timestamp(secondsSince1970: begun), due: Timestamp(secondsSince1970: due),
      fault: fault.flatMap(DeliveryFault.Reason.init).map { DeliveryFault($0, httpStatus: faultStatus.map(Int.init)) })
  }
}
