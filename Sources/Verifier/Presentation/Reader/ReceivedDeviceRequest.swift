import Base
import CBOR

/// A DeviceRequest (ISO/IEC 18013-5:2021, 8.3.2.1.2.1; second edition) as received: the parts that are signed, in their
/// bytes, and the signatures.
struct ReceivedDeviceRequest {
  struct Document {
    /// ItemsRequestBytes, tag 24 included.
    let itemsRequest: [UInt8]
    let readerAuth: CBORItem?
  }

  let documents: [Document]
  let readerAuthAll: [CBORItem]
  /// DeviceRequestInfoBytes, tag 24 included.
  let info: [UInt8]?

  /// Which member is at fault.
  struct Fault: Error {
    let detail: String
  }

  init(parsing bytes: [UInt8]) throws(Fault) {
    let item: CBORItem
    do {
      item = try CBORItem(parsing: bytes)
    } catch {
      throw Fault(detail: "\(error.code.rawValue) at byte \(error.offset)")
    }
    guard item.kind == .map else { throw Fault(detail: "it is no map") }
    guard let version = item[key: "version"]?.text, version.utf8.starts(with: "1.".utf8) else {
      throw Fault(detail: "version is not 1.0 or 1.1")
    }
    guard let list = item[key: "docRequests"]?.elements.map(Array.init), !list.isEmpty,
      list.count <= Limits.documents
    else { throw Fault(detail: "docRequests is no array of 1 to \(Limits.documents)") }
    var documents: [Document] = []
    for (index, document) in list.enumerated() {
      guard let itemsRequest = document[key: "itemsRequest"], itemsRequest.embedded?.kind == .map else {
        throw Fault(detail: "docRequests[\(index)].itemsRequest is no map in tag 24")
      }
      documents.append(
        Document(itemsRequest: Array(itemsRequest.encoded), readerAuth: document[key: "readerAuth"]))
    }
    self.documents = documents
    readerAuthAll = try Self.signatures(item[key: "readerAuthAll"])
    if let info = item[key: "deviceRequestInfo"] {
      guard info.embedded?.kind == .map else { throw Fault(detail: "deviceRequestInfo is no map in tag 24") }
      self.info = Array(info.encoded)
    } else {
      info = nil
    }
  }

  private static func signatures(_ item: CBORItem?) throws(Fault) -> [CBORItem] {
    guard let item else { return [] }
    guard let list = item.elements.map(Array.init), (1...Limits.documents).contains(list.count) else {
      throw Fault(detail: "readerAuthAll is no array of 1 to \(Limits.documents)")
    }
    return list
  }
}
