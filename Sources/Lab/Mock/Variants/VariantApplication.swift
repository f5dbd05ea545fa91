import Base

extension MockVariant {
  /// Whether the variant's codes hold for answers over this protocol, by its name in the HTTP API.
  ///
  /// - Parameters:
  ///   - isEncrypted: whether the request asks for an encrypted answer, where the protocol leaves the choice.
  ///   - usesMAC: whether the device sends a MAC in place of a signature.
  ///   - hasProofs: whether the wallet proves documents, and a proof is asked for.
  package func holds(
    over protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false, hasProofs: Bool = false
  ) -> Bool {
    condition(protocolName, isEncrypted, usesMAC, hasProofs).holds
  }

  /// The same, with a phrase that completes "the variant is for …".
  private func condition(
    _ protocolName: String, _ isEncrypted: Bool, _ usesMAC: Bool, _ hasProofs: Bool
  ) -> (holds: Bool, answers: String) {
    let isInApp = protocolName == MockProtocol.appleInApp
    let isRedirect = protocolName == MockProtocol.redirect
    let isAnnexB = protocolName == MockProtocol.annexB
    let isWeb = protocolName.hasPrefix("openid4vp-v1-")
    let isVersion1 = isRedirect || isWeb
    // OpenID4VP's encryption key is the reader key. A reader in person has its own.
    let hasReaderKey = isAnnexB || protocolName == MockProtocol.proximity || (isVersion1 && isEncrypted) || usesMAC
    return switch applicability {
    case .anyProtocol: (true, "any answer")
    case .appleInApp: (isInApp, "answers over apple-in-app")
    case .notAppleInApp: (!isInApp, "answers over every protocol except apple-in-app")
    case .deviceMAC: (hasReaderKey, "answers to a verifier with a reader key, which a MAC needs")
    case .withoutReaderKey: (!hasReaderKey, "answers to a verifier without a reader key")
    case .annexC: (protocolName == MockProtocol.annexC, "answers over org-iso-mdoc")
    case .openID4VP: (isVersion1, "answers over OpenID4VP 1.0")
    case .openID4VPEncrypted: (isVersion1 && isEncrypted, "encrypted answers over OpenID4VP 1.0")
    case .openID4VPClear: (isVersion1 && !isEncrypted, "clear answers over OpenID4VP 1.0")
    case .openID4VPDigitalCredentials: (isWeb, "answers over OpenID4VP 1.0 and the Digital Credentials API")
    case .openID4VPRedirect: (isRedirect, "answers over OpenID4VP 1.0 by redirect or QR code")
    case .annexB: (isAnnexB, "answers over openid4vp-iso-18013-7-annex-b")
    case .zeroKnowledge:
      (hasProofs && !isInApp && !isAnnexB, "answers with a proof, which takes circuits and a request for one")
    }
  }

  /// Makes an answer in this way. The wallet makes every answer through here, so no variant is without effect unnoticed:
  /// it must be meant for such an answer, and a wrong answer must differ from the right one of the same seed.
  ///
  /// - Parameters:
  ///   - seen: what the verifier gets of the answer.
  ///   - make: makes the answer with these changes, always the same one.
  /// - Throws: `MockError.nothingToChange` if the variant does not apply.
  func applied<Made, Seen: Equatable>(
    over protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false, hasProofs: Bool = false,
    seen: (Made) -> Seen, make: (MockMutation) throws -> Made
  ) throws -> Made {
    let condition = condition(protocolName, isEncrypted, usesMAC, hasProofs)
    guard condition.holds else { throw MockError.nothingToChange("\(name) is for \(condition.answers)") }
    let answer = try make(mutation)
    // A right variant may describe what the wallet does anyway, such as keys on P-256.
    if codes.isEmpty && warnings.isEmpty || isAboutLists { return answer }
    let unchanged = try make(.none)
    guard seen(answer) != seen(unchanged) else {
      throw MockError.nothingToChange("\(name) leaves the answer to this request as it is")
    }
    return answer
  }
}

/// The names of protocols in requests and answers.
enum MockProtocol {
  static let appleInApp = "apple-in-app"
  static let annexC = "org-iso-mdoc"
  static let overBrowser = "openid4vp-v1-unsigned"
  static let redirect = "openid4vp"
  static let annexB = "openid4vp-iso-18013-7-annex-b"
  static let proximity = "iso-18013-5-proximity"
  /// A DeviceResponse over a transcript that is given: no protocol of the HTTP API.
  static let anyTranscript = "device-response"
}
