import Base

/// The relying party's knowledge of the session that the answer belongs to.
package enum VectorSession: Sendable, Hashable {
  /// Apple's in-app request: the input is the encrypted envelope.
  case appleInApp(AppleInApp)
  /// Proximity: the input is the DeviceResponse.
  case proximity(Proximity)
  /// `org-iso-mdoc` over the Digital Credentials API: the input is the EncryptedResponse.
  case annexC(AnnexC)
  /// OpenID4VP: the input is the JSON object of the response's parameters.
  case openID4VP(OpenID4VP)
  /// No wallet's answer: the input is a list of anchors, judged by itself.
  case list(VectorList)

  package struct AppleInApp: Sendable, Hashable {
    package var nonce: [UInt8]
    package var merchantID: String
    package var teamID: String
    /// The P-256 scalar that decrypts the answer. It is a test key and public, as is everything in a vector.
    package var recipientKey: [UInt8]
  }

  package struct Proximity: Sendable, Hashable {
    /// The encoded SessionTranscript.
    package var transcript: [UInt8]
    /// The P-256 scalar of the reader's ephemeral key, for a device MAC; nil if the verifier has none.
    package var readerKey: [UInt8]?
  }

  /// ISO/IEC TS 18013-7, Annex C.
  package struct AnnexC: Sendable, Hashable {
    /// The base64url text that was sent. The transcript hashes it unchanged.
    package var encryptionInfo: String
    package var origin: String
    /// The P-256 scalar that decrypts the answer.
    package var recipientKey: [UInt8]
  }

  package struct OpenID4VP: Sendable, Hashable {
    /// The protocol's name in the HTTP API. It tells the channel of the request and the answer.
    package var protocolName: String
    package var nonce: String
    package var channel: Channel
    /// Nil if the answer is to come unencrypted.
    package var encryption: Encryption?

    package enum Channel: Sendable, Hashable {
      case digitalCredentialsAPI(origin: String)
      case redirect(clientID: String, responseURI: String, state: String?)

      var isRedirect: Bool { if case .redirect = self { true } else { false } }
    }

    package struct Encryption: Sendable, Hashable {
      /// The P-256 scalar that decrypts the answer. It is also the reader key of a device MAC.
      package var key: [UInt8]
      /// The `kid` of the encryption key in the request.
      package var keyID: String
    }

    /// Protocols of such a session whose answer comes over the Digital Credentials API.
    static let overBrowser = ["openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
    static let redirected = ["openid4vp", annexB]
    /// ISO/IEC TS 18013-7, Annex B.
    static let annexB = "openid4vp-iso-18013-7-annex-b"
  }

  static let annexCName = "org-iso-mdoc"

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

extension VectorSession {
  init(name: String, _ reader: MemberParser) throws(VectorFault) {
    switch name {
    case "apple-in-app":
      self = .appleInApp(
        .init(
          nonce: try reader.bytes("nonce"), merchantID: try reader.string("merchant_id"),
          teamID: try reader.string("team_id"), recipientKey: try reader.bytes("recipient_key")))
    case "proximity":
      self = .proximity(
        .init(
          transcript: try reader.bytes("transcript"),
          readerKey: try reader.optional("reader_key") == nil ? nil : reader.bytes("reader_key")))
    case Self.annexCName:
      self = .annexC(
        .init(
          encryptionInfo: try reader.string("encryption_info"), origin: try reader.string("origin"),
          recipientKey: try reader.bytes("recipient_key")))
    case let name where (OpenID4VP.overBrowser + OpenID4VP.redirected).contains(name):
      self = .openID4VP(try OpenID4VP(name: name, reader))
    default:
      guard let format = VectorList.Format(rawValue: name) else {
        throw VectorFault(pointer: "/protocol", problem: "names no protocol that is known here")
      }
      self = .list(try VectorList(format, reader))
    }
  }

  var json: JSON {
    switch self {
    case .appleInApp(let session):
      [
        "nonce": .bytes(session.nonce), "merchant_id": .string(session.merchantID),
        "team_id": .string(session.teamID), "recipient_key": .bytes(session.recipientKey),
      ]
    case .proximity(let session):
      .members(["transcript": .bytes(session.transcript), "reader_key": session.readerKey.map { .bytes($0) }])
    case .annexC(let session):
      [
        "encryption_info": .string(session.encryptionInfo), "origin": .string(session.origin),
        "recipient_key": .bytes(session.recipientKey),
      ]
    case .openID4VP(let session): session.json
    case .list(let list): list.json
    }
  }
}

extension VectorSession.OpenID4VP {
  fileprivate init(name: String, _ reader: MemberParser) throws(VectorFault) {
    protocolName = name
    nonce = try reader.string("nonce")
    if reader.optional("encryption_key") != nil {
      encryption = Encryption(key: try reader.bytes("encryption_key"), keyID: try reader.string("key_id"))
    }
    if Self.overBrowser.contains(name) {
      channel = .digitalCredentialsAPI(origin: try reader.string("origin"))
    } else {
      channel = .redirect(
        clientID: try reader.string("client_id"), responseURI: try reader.string("response_uri"),
        state: try reader.optional("state") == nil ? nil : reader.string("state"))
    }
  }

  fileprivate var json: JSON {
    var members: [JSON.Member] = [.init("nonce", .string(nonce))]
    switch channel {
    case .digitalCredentialsAPI(let origin): members.append(.init("origin", .string(origin)))
    case .redirect(let clientID, let responseURI, let state):
      members += [.init("client_id", .string(clientID)), .init("response_uri", .string(responseURI))]
      if let state { members.append(.init("state", .string(state))) }
    }
    if let encryption {
      members += [.init("encryption_key", .bytes(encryption.key)), .init("key_id", .string(encryption.keyID))]
    }
    return .object(members)
  }
}
