import CBOR
import COSE
import Cryptography
import Longfellow
import Mdoc

/// A DeviceRequest (ISO/IEC 18013-5:2021, 8.3.2.1.2.1; second edition 12.5) as it is sent.
///
/// The version is 1.1 where there is `deviceRequestInfo`, which says which documents are enough, and 1.0 elsewhere
/// (10.2.2). A wallet that goes by version 1.1 returns a document only if it has every element or a substitute of it
/// (`AcceptableElements`), and one that goes by 1.0 returns what it has. So a request for one document is of version
/// 1.0, signed by `readerAuth` only, if no substitutes admit every acceptable document: nothing is required of more than
/// three elements, or there are more optional ones than may have substitutes.
public struct DeviceRequest: Sendable, Hashable {
  public let encoded: [UInt8]

  /// The request of a reader that does not say who it is.
  public init(_ request: PresentationRequest, additions: RequestAdditions = RequestAdditions()) {
    let (items, info) = Self.parts(of: request, additions, isSigned: false)
    encoded = Self.encode(items.map { ["itemsRequest": .encoded($0)] }, info: info, signature: nil)
  }

  /// The request of a reader that signs each document's request, which wallets of the first edition check, and also all
  /// of them together where the version is 1.1.
  public init(
    _ request: PresentationRequest, signedBy reader: ReaderIdentity, over transcript: SessionTranscript,
    additions: RequestAdditions = RequestAdditions()
  ) throws(CryptoError) {
    let authentication = ReaderAuthentication(reader: reader, transcript: transcript)
    let (items, info) = Self.parts(of: request, additions, isSigned: true)
    var documents: [CBORValue] = []
    for item in items {
      documents.append(["itemsRequest": .encoded(item), "readerAuth": try authentication.signature(over: item)])
    }
    var signature: CBORValue?
    if info != nil { signature = try authentication.signature(overAll: items, info: info) }
    encoded = Self.encode(documents, info: info, signature: signature)
  }

  /// A request that is signed if there is a reader.
  public init(
    _ request: PresentationRequest, reader: ReaderIdentity?, transcript: SessionTranscript,
    additions: RequestAdditions = RequestAdditions()
  ) throws(CryptoError) {
    if let reader {
      try self.init(request, signedBy: reader, over: transcript, additions: additions)
    } else {
      self.init(request, additions: additions)
    }
  }

  /// ItemsRequestBytes of each document, and DeviceRequestInfoBytes where the version is 1.1.
  private static func parts(
    of request: PresentationRequest, _ additions: RequestAdditions, isSigned: Bool
  ) -> (items: [[UInt8]], info: [UInt8]?) {
    let documents = request.documents.map { ($0, AcceptableElements($0, isProof: $0.proofs?.isRequired == true)) }
    let isSecondEdition =
      documents.count > 1
      || documents.contains { document, acceptable in
        let hasSubstitutes = acceptable.substitutes.contains { !$0.isEmpty }
        return document.proofs != nil || acceptable.coversOptional && (isSigned || hasSubstitutes)
      }
    let items = documents.map { itemsRequestBytes($0, $1, additions, isSecondEdition: isSecondEdition) }
    return (items, isSecondEdition ? infoBytes(of: request) : nil)
  }

  private static func encode(_ documents: [CBORValue], info: [UInt8]?, signature: CBORValue?) -> [UInt8] {
    var members: [(key: CBORValue, value: CBORValue)] = [
      (key: "version", value: info == nil ? "1.0" : "1.1"),
      (key: "docRequests", value: .array(documents)),
    ]
    if let signature { members.append((key: "readerAuthAll", value: [signature])) }
    if let info { members.append((key: "deviceRequestInfo", value: .encoded(info))) }
    return CBORValue.map(members).encoded()
  }

