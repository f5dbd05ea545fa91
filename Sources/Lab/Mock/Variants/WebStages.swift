import Base
import CBOR
import Cryptography

/// The stages of the web protocols.
extension Stages {
  static let web: [any AnyEditStage] = [
    annexC, annexCPlaintext, encryptedResponse, encryptedResponseBytes, openID4VP, authorizationResponse, jwe, jweParts,
    webData,
  ]

  // MARK: ISO/IEC TS 18013-7, Annex C

  /// The session as the wallet sees it, then the plaintext, then EncryptedResponse, then its bytes.
  static let annexC = EditStage<AnnexCDraft>(
    "annexC",
    [
      "origin": .at(\.origin), "encryptionInfo": .at(\.encryptionInfo), "info": .at(\.otherInfo),
      "transcript": .reading { .bytes($0.transcript) },
    ],
    [
      "otherKey": { draft, _ in
        let seed = MockSeed(Array(draft.encryptionInfo.utf8))
        draft.recipientKey = try seed.key("another session", on: .p256).publicKey
      }
    ])
  static let annexCPlaintext = EditStage("annexCPlaintext", bytes)
  static let encryptedResponse = EditStage<EncryptedResponseDraft>(
    "encryptedResponse",
    [
      "": .at(\.fields), "name": .at(\.name),
      "further": .list(\.further),
      // Encapsulated keys of other suites.
      "p384Key": .reading { .bytes(try $0.seed.key("annex-c p384", on: .p384).publicKey.encoded) },
      "xWingKey": .reading { .bytes(try $0.seed.bytes("annex-c x-wing", count: 1_120)) },
    ])
  static let encryptedResponseBytes = EditStage("encryptedResponseBytes", bytes)

  // MARK: OpenID4VP

  /// The session as the wallet sees it, then `vp_token` and the other members, then the JWE, then its five parts.
  static let openID4VP = EditStage<OpenID4VPDraft>(
    "openID4VP",
    [
      "clientID": .at(\.clientID), "nonce": .at(\.nonce), "origin": .at(\.origin), "responseURI": .at(\.responseURI),
      "thumbprint": .at(\.thumbprint),
      "otherThumbprint": .reading {
        .bytes(MockJWK.thumbprint(of: try $0.seed.key("another verifier", on: .p256).publicKey))
      },
      "handover": .at(\.handover),
    ])
  static let authorizationResponse = EditStage<AuthorizationResponseDraft>(
    "authorizationResponse",
    [
      "token": .at(\.token), "state": .at(\.state), "error": .at(\.error), "further": members(\.further),
      // The presentations for the first query.
      "first": EditPart(
        get: { $0.token?.object?.first?.value.edited },
        set: { draft, value in
          guard var queries = draft.token?.object, let first = queries.first else { return }
          queries[0] = JSON.Member(first.name, try JSON(edited: value))
          draft.token = .object(queries)
        }),
    ])
  static let jwe = EditStage<JWEDraft>(
    "jwe",
    [
      "": members(\.header), "payload": .at(\.payload), "otherHeader": .at(\.otherHeader),
      "p384Key": .reading { MockJWK.json(of: try $0.seed.key("jwe p384", on: .p384).publicKey).edited },
    ],
    ["otherKey": { draft, _ in draft.recipientKey = try draft.seed.key("another session", on: .p256).publicKey }])
  static let jweParts = EditStage<[String]>(
    "jweParts",
    [
      "": .list(\.self),
      "header": .base64(0), "encryptedKey": .base64(1), "vector": .base64(2), "ciphertext": .base64(3),
      "tag": .base64(4),
    ])
  /// The response for the page or the response endpoint, over any web protocol. `clear` is the same response,
  /// unencrypted.
  static let webData = EditStage<WebDataDraft>(
    "webData", ["": members(\.members), "clear": .reading { JSON.object($0.clear).edited }])

  /// The members of a JSON object.
  private static func members<Draft>(_ path: any WritableKeyPath<Draft, [JSON.Member]> & Sendable) -> EditPart<Draft> {
    EditPart(
      get: { JSON.object($0[keyPath: path]).edited },
      set: { $0[keyPath: path] = try JSON(edited: $1).object ?? [] })
  }
}
