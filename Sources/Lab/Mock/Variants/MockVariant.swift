import Base

/// A named response: correct, or wrong in one respect.
package struct MockVariant: MockDeclared {
  /// The responses for which a variant's codes hold, named as in the tables (see `condition`). A variant applies only
  /// to these responses.
  package enum Applicability: String, Sendable {
    case anyProtocol = "any_protocol"
    case appleInApp = "apple_in_app"
    case notAppleInApp = "not_apple_in_app"
    case deviceMAC = "device_mac"
    case withoutReaderKey = "without_reader_key"
    case annexC = "annex_c"
    case openID4VP = "openid4vp"
    case openID4VPEncrypted = "openid4vp_encrypted"
    case openID4VPClear = "openid4vp_clear"
    case openID4VPDigitalCredentials = "openid4vp_digital_credentials"
    case openID4VPRedirect = "openid4vp_redirect"
    case annexB = "annex_b"
    case zeroKnowledge = "zero_knowledge"
  }

  package let declaration: MockDeclaration
  package let applicability: Applicability
  /// The request that shows the variant best. The codes also hold for `MockRequest.standard`.
  package let request: MockRequest
  /// True if the response must be verified at exactly its `now`, because its dates are at the limit.
  package let needsFixedClock: Bool
  /// True if the codes concern published lists. The response itself may be correct.
  var isAboutLists = false
  let mutation: MockMutation

  init(_ name: String, _ summary: String, codes: [Code] = [], _ mutation: MockMutation = .none) {
    self.init(MockDeclaration(name, summary, codes: codes), mutation)
  }

  init(
    _ declaration: MockDeclaration, applicability: Applicability = .anyProtocol, request: MockRequest = .standard,
    needsFixedClock: Bool = false, _ mutation: MockMutation
  ) {
    self.declaration = declaration
    self.applicability = applicability
    self.request = request
    self.needsFixedClock = needsFixedClock
    self.mutation = mutation
  }

  /// A row of a table. Its options are an applicability, a request, or `fixed_clock`.
  init(_ row: VariantTable.Row) {
    var applicability = Applicability.anyProtocol
    var request = MockRequest.standard
    for word in row.options where word != "fixed_clock" {
      if let known = Applicability(rawValue: word) {
        applicability = known
      } else if let known = Self.requests[word] {
        request = known
      } else {
        preconditionFailure("The variant \(row.declaration.name) has the unknown option \(word)")
      }
    }
    self.init(
      row.declaration, applicability: applicability, request: request,
      needsFixedClock: row.options.contains("fixed_clock"), row.mutation)
  }

  private static let requests: [String: MockRequest] = [
    "age_only": .ageOnly, "any_of": .anyOf, "expiry_date": .withExpiryDate, "photo_id": .photoID,
    "proof_of_age": .proofOfAge, "proof_of_names": .proofOfNames,
    "proof_of_21": MockRequest(documents: [.proven(elements: [], ageOver: [21])]),
  ]

  package static let good = MockVariant("good", "Nothing is wrong.", .none)

  /// Variants of the same part of a response.
  package struct Group: Sendable {
    package let name: String
    package let variants: [MockVariant]

    package init(name: String, variants: [MockVariant]) {
      self.name = name
      self.variants = variants
    }

    /// The variants of a table in `Tables`.
    init(name: String, table: [UInt8]) {
      self.init(name: name, variants: VariantTable.rows(name, table).map { MockVariant($0) })
    }
  }

  /// Every group, in the order of the checks.
  package static let groups: [Group] = [
    Group(name: "controls", table: PackageResources.Controls_txt),
    Group(name: "framing", table: PackageResources.Framing_txt),
    Group(name: "apple-in-app", table: PackageResources.AppleInApp_txt),
    Group(name: "annex-c", table: PackageResources.AnnexC_txt),
    Group(name: "openid4vp", table: PackageResources.OpenID4VP_txt),
    Group(name: "response", table: PackageResources.Response_txt),
    Group(name: "issuer-auth", table: PackageResources.IssuerAuth_txt),
    Group(name: "chains", table: PackageResources.Chains_txt),
    Group(name: "certificates", table: PackageResources.Certificates_txt),
    Group(name: "mso", table: PackageResources.MSO_txt),
    Group(name: "items", table: PackageResources.Items_txt),
    Group(name: "validity", table: PackageResources.Validity_txt),
    Group(name: "device-auth", table: PackageResources.DeviceAuth_txt),
    Group(name: "acceptance", table: PackageResources.Acceptance_txt),
    Group(name: "zero-knowledge", table: PackageResources.ZeroKnowledge_txt),
  ]

  /// Every variant, in the order of the checks.
  package static let all: [MockVariant] = groups.flatMap(\.variants)

  package static func named(_ name: String) -> MockVariant? { byName[name] }

  private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}

