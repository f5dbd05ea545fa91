import Base
import CBOR
import COSE
import Cryptography
import Longfellow
import Mdoc

/// A DeviceRequest (ISO/IEC 18013-5:2021, 8.3.2.1.2.1; second edition 12.5) as it is sent.
///
/// The version is 1.1 with `deviceRequestInfo`, and 1.0 without (10.2.2). `deviceRequestInfo` states which documents
/// are enough. In version 1.1, a wallet returns a document only if the document has every element, or a substitute for
/// each missing element (`AcceptableElements`). In version 1.0, a wallet returns the elements that the document has. If
/// substitutes cannot admit every acceptable document, a request for one document therefore has version 1.0. This
/// happens if more than three elements are requested and none is required, or if more elements are optional than may
/// have substitutes. Only `readerAuth` then signs the request.
public struct DeviceRequest: Sendable, Hashable {
  public let encoded: [UInt8]

  /// Makes the request of an anonymous reader.
  public init(_ request: PresentationRequest, additions: RequestAdditions = RequestAdditions()) {
    let (items, info) = Self.parts(of: request, additions, isSigned: false)
    encoded = Self.encode(items.map { ["itemsRequest": .encoded($0)] }, info: info, signature: nil)
  }

  /// Makes a reader's request. The reader signs each document's request, for wallets of the first edition. In version
  /// 1.1 it also signs all of them together. An anonymous reader (nil) signs nothing.
  public init(
    _ request: PresentationRequest, signedBy reader: ReaderIdentity?, over transcript: SessionTranscript,
    additions: RequestAdditions = RequestAdditions()
  ) throws(CryptoError) {
    func sign(_ payload: [UInt8]) throws(CryptoError) -> CBORValue? {
      guard let reader else { return nil }
      return try COSESign1.sign(detached: payload, key: reader.key, certificates: reader.certificates.map(\.der))
    }
    let (items, info) = Self.parts(of: request, additions, isSigned: reader != nil)
    var documents: [CBORValue] = []
    for item in items {
      var members: [(key: CBORValue, value: CBORValue)] = [(key: "itemsRequest", value: .encoded(item))]
      if let signature = try sign(ReaderAuthentication.bytes(over: item, transcript)) {
        members.append((key: "readerAuth", value: signature))
      }
      documents.append(.map(members))
    }
    let all = try info.flatMap { info throws(CryptoError) in
      try sign(ReaderAuthentication.bytes(overAll: items, info: info, transcript))
    }
    encoded = Self.encode(documents, info: info, signature: all)
  }

  /// ItemsRequestBytes of each document, and DeviceRequestInfoBytes if the version is 1.1.
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
      // Wallets compare names by their bytes.
      if let index = namespaces.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
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

  /// DocRequestInfo of the second edition; empty if the first edition's members suffice.
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

  /// Any one of the substitutes suffices. The first is preferred (second edition, DocRequestInfo). Each element has one
  /// entry: Multipaz reads only the first, and walt.id rejects a second.
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

/// The bytes that a reader signs (ISO/IEC 18013-5:2021, 9.1.4): a request and the transcript of its session. Parts are
/// encoded with their tag 24.
enum ReaderAuthentication {
  /// ReaderAuthenticationBytes for `readerAuth`: `24(["ReaderAuthentication", SessionTranscript, ItemsRequestBytes])`.
  static func bytes(over itemsRequest: [UInt8], _ transcript: SessionTranscript) -> [UInt8] {
    CBORValue.embedded(["ReaderAuthentication", .encoded(transcript.encoded), .encoded(itemsRequest)]).encoded()
  }

  /// ReaderAuthenticationAllBytes for `readerAuthAll` (second edition, 12.5): `24(["ReaderAuthenticationAll",
  /// SessionTranscript, [ItemsRequestBytes …], DeviceRequestInfoBytes or null])`.
  static func bytes(overAll itemsRequests: [[UInt8]], info: [UInt8]?, _ transcript: SessionTranscript) -> [UInt8] {
    CBORValue.embedded([
      "ReaderAuthenticationAll", .encoded(transcript.encoded), .array(itemsRequests.map(CBORValue.encoded)),
      info.map(CBORValue.encoded) ?? nil,
    ]).encoded()
  }
}

/// The relying party's configured additions to each request, in every protocol.
public struct RequestAdditions: Sendable {
  /// Key identifiers of issuing authorities, by document type. Wallets should offer only documents of these
  /// authorities. For a type without an entry, documents of any authority are offered.
  ///
  /// It is a hint to wallets (OpenID4VP 1.0, 6.1.1.1, `aki`; ISO/IEC 18013-5, second edition, 10.2.4,
  /// `issuerIdentifiers`). The trust store decides which documents are accepted.
  public var acceptedIssuers: [String: [[UInt8]]]
  /// The registration of a European relying party. A DeviceRequest contains it in every document's request (ETSI TS 119
  /// 472-2, 5.3.2). A signed OpenID4VP request contains it as `verifier_info`, unless it is a CWT (ETSI TS 119 472-2,
  /// 6.3.2.2).
  public var registration: RegistrationCertificate?

  public init(acceptedIssuers: [String: [[UInt8]]] = [:], registration: RegistrationCertificate? = nil) {
    self.acceptedIssuers = acceptedIssuers
    self.registration = registration
  }
}
