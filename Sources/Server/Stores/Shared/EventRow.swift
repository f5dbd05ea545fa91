import Base
import Sessions

/// An event's columns as they were read. Decoding them is left to the caller's task.
struct EventRow: Sendable {
  static let columns = "events.session_id, events.type, events.relying_party, events.created, events.error_code"

  private let session: String
  private let type: String
  private let relyingParty: String
  private let created: Int64
  private let errorCode: String?

  init(_ row: some StoredRow) {
    session = row.text(0)
    type = row.text(1)
    relyingParty = row.text(2)
    created = row.integer(3)
    errorCode = row.optionalText(4)
  }

  func record() throws(StoreError) -> EventRecord {
    guard let session = SessionID(session), let type = SessionStatus(rawValue: type).flatMap(EventType.init) else {
      throw .corrupt("an event")
    }
    return EventRecord(
      id: EventID(session, type), relyingParty: relyingParty, created: Timestamp(secondsSince1970: created),
      errorCode: errorCode)
  }
}