extension MockVariant {
  /// True if the variant's codes hold for responses over this protocol. `protocolName` is the protocol's name in the
  /// HTTP API.
  ///
  /// - Parameters:
  ///   - isEncrypted: whether the request asks for an encrypted response, if the protocol leaves the choice.
  ///   - usesMAC: whether the device sends a MAC.
  ///   - hasProofs: whether a proof is requested and the wallet can make it.
  package func holds(
    over protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false, hasProofs: Bool = false
  ) -> Bool {
    condition(protocolName, isEncrypted, usesMAC, hasProofs).holds
  }

  /// Whether the codes hold, with a phrase that completes "the variant is for …".
  private func condition(
    _ protocolName: String, _ isEncrypted: Bool, _ usesMAC: Bool, _ hasProofs: Bool
  ) -> (holds: Bool, responses: String) {
    let isInApp = protocolName == MockProtocol.appleInApp
    let isRedirect = protocolName == MockProtocol.redirect
    let isAnnexB = protocolName == MockProtocol.annexB
    let isWeb = protocolName.hasPrefix("openid4vp-v1-")
    let isVersion1 = isRedirect || isWeb
    // In OpenID4VP, the encryption key is the reader key. In proximity, the reader has its own key.
    let hasReaderKey = isAnnexB || protocolName == MockProtocol.proximity || (isVersion1 && isEncrypted) || usesMAC
    return switch applicability {
    case .anyProtocol: (true, "any response")
    case .appleInApp: (isInApp, "responses over apple-in-app")
    case .notAppleInApp: (!isInApp, "responses over every protocol except apple-in-app")
    case .deviceMAC: (hasReaderKey, "responses to a verifier with a reader key, which a MAC needs")
    case .withoutReaderKey: (!hasReaderKey, "responses to a verifier without a reader key")
    case .annexC: (protocolName == MockProtocol.annexC, "responses over org-iso-mdoc")
    case .openID4VP: (isVersion1, "responses over OpenID4VP 1.0")
    case .openID4VPEncrypted: (isVersion1 && isEncrypted, "encrypted responses over OpenID4VP 1.0")
    case .openID4VPClear: (isVersion1 && !isEncrypted, "unencrypted responses over OpenID4VP 1.0")
    case .openID4VPDigitalCredentials: (isWeb, "responses over OpenID4VP 1.0 and the Digital Credentials API")
    case .openID4VPRedirect: (isRedirect, "responses over OpenID4VP 1.0 by redirect or QR code")
    case .annexB: (isAnnexB, "responses over openid4vp-iso-18013-7-annex-b")
    case .zeroKnowledge:
      (hasProofs && !isInApp && !isAnnexB, "responses with a proof, which needs circuits and a request for a proof")
    }
  }

  /// Makes the wallet's responses, and rejects variants without effect. The variant must apply to the response. A wrong
  /// response must differ from the correct response with the same seed.
  ///
  /// - Parameters:
  ///   - seen: the verifier's part of the response.
  ///   - make: makes the response with these changes; the same changes make the same response. Not optimised: Swift
  ///     6.3's optimiser specialises `make`, and then never releases the response that serves only for comparison.
  ///
  /// - Throws: `MockError.nothingToChange` if the variant does not apply.
  @_optimize(none)
  func applied<Made, Seen: Equatable>(
    over protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false, hasProofs: Bool = false,
    seen: (Made) -> Seen, make: (MockMutation) throws -> Made
  ) throws -> Made {
    let condition = condition(protocolName, isEncrypted, usesMAC, hasProofs)
    guard condition.holds else { throw MockError.nothingToChange("\(name) is for \(condition.responses)") }
    let response = try make(mutation)
    // A correct variant may equal the wallet's default, such as keys on P-256.
    if codes.isEmpty && warnings.isEmpty || isAboutLists { return response }
    guard seen(response) != seen(try make(.none)) else {
      throw MockError.nothingToChange("\(name) does not change the response to this request")
    }
    return response
  }
}

/// The names of protocols in requests and responses.
enum MockProtocol {
  static let appleInApp = "apple-in-app"
  static let annexC = "org-iso-mdoc"
  static let overBrowser = "openid4vp-v1-unsigned"
  static let redirect = "openid4vp"
  static let annexB = "openid4vp-iso-18013-7-annex-b"
  static let proximity = "iso-18013-5-proximity"
  /// A DeviceResponse over a given transcript. This is not a protocol of the HTTP API.
  static let anyTranscript = "device-response"
}
