import Base
import Cryptography

/// The relying party's knowledge of the response's session.
package enum VectorSession: Sendable, Hashable {
  /// Apple's in-app request: the input is the encrypted envelope.
  case appleInApp(AppleInApp)
  /// Proximity: the input is the DeviceResponse.
  case proximity(Proximity)
  /// `org-iso-mdoc` over the Digital Credentials API: the input is the EncryptedResponse.
  case annexC(AnnexC)
  /// OpenID4VP: the input is the JSON object of the response's parameters.
  case openID4VP(OpenID4VP)
  /// No wallet: the input is a list of anchors, judged by itself.
  case list(VectorList)

  package struct AppleInApp: Sendable, Hashable {
    package var nonce: [UInt8] = []
    package var merchantID = ""
    package var teamID = ""
    /// The P-256 scalar that decrypts the response. Like everything in a vector, the scalar is public.
    package var recipientKey: [UInt8] = []

    package init() {}
  }

  package struct Proximity: Sendable, Hashable {
    /// The encoded SessionTranscript.
    package var transcript: [UInt8] = []
    /// The P-256 scalar of the reader's ephemeral key, for a device MAC; nil if the verifier has no such key.
    package var readerKey: [UInt8]?

    package init() {}
  }

  /// ISO/IEC TS 18013-7, Annex C.
  package struct AnnexC: Sendable, Hashable {
    /// The base64url text of EncryptionInfo, as sent to the wallet. The transcript hashes it unchanged.
    package var encryptionInfo = ""
    package var origin = ""
    /// The P-256 scalar that decrypts the response.
    package var recipientKey: [UInt8] = []

    package init() {}
  }

  package struct OpenID4VP: Sendable, Hashable {
    /// The protocol's name in the HTTP API. The name states the channel of the request and the response.
    package let protocolName: String
    package var nonce = ""
    /// The website's origin over the Digital Credentials API; otherwise empty.
    package var origin = ""
    /// The client identifier. This member and the next two are empty unless the protocol uses a redirect.
    package var clientID = ""
    package var responseURI = ""
    package var state: String?
    /// The P-256 scalar for decryption and for a device MAC; nil if the response must be unencrypted.
    package var encryptionKey: [UInt8]?
    /// The `kid` of the encryption key in the request.
    package var keyID: String?

    package init(protocolName: String) { self.protocolName = protocolName }

    var isRedirect: Bool { Self.redirected.contains(protocolName) }

    /// Protocols over the Digital Credentials API.
    package static let overBrowser = ["openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
    package static let redirected = ["openid4vp", annexB]
    /// ISO/IEC TS 18013-7, Annex B.
    package static let annexB = "openid4vp-iso-18013-7-annex-b"
  }

  package static let annexCName = "org-iso-mdoc"

  package var protocolName: String {
    switch self {
    case .appleInApp: "apple-in-app"
    case .proximity: "proximity"
    case .annexC: Self.annexCName
    case .openID4VP(let session): session.protocolName
    case .list(let list): list.format.rawValue
    }
  }
}

// MARK: The file

extension VectorSession {
  static let protocolNames =
    ["apple-in-app", "proximity", annexCName] + OpenID4VP.overBrowser + OpenID4VP.redirected
    + VectorList.Format.allCases.map(\.rawValue)

  private static let schema = Schema.oneOf([
    AppleInApp.shape.schema, Proximity.shape.schema, AnnexC.shape.schema,
    OpenID4VP.browserShape(of: "").schema, OpenID4VP.redirectShape(of: "").schema,
    VectorList.shape(of: .vical).schema, VectorList.shape(of: .trustedEntities).schema,
  ])

  /// The shape of this protocol's session. Its schema covers the sessions of all protocols.
  static func shape(of protocolName: String) -> Shape<VectorSession> {
    let openID4VP = OpenID4VP.shape(of: protocolName)
    let format = VectorList.Format(rawValue: protocolName)
    let list = VectorList.shape(of: format ?? .vical)
    return Shape(schema) { json, pointer, faults in
      switch protocolName {
      case "apple-in-app": AppleInApp.shape.read(json, pointer, &faults).map { .appleInApp($0) }
      case "proximity": Proximity.shape.read(json, pointer, &faults).map { .proximity($0) }
      case annexCName: AnnexC.shape.read(json, pointer, &faults).map { .annexC($0) }
      case _ where format != nil: list.read(json, pointer, &faults).map { .list($0) }
      default: openID4VP.read(json, pointer, &faults).map { .openID4VP($0) }
      }
    } write: { session in
      switch session {
      case .appleInApp(let session): AppleInApp.shape.write(session)
      case .proximity(let session): Proximity.shape.write(session)
      case .annexC(let session): AnnexC.shape.write(session)
      case .openID4VP(let session): openID4VP.write(session)
      case .list(let session): list.write(session)
      }
    }
  }
}

extension VectorSession.AppleInApp {
  fileprivate static let shape = Shape<Self>.form(
    "apple", from: Self(), Member("nonce", \.nonce, .bytes), Member("merchant_id", \.merchantID, .nonEmpty),
    Member("team_id", \.teamID, .nonEmpty), Member("recipient_key", \.recipientKey, .bytes),
    .publicKey("recipient_public_key", of: \.recipientKey))
}

extension VectorSession.Proximity {
  fileprivate static let shape = Shape<Self>.form(
    "proximity", from: Self(), Member("transcript", \.transcript, .bytes), .ifAny("reader_key", \.readerKey, .bytes),
    .publicKey("reader_public_key", of: \.readerKey))
}

extension VectorSession.AnnexC {
  fileprivate static let shape = Shape<Self>.form(
    "annexC", from: Self(), Member("encryption_info", \.encryptionInfo, .text(matching: "^[A-Za-z0-9_-]*$")),
    Member("origin", \.origin, .nonEmpty), Member("recipient_key", \.recipientKey, .bytes),
    .publicKey("recipient_public_key", of: \.recipientKey))
}

extension VectorSession.OpenID4VP {
  fileprivate static func shape(of name: String) -> Shape<Self> {
    (overBrowser.contains(name) ? browserShape(of: name) : redirectShape(of: name)).holding { json, pointer, faults in
      if json["encryption_key"] != nil, json["key_id"] == nil { faults.add("\(pointer)/key_id", "is required") }
    }
  }

  fileprivate static func browserShape(of name: String) -> Shape<Self> {
    Shape<Self>.form(
      "openID4VP", from: Self(protocolName: name), Member("nonce", \.nonce, .nonEmpty),
      Member("origin", \.origin, .nonEmpty), .ifAny("encryption_key", \.encryptionKey, .bytes),
      .publicKey("encryption_public_key", of: \.encryptionKey), .ifAny("key_id", \.keyID, .nonEmpty))
  }

  fileprivate static func redirectShape(of name: String) -> Shape<Self> {
    Shape<Self>.form(
      "openID4VPRedirect", from: Self(protocolName: name), Member("nonce", \.nonce, .nonEmpty),
      Member("client_id", \.clientID, .nonEmpty), Member("response_uri", \.responseURI, .nonEmpty),
      .ifAny("state", \.state, .nonEmpty), .ifAny("encryption_key", \.encryptionKey, .bytes),
      .publicKey("encryption_public_key", of: \.encryptionKey), .ifAny("key_id", \.keyID, .nonEmpty))
  }
}

extension Member {
  /// The uncompressed point of a P-256 scalar, for verifiers that also need the point. It is written beside the scalar.
  /// When read, its value is ignored.
  fileprivate static func publicKey(_ name: String, of scalar: @escaping @Sendable (Root) -> [UInt8]?) -> Member {
    Member(name: name, schema: Shape.bytes.schema.asMember("")) { json, pointer, _, faults in
      _ = Shape.bytes.read(json, pointer, &faults)
    } write: { root, _ in
      scalar(root).flatMap { try? PrivateKey(curve: .p256, scalar: $0) }.map { .bytes($0.publicKey.encoded) }
    }
  }
}

/// The content of one address during a judgement: a list or a failure. All other addresses have no content.
package struct VectorPublication: Sendable, Hashable {
  /// The address, exactly as the document or certificate writes it.
  package var address = ""
  /// The media type of a list.
  package var mediaType: String?
  /// Empty if there is a failure.
  package var list = VectorInput()
  package var failure: Failure?

  package enum Failure: String, Sendable, Hashable, CaseIterable {
    case unavailable
    case tooLarge = "too_large"
  }

  package init() {}

  static let shape = Shape<VectorPublication>.form(
    "publication", from: VectorPublication(), Member("address", \.address, .nonEmpty),
    .ifAny("media_type", \.mediaType, .nonEmpty), .ifAny("bytes", \.list.stored, .bytes),
    .ifAny("generator", \.list.described, VectorInput.parts), .ifAny("fault", \.failure, .name)
  ).withOne(of: "bytes", "generator", "fault").holding { json, pointer, faults in
    if json["fault"] == nil, json["media_type"] == nil { faults.add("\(pointer)/media_type", "is required") }
  }
}

/// A relying party's settings for a signed list of anchors, and its record of the last accepted list.
package struct VectorList: Sendable, Hashable {
  package var format: Format
  /// The last accepted list of the same source; nil if no list was accepted.
  package var last: LastAccepted?
  /// The service types of a list of trusted entities, in order, each with its document types.
  package var issuance: [Service] = []
  /// The service types whose certificates sign status lists.
  package var revocation: [String] = []

  package enum Format: String, Sendable, Hashable, CaseIterable {
    /// ISO/IEC 18013-5, Annex C.
    case vical
    /// ETSI TS 119 602 in its JSON form.
    case trustedEntities = "trusted-entities"
  }

  package struct Service: Sendable, Hashable {
    package var type = ""
    package var docTypes: [String] = []

    package init() {}
  }

  package struct LastAccepted: Sendable, Hashable {
    /// `date` of a VICAL or `ListIssueDateTime` of a list of trusted entities, as RFC 3339.
    package var date: String
    /// `vicalIssueID` or `LoTESequenceNumber`.
    package var number: Int64?
    /// SHA-256 of a VICAL's payload; nil for a list of trusted entities.
    package var digest: [UInt8]?

    package init(date: String, number: Int64?, digest: [UInt8]? = nil) {
      (self.date, self.number, self.digest) = (date, number, digest)
    }
  }

  package init(format: Format) { self.format = format }

  static func shape(of format: Format) -> Shape<VectorList> { format == .vical ? vicalShape : serviceShape }

  private static let vicalShape = Shape<VectorList>.form(
    "list", from: VectorList(format: .vical), .ifAny("last_accepted", \.last, LastAccepted.shape))

  private static let serviceShape = Shape<VectorList>.form(
    "serviceList", from: VectorList(format: .trustedEntities),
    Member("issuance", \.issuance, Service.shape.list(atLeast: 1)),
    Member("revocation", \.revocation, Shape.anyText.set), .ifAny("last_accepted", \.last, LastAccepted.shape))
}

/// A list whose anchors are trusted in addition to the vector's own.
package struct VectorAnchorList: Sendable, Hashable {
  package var list: VectorList
  /// Names of files in the suite's `anchors` folder. The list's signer must chain to one of these anchors.
  package var signers: [String]
  package var input: VectorInput

  package init(list: VectorList, signers: [String], input: VectorInput) {
    (self.list, self.signers, self.input) = (list, signers, input)
  }
}

extension VectorList.Service {
  fileprivate static let shape = Shape<Self>.form(
    "service", from: Self(), Member("service_type", \.type, .nonEmpty),
    Member("doc_types", \.docTypes, Shape.anyText.set))
}

extension VectorList.LastAccepted {
  fileprivate static let shape = Shape<Self>.form(
    "lastAccepted", from: Self(date: "", number: nil),
    Member("date", \.date, Shape.nonEmpty.checked("must be a time") { Timestamp(rfc3339: $0) != nil }),
    .ifAny("number", \.number, .anyInteger), .ifAny("digest", \.digest, .bytes))
}

extension VectorAnchorList {
  /// The format determines the members of `source`.
  static let shape = Shape.chosen(
    by: "format", VectorList.Format.allCases.map { ($0.rawValue, shape(of: $0)) }, of: { $0.list.format.rawValue })

  private static func shape(of format: VectorList.Format) -> Shape<VectorAnchorList> {
    let sources = VectorList.Format.allCases.map { VectorList.shape(of: $0).schema }
    return Shape<VectorAnchorList>.form(
      "anchorList", from: VectorAnchorList(list: VectorList(format: format), signers: [], input: VectorInput()),
      Member(derived: "format", \.list.format, .name),
      Member("source", \.list, VectorList.shape(of: format).described(by: .oneOf(sources))),
      Member("signers", \.signers, Shape.anyText.set), .ifAny("bytes", \.input.stored, .bytes),
      .ifAny("generator", \.input.described, VectorInput.parts)
    ).withOne(of: "bytes", "generator")
  }
}
