import Base
import Cryptography
import Mdoc
import Presentation

package struct AppleInAppProtocol: WalletProtocol {
  package let name = "apple-in-app"
  private let publishedKey: AppleInApp.PublishedKeyPolicy
  /// The secret that opens the response in an evidence bundle.
  private var kept: AppleOpening?

  /// - Parameter showsSimulatedResults: true in test mode. Responses of Apple's simulator are refused in every mode.
  package init(showsSimulatedResults: Bool = false) { publishedKey = showsSimulatedResults ? .simulate : .refuse }

  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    guard let apple = context.apple else {
      throw ServiceError(.apiProtocolUnsupported, "This relying party has no Apple merchant.")
    }
    let appleRequest: AppleRequest
    do throws(AppleRequestError) {
      appleRequest = try AppleRequest(request)
    } catch {
      throw ServiceError(error, in: request)
    }
    do throws(CryptoError) {
      let challenge = try AppleChallenge(freshFor: apple.merchant)
      return OutgoingRequest(
        data: appleRequest.json(nonce: challenge.nonce, merchantID: apple.merchantID), material: challenge.serialized())
    } catch { throw .cryptoFailed }
  }

  static let response = Shape<[UInt8]>.object(
    "AppleInAppResponseData", "The response that Apple's framework returned to the app.", { $0 },
    Field(
      "encrypted_data", { $0 }, .anyBase64, "The bytes of `PKIdentityDocument.encryptedData`, in base64 or base64url."))

  package func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse {
    .response(.bytes(try Self.response.value(of: data, at: pointer)))
  }

  package func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    guard case .bytes(let envelope) = response, let opening = AppleChallenge(serialized: challenge.material) else {
      return rules.interrupted()
    }
    return authenticate(envelope, answering: opening, by: rules)
  }

  /// Opens and authenticates an envelope with the keys of the challenge's merchant.
  func authenticate(
    _ envelope: [UInt8], answering opening: consuming AppleChallenge, by rules: VerificationRules
  ) -> Authentication {
    let merchant = opening.merchant
    var apple =
      if let kept {
        AppleInApp(verifier: rules.verifier, opening: kept)
      } else {
        // Try only the keys of the challenge's merchant.
        AppleInApp(
          verifier: rules.verifier, keys: rules.relyingParty.encryptionKeys(of: merchant.merchantID),
          publishedKey: publishedKey, others: rules.relyingParty.others(than: merchant.merchantID))
      }
    apple.prepared = rules.opening
    if let didOpen = rules.didOpen { apple.didOpen = { didOpen(SharedSecret($0.serialized)) } }
    return apple.authenticate(envelope, answering: opening, request: rules.request, at: rules.now)
  }

  package func reopening(with secret: consuming SecretBytes?) -> any WalletProtocol {
    guard let secret, let opening = AppleOpening(serialized: secret) else { return self }
    var reopening = AppleInAppProtocol()
    reopening.kept = opening
    return reopening
  }
}

extension RelyingParty {
  /// Empty if the merchant was removed from the configuration after the request.
  fileprivate func encryptionKeys(of merchantID: String) -> [PrivateKey] {
    apple.first { $0.merchantID == merchantID }?.encryptionKeys ?? []
  }

  /// The relying party's other merchants and keys. With them, the report identifies a response for another merchant.
  fileprivate func others(than merchantID: String) -> AppleInApp.Others {
    let others = apple.filter { $0.merchantID != merchantID }
    return AppleInApp.Others(merchants: others.map(\.merchant), keys: others.flatMap(\.encryptionKeys).map(\.publicKey))
  }
}

extension ServiceError {
  fileprivate init(_ error: AppleRequestError, in request: PresentationRequest) {
    let (pointer, detail): (String, String) =
      switch error {
      case .docTypeNotOffered(let document):
        ("/documents/\(document)/doc_type", "is not offered by Apple's in-app protocol")
      case .elementNotOffered(let document, let element):
        (
          "/documents/\(document)/elements/\(element)",
          "is not offered by Apple's in-app protocol for this document type"
            + Self.hint(request.documents[document], element)
        )
      case .ageInYearsWithThresholds(let document):
        ("/documents/\(document)/age_over", "cannot be requested together with `age_in_years` in-app")
      case .mixedIntents(let document, let element):
        (
          "/documents/\(document)/elements/\(element)",
          "must have the same `intent_to_retain` and `retain_days` as the rest of its Apple element"
        )
      case .severalDocumentsRequired: ("/all_documents", "Apple's in-app protocol returns only one document")
      }
    self = .invalidMember(pointer, detail)
  }

  private static func hint(_ request: DocumentRequest, _ element: Int) -> String {
    DocTypeCatalogue.neighbour(of: request.elements[element].element, inDocType: request.docType)
      .map { "; did you mean `\($0.identifier)` of `\($0.namespace)`?" } ?? ""
  }
}