  /// `24({"docType", "nameSpaces": {NameSpace: {ElementIdentifier: IntentToRetain}}})`.
  private static func itemsRequestBytes(
    _ document: DocumentRequest, _ acceptable: AcceptableElements, _ additions: RequestAdditions, isSecondEdition: Bool
  ) -> [UInt8] {
    var namespaces: [(name: String, elements: [(key: CBORValue, value: CBORValue)])] = []
    for request in acceptable.requests {
      let name = request.element.namespace
      let entry = (key: CBORValue.text(request.element.identifier), value: CBORValue.bool(request.intentToRetain))
      // Names are compared by their bytes, as wallets compare them.
      if let index = namespaces.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        namespaces[index].elements.append(entry)
      } else {
        namespaces.append((name, [entry]))
      }
    }
    var members: [(key: CBORValue, value: CBORValue)] = [
      (key: "docType", value: .text(document.docType)),
      (key: "nameSpaces", value: .map(namespaces.map { (key: .text($0.name), value: .map($0.elements)) })),
    ]
    var info = requestInfo(document, acceptable, isSecondEdition: isSecondEdition)
    if let identifiers = additions.acceptedIssuers[document.docType] {
      info.append((key: "issuerIdentifiers", value: .array(identifiers.map(CBORValue.bytes))))
    }
    if let registration = additions.registration {
      info.append((key: "euWrprc", value: .bytes(registration.encoded)))
    }
    if !info.isEmpty { members.append((key: "requestInfo", value: .map(info))) }
    return CBORValue.embedded(.map(members)).encoded()
  }

  /// DocRequestInfo of the second edition; empty where the first edition says it all.
  private static func requestInfo(
    _ document: DocumentRequest, _ acceptable: AcceptableElements, isSecondEdition: Bool
  ) -> [(key: CBORValue, value: CBORValue)] {
    var info: [(key: CBORValue, value: CBORValue)] = []
    let alternatives = zip(acceptable.requests, acceptable.substitutes).filter { !$1.isEmpty }
    if !alternatives.isEmpty {
      info.append((key: "alternativeDataElements", value: .array(alternatives.map(alternativeDataElements))))
    }
    if isSecondEdition { info.append((key: "uniqueDocSetRequired", value: true)) }
    if let proofs = document.proofs { info.append((key: "zkRequest", value: zkRequest(proofs))) }
    return info
  }

  /// ZkRequest with one ZkSystemSpec for each circuit that is offered.
  private static func zkRequest(_ proofs: ProofRequest) -> CBORValue {
    let specs = proofs.circuits.map { circuit -> CBORValue in
      [
        "zkSystemId": .text(circuit.label), "system": .text(KnownCircuit.system),
        "params": [
          "version": .unsigned(UInt64(circuit.version)), "circuit_hash": .text(circuit.hash),
          "num_attributes": .unsigned(UInt64(circuit.elements)),
          "block_enc_hash": .unsigned(UInt64(circuit.hashBlock)),
          "block_enc_sig": .unsigned(UInt64(circuit.signatureBlock)),
        ],
      ]
    }
    return ["systemSpecs": .array(specs), "zkRequired": .bool(proofs.isRequired)]
  }

  /// Any one of the substitutes is enough, and the first is preferred (second edition, DocRequestInfo). There is one
  /// entry for each element: Multipaz reads only the first, and walt.id refuses a second.
  private static func alternativeDataElements(
    _ request: ElementRequest, _ substitutes: [ElementReference]
  ) -> CBORValue {
    func reference(_ element: ElementReference) -> CBORValue { [.text(element.namespace), .text(element.identifier)] }
    return [
      "requestedElement": reference(request.element),
      "alternativeElementSets": .array(substitutes.map { [reference($0)] }),
    ]
  }

  /// DeviceRequestInfoBytes with one mandatory use case: all documents together, or any one of them.
  private static func infoBytes(of request: PresentationRequest) -> [UInt8] {
    let indices = request.documents.indices.map { CBORValue.unsigned(UInt64($0)) }
    let sets: [CBORValue] = request.requiresAllDocuments ? [.array(indices)] : indices.map { [$0] }
    var useCase: [(key: CBORValue, value: CBORValue)] = [
      (key: "mandatory", value: true), (key: "documentSets", value: .array(sets)),
    ]
    if let purpose = request.purposeHint {
      useCase.append((key: "purposeHints", value: ["org.iso.jtc1.sc17": .integer(purpose.rawValue)]))
    }
    return CBORValue.embedded(["useCases": [.map(useCase)]]).encoded()
  }
}

/// Reader authentication (ISO/IEC 18013-5:2021, 9.1.4): signatures over a request and the transcript of its session.
struct ReaderAuthentication {
  let reader: ReaderIdentity
  let transcript: SessionTranscript

  /// `readerAuth` of one document request.
  ///
  /// - Parameter itemsRequest: ItemsRequestBytes, tag 24 included.
  func signature(over itemsRequest: [UInt8]) throws(CryptoError) -> CBORValue {
    try sign(Self.bytes(over: itemsRequest, transcript))
  }

  /// `readerAuthAll` of the whole request (second edition, 12.5).
  ///
  /// - Parameter info: DeviceRequestInfoBytes, tag 24 included.
  func signature(overAll itemsRequests: [[UInt8]], info: [UInt8]?) throws(CryptoError) -> CBORValue {
    try sign(Self.bytes(overAll: itemsRequests, info: info, transcript))
  }

  private func sign(_ payload: [UInt8]) throws(CryptoError) -> CBORValue {
    try COSESign1.sign(detached: payload, key: reader.key, certificates: reader.certificates.map(\.der))
  }

  /// ReaderAuthenticationBytes: `24(["ReaderAuthentication", SessionTranscript, ItemsRequestBytes])`.
  static func bytes(over itemsRequest: [UInt8], _ transcript: SessionTranscript) -> [UInt8] {
    CBORValue.embedded(["ReaderAuthentication", .encoded(transcript.encoded), .encoded(itemsRequest)]).encoded()
  }

  /// ReaderAuthenticationAllBytes: `24(["ReaderAuthenticationAll", SessionTranscript, [ItemsRequestBytes …],
  /// DeviceRequestInfoBytes or null])`.
  static func bytes(overAll itemsRequests: [[UInt8]], info: [UInt8]?, _ transcript: SessionTranscript) -> [UInt8] {
    CBORValue.embedded([
      "ReaderAuthenticationAll", .encoded(transcript.encoded), .array(itemsRequests.map(CBORValue.encoded)),
      info.map(CBORValue.encoded) ?? nil,
    ]).encoded()
  }
}
