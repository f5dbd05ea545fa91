/// What the relying party knows of the session that the answer is for.
package enum VectorSession: Sendable, Hashable {
  /// Apple's in-app request: the input is the encrypted envelope.
  case appleInApp(AppleInApp)
  /// A reader in person: the input is the DeviceResponse.
  case proximity(Proximity)
  /// The Digital Credentials API's `org-iso-mdoc`: the input is EncryptedResponse.
  case annexC(AnnexC)
  /// OpenID4VP: the input is the JSON object of the response's parameters.
  case openID4VP(OpenID4VP)
  /// No answer of a wallet: the input is a list of anchors, judged by itself.
  case list(VectorList)

  package struct AppleInApp: Sendable, Hashable {
    package var nonce: [UInt8]
    package var merchantID: String
    package var teamID: String
    /// The P-256 scalar that opens the answer: a test key, public like everything here.
    package var recipientKey: [UInt8]
  }

  package struct Proximity: Sendable, Hashable {
    /// The encoded SessionTranscript.
    package var transcript: [UInt8]
    /// The P-256 scalar of the reader's ephemeral key, for a device MAC; nil where the verifier has none.
    package var readerKey: [UInt8]?
  }

  /// ISO/IEC TS 18013-7, Annex C.
  package struct AnnexC: Sendable, Hashable {
    /// The text that was sent, which the transcript hashes as it is.
    package var encryptionInfo: String
    package var origin: String
    /// The P-256 scalar that opens the answer.
    package var recipientKey: [UInt8]
  }

  package struct OpenID4VP: Sendable, Hashable {
    /// By which the HTTP API knows it; it says where the request and the answer went.
    package var protocolName: String
    package var nonce: String
    package var channel: Channel
    /// Nil where the answer is to come in clear.
    package var encryption: Encryption?

    package enum Channel: Sendable, Hashable {
      case digitalCredentialsAPI(origin: String)
      case redirect(clientID: String, responseURI: String, state: String?)

      var isRedirect: Bool { if case .redirect = self { true } else { false } }
    }

    package struct Encryption: Sendable, Hashable {
      /// The P-256 scalar that opens the answer, and is the reader key of a device MAC.
      package var key: [UInt8]
      /// The `kid` of the request.
      package var keyID: String
    }

    /// The protocols that are such sessions, by whether the answer comes over the Digital Credentials API.
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
