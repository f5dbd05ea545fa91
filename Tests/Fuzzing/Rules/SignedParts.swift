import Base
import CBOR
import FuzzDriver
import Mdoc
import Sessions

/// The data that the corpus's issuer and devices really signed for one session. The fuzzer has none of their keys, so
/// an accepted response must consist of these parts.
struct SignedParts: Sendable {
  private var objects: Set<[UInt8]> = []
  private var deviceNameSpaces: Set<[UInt8]> = []

  /// Notes the parts of a corpus response whose signatures the verifier found valid, regardless of other faults.
  mutating func note(_ response: CBORItem, _ verdict: Verdict) {
    let documents = response[key: "documents"]?.elementList ?? []
    for (document, report) in zip(documents, verdict.report.documents) {
      guard let parts = DocumentParts(document) else { continue }
      if report.passed(.issuerSignatureInvalid) { objects.insert(Array(parts.payload)) }
      if report.passed(.deviceSignatureInvalid) || report.passed(.deviceMacInvalid), let bytes = parts.deviceNameSpaces
      {
        deviceNameSpaces.insert(Array(bytes.encoded))
      }
    }
  }

  /// Rules for every verdict on these bytes.
  ///
  /// - Parameters:
  ///   - response: nil if no DeviceResponse was found in the bytes.
  ///   - isResigned: the fuzzer had everything signed again, so that only the digests still bind the response.
  func check(_ verdict: Verdict, on response: CBORItem?, isResigned: Bool, at now: Timestamp) {
    let json = VerdictRendering.json(verdict)
    guard case .accepted(let presentation) = verdict.outcome else {
      require(json["result"]?.isNull == true, "a refusal has no result")
      require(json["last_error"]?["code"]?.string.flatMap(Code.init) != nil, "a refusal has a code")
      return
    }
    require(verdict.report.reasons.isEmpty, "nothing that is accepted has a failed check")
    let documents = response?[key: "documents"]?.elementList ?? []
    require(documents.count == presentation.documents.count, "every document of an accepted answer is accepted")
    for (document, accepted) in zip(documents, presentation.documents) {
      guard let parts = DocumentParts(document) else { fatalError("broken rule: an accepted document has its parts") }
      check(accepted, parts, isResigned: isResigned, at: now)
    }
  }

  private func check(_ accepted: AcceptedDocument, _ parts: DocumentParts, isResigned: Bool, at now: Timestamp) {
    require(parts.docType == accepted.docType, "the accepted type is the document's")
    require(parts.mso[key: "docType"]?.text == accepted.docType, "and the one that the issuer signed")
    if !isResigned {
      require(objects.contains(Array(parts.payload)), "the issuer signed the object of an accepted document")
      require(
        parts.deviceNameSpaces.map { deviceNameSpaces.contains(Array($0.encoded)) } == true,
        "the device signed the name spaces of an accepted document")
    }
    for (namespace, item) in parts.items {
      let digest = item.embedded?[key: "digestID"]?.unsigned
        .flatMap { parts.mso[key: "valueDigests"]?[key: namespace]?[unsigned: $0]?.bytes }
      require(
        digest.map { parts.hash?.hash(item.encoded).elementsEqual($0) == true } == true,
        "every item of an accepted document has its signed digest")
    }
    let references = Set(
      parts.items.map { ElementReference($0.namespace, $0.item.embedded?[key: "elementIdentifier"]?.text ?? "") })
    require(references.count == parts.items.count, "no element of an accepted document stands twice")
    require(accepted.elements.allSatisfy { references.contains($0.reference) }, "accepted elements were returned")
    require(
      accepted.ageAnswers.allSatisfy { references.contains($0.provedBy) }, "ages are proved by returned elements")
    let until = parts.mso[key: "validityInfo"]?[key: "validUntil"]?.content(ofTag: 0)?.text
      .flatMap(Timestamp.init(rfc3339:))
    require(until.map { $0 + Limits.clockSkew >= now } == true, "an accepted document is still valid")
  }
}

extension DocumentReport {
  fileprivate func passed(_ code: Code) -> Bool { checks.contains { $0.code == code && $0.outcome == .passed } }
}
