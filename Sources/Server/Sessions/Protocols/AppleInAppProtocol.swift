import Base
import Cryptography
import Mdoc
import Presentation

/// Apple's in-app protocol as the service sees it.
package struct AppleInAppProtocol: WalletProtocol {
  package let name = "apple-in-app"
  private let publishedKey: AppleInApp.PublishedKeyPolicy
  /// Of the one answer that is opened again.
  private let opening: AppleOpening?

  /// - Parameter showsSimulatedAnswers: test mode; answers of Apple's simulator are refused in any mode.
  package init(showsSimulatedAnswers: Bool = false) {
    publishedKey = showsSimulatedAnswers ? .simulate : .refuse
    opening = nil
  }

  private init(opening: AppleOpening) {
    publishedKey = .refuse
    self.opening = opening
  }

  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    guard let apple = context.apple else {
      throw ServiceError(.apiProtocolUnsupported, "This relying party has no Apple merchant.")
    }
    let appleRequest: AppleRequest
    do throws(AppleRequest.Problem) {
      appleRequest = try AppleRequest(request)
    } catch {
      throw ServiceError(error, in: request)
    }
    let nonce: [UInt8]
    do throws(CryptoError) {
      nonce = try Random.bytes(Limits.nonceBytes)
    } catch {
      throw .cryptoFailed
    }
    // Merchant and team are kept with the nonce: an answer under way stays good when the configuration changes.
    let material = Material(nonce: nonce, merchantID: apple.merchantID, teamID: apple.teamID)
    return OutgoingRequest(
      data: appleRequest.json(nonce: nonce, merchantID: apple.merchantID), material: material.serialized)
  }

  /// `data` of a submit.
  static let response = Shape<[UInt8]>.object(
    "AppleInAppResponseData", "The response that Apple's framework gave the app.", { $0 },
    Field(
      "encrypted_data", { $0 }, .anyBase64,
      "The bytes of `PKIdentityDocument.encryptedData`, in base64 or base64url."))

  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    .answer(.bytes(try Self.response.value(of: data, at: "/data")))
  }

  package func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    guard case .bytes(let envelope) = answer, let material = Material(challenge.material),
      let appleChallenge = try? AppleChallenge(
        nonce: material.nonce, merchantID: material.merchantID, teamID: material.teamID)
    else {
      // What we sealed ourselves opened but does not read: only a fault of ours can make it.
      return verifier.refuse([Check(.sessionInterrupted, .failed)], at: now)
    }
    let apple =
      if let opening {
        AppleInApp(verifier: verifier, opening: opening)
      } else {
        // Only the keys of the session's merchant are tried: another's answers are unknown here.
        AppleInApp(
          verifier: verifier, keys: relyingParty.encryptionKeys(of: material.merchantID), publishedKey: publishedKey,
          others: relyingParty.others(than: material.merchantID))
      }
    return apple.authenticate(envelope, answering: appleChallenge, request: request, at: now)
  }

  package func openingSecret(of answer: WalletAnswer.Content, relyingParty: RelyingParty) -> SecretBytes? {
    guard case .bytes(let envelope) = answer else { return nil }
    return AppleOpening(of: envelope, keys: relyingParty.apple.flatMap(\.encryptionKeys))?.serialized
  }

  package func reopening(with secret: consuming SecretBytes?) -> any WalletProtocol {
    guard let secret, let opening = AppleOpening(serialized: secret) else { return self }
    return AppleInAppProtocol(opening: opening)
  }

  /// What opens an answer, serialised as JSON.
  private struct Material {
    let nonce: [UInt8]
    let merchantID: String
    let teamID: String

    init(nonce: [UInt8], merchantID: String, teamID: String) {
      self.nonce = nonce
      self.merchantID = merchantID
      self.teamID = teamID
    }

    init?(_ bytes: borrowing SecretBytes) {
      guard let json = try? JSON(parsing: bytes.exposed()), let nonce = json["nonce"]?.string.flatMap(Hex.decode),
        let merchantID = json["merchant_id"]?.string, let teamID = json["team_id"]?.string
      else { return nil }
      self.init(nonce: nonce, merchantID: merchantID, teamID: teamID)
    }

    var serialized: SecretBytes {
      let json: JSON = [
        "nonce": .string(Hex.encode(nonce)), "merchant_id": .string(merchantID), "team_id": .string(teamID),
      ]
      return SecretBytes(copying: json.serialized())
    }
  }
}

extension RelyingParty {
  /// None where the merchant has gone from the configuration since it asked.
  fileprivate func encryptionKeys(of merchantID: String) -> [PrivateKey] {
    apple.first { $0.merchantID == merchantID }?.encryptionKeys ?? []
  }

  /// To say so where an answer is another merchant's.
  fileprivate func others(than merchantID: String) -> AppleInApp.Others {
    let others = apple.filter { $0.merchantID != merchantID }
    return AppleInApp.Others(
      merchants: others.map(\.merchant), keys: others.flatMap(\.encryptionKeys).map(\.publicKey))
  }
}

extension ServiceError {
  fileprivate init(_ problem: AppleRequest.Problem, in request: PresentationRequest) {
    let pointer: String
    let detail: String
    switch problem {
    case .docTypeNotOffered(let document):
      pointer = "/documents/\(document)/doc_type"
      detail = "is not offered by Apple's in-app protocol"
    case .elementNotOffered(let document, let element):
      pointer = "/documents/\(document)/elements/\(element)"
      let asked = request.documents[document]
      let neighbour = DocTypeCatalogue.neighbour(of: asked.elements[element].element, inDocType: asked.docType)
      detail =
        "is not offered by Apple's in-app protocol for this document type"
        + (neighbour.map { "; did you mean `\($0.identifier)` of `\($0.namespace)`?" } ?? "")
    case .ageInYearsWithThresholds(let document):
      pointer = "/documents/\(document)/age_over"
      detail = "cannot be asked for together with `age_in_years` in-app"
    case .mixedIntents(let document, let element):
      pointer = "/documents/\(document)/elements/\(element)"
      detail = "is asked for within an Apple element that has another intent to retain"
    case .severalDocumentsRequired:
      pointer = "/all_documents"
      detail = "Apple's in-app protocol returns one document"
    }
    self.init(.apiInvalidRequest, pointers: [PointedDetail(pointer: pointer, detail: detail)])
  }
}
