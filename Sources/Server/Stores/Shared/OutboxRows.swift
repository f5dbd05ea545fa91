import Base
import Sessions

/// An event's columns as they were read. Decoding them is left to the caller's task.
struct EventRow: Sendable {
  static let columns =
    "events.session_id, events.type, events.relying_party, events.created, events.error_code, events.result"

  private let session: String
  private let type: String
  private let relyingParty: String
  private let created: Int64
  private let errorCode: String?
  private let result: String?

  init(_ row: some StoredRow) {
    session = row.text(0)
    type = row.text(1)
    relyingParty = row.text(2)
    created = row.integer(3)
    errorCode = row.optionalText(4)
    result = row.optionalText(5)
  }

  func record() throws(StoreError) -> EventRecord {
    guard let session = SessionID(session), let type = SessionStatus(rawValue: type).flatMap(EventType.init) else {
      throw .corrupt("an event")
    }
    return EventRecord(
      id: EventID(session, type), relyingParty: relyingParty, created: Timestamp(secondsSince1970: created),
      errorCode: errorCode, result: result.flatMap(ResultPlace.init))
  }
}

/// A delivery's columns and those of its event, as they were read.
struct DeliveryRow: Sendable {
  static let columns =
    EventRow.columns
    + ", deliveries.event, endpoint, status, attempts, begun, due, fault, fault_status"
  static let tables = "deliveries JOIN events ON events.seq = deliveries.event"

  /// The event's `seq`.
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
    seq = row.integer(6)
    endpoint = row.text(7)
    status = row.text(8)
    attempts = Int(row.integer(9))
    begun = row.integer(10)
    due = row.integer(11)
    fault = row.optionalText(12)
    faultStatus = row.optionalInteger(13)
  }

  func record() throws(StoreError) -> DeliveryRecord {
    guard let status = DeliveryStatus(rawValue: status) else { throw .corrupt("a delivery") }
    return DeliveryRecord(
      event: try event.record(), endpoint: endpoint, status: status, attempts: attempts,
      begun: Timestamp(secondsSince1970: begun), due: Timestamp(secondsSince1970: due),
      fault: fault.flatMap(DeliveryFault.Reason.init).map { DeliveryFault($0, httpStatus: faultStatus.map(Int.init)) })
  }
}
