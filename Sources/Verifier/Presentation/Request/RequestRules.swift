import Base
import Cryptography
import Mdoc

/// The rules for an OpenID4VP request's parameters.
struct RequestRules {
  enum Signing {
    case unsigned, once
    /// Each signer's header identifies the signer.
    case severally
  }

  let claims: JSON
  let arrival: RequestJudgement.Arrival
  let signing: Signing
  let now: Timestamp
  var checks: CheckList

  private var client: ClientName { ClientName(of: claims) }

  /// Whether the request follows ISO/IEC TS 18013-7:2024, Annex B, which has only links.
  var isAnnexB: Bool {
    !isOverAPI && claims["dcql_query"] == nil
      && (claims["presentation_definition"] != nil || arrival.link?.scheme == "mdoc-openid4vp")
  }

  /// Whether the request came over the Digital Credentials API, not by link.
  var isOverAPI: Bool {
    arrival.link == nil
      && (arrival.protocolName != nil || arrival.origin != nil || responseMode.hasPrefix("dc_api"))
  }

  private var responseMode: String { claims["response_mode"]?.string ?? "" }
  private var isPosted: Bool { responseMode.hasPrefix("direct_post") }
  var isEncrypted: Bool { responseMode.hasSuffix(".jwt") }

  /// Makes every check that applies to the request.
  mutating func check(_ profile: RequestJudgement.Profile) -> CheckList {
    checkArrival()
    if let link = arrival.link { check(link) }
    checkParameters()
    checkClient()
    checkResponseURI()
    checkTimesAndNonces()
    checkMetadata()
    if isAnnexB { checkPresentationDefinition() } else { checkQuery() }
    checkExtensions()
    guard profile == .haip else { return checks }
    if signing == .once { checks.require(client.prefix == "x509_hash", .requestHAIPClient) }
    if let link = arrival.link { checks.require(link.requestURI != nil, .requestHAIPDelivery) }
    checkHAIPMetadata()
    return checks
  }

  private mutating func checkArrival() {
    if let name = arrival.protocolName {
      let kinds: [String: Signing] = ["unsigned": .unsigned, "signed": .once, "multisigned": .severally]
      let expected = kinds.first { name == "openid4vp-v1-" + $0.key }?.value
      checks.require(expected == signing, .requestProtocolMismatch, "the protocol is \(shown(name))")
    }
    if signing == .severally {
      let isRight = isOverAPI && claims["client_id"] == nil
      checks.require(isRight, .requestProtocolMismatch, "several signers need an API and client_id in each header")
    }
    if let type = arrival.mediaType {
      let bare = type.prefix { $0 != ";" && $0 != " " }.lowercased()
      checks.require(bare == "application/oauth-authz-req+jwt", .requestMediaType, "it is \(shown(type))")
    }
  }

  private mutating func check(_ link: AuthorizationLink) {
    let names = link.parameters.map(\.name)
    let isByReference = link.requestURI != nil
    let hasOne = isByReference ? link["request"] == nil : link["request_uri_method"] == nil
    let hasClient = link.clientID?.isEmpty == false
    checks.require(
      hasOne && !link.hasFragment && Set(names).count == names.count && hasClient,
      .requestLinkMalformed, "its parameters are \(shownList(names))" + (link.hasFragment ? ", with a fragment" : ""))
    if let address = link.requestURI {
      checks.require(VerifierAddress(address)?.isAllowed ?? false, .requestAddress, "request_uri")
      checks.require(["get", "post"].contains(link["request_uri_method"] ?? "get"), .requestURIMethodUnknown)
    }
    guard isByReference || link.request != nil else { return }
    let surplus = names.filter { !["client_id", "request", "request_uri", "request_uri_method"].contains($0) }
    checks.expect(surplus.isEmpty, .requestLinkSurplus, "it also has \(shownList(surplus))")
    if hasClient {
      checks.require(Self.areSame(link.clientID, claims["client_id"]?.string), .requestClientMismatch)
    }
  }

  // MARK: Parameters

  private static let texts = [
    "client_id", "response_type", "response_mode", "response_uri", "nonce", "state", "iss", "wallet_nonce", "scope",
  ]

  /// Parameters of OpenID4VP's drafts that version 1.0 dropped.
  private static let obsolete = [
    "client_id_scheme", "presentation_definition", "presentation_definition_uri", "client_metadata_uri",
    "verifier_attestations",
  ]

  /// Further known parameters. Some of them have their own checks.
  private static let known = [
    "dcql_query", "client_metadata", "verifier_info", "aud", "iat", "nbf", "exp", "jti", "transaction_data",
    "redirect_uri", "request", "request_uri", "request_uri_method", "sub", "expected_origins",
  ]

  private mutating func checkParameters() {
    let mistyped =
      Self.texts.filter { claims[$0] != nil && claims[$0]?.string == nil }
      + ["exp", "nbf", "iat"].filter { claims[$0] != nil && date($0) == nil }
    checks.require(mistyped.isEmpty, .requestParameterMalformed, "another type: \(mistyped.joined(separator: ", "))")
    checks.require(claims["response_type"] == "vp_token", .requestParameterMalformed, "response_type is not vp_token")
    let modes = isOverAPI ? ["dc_api", "dc_api.jwt"] : ["direct_post.jwt"] + (isAnnexB ? [] : ["direct_post"])
    checks.require(
      modes.contains(responseMode), .requestResponseMode, "it must be \(modes.joined(separator: " or "))")
    checks.require(!isPosted || claims["redirect_uri"] == nil, .requestRedirectURI)
    let old = isAnnexB ? [] : Self.obsolete.filter { claims[$0] != nil }
    checks.require(old.isEmpty, .requestParameterObsolete, old.joined(separator: ", "))
    checks.require((isAnnexB || claims["dcql_query"] != nil) && claims["scope"] == nil, .requestQueryMissing)
    expectKnown(Self.texts + Self.obsolete + Self.known, in: claims, "the request")
    guard signing != .unsigned else { return }
    let areOrigins = claims["expected_origins"]?.array?.allSatisfy { $0.string != nil } ?? true
    checks.require(areOrigins, .requestParameterMalformed, "expected_origins has other values than strings")
    var misplaced = ["request", "request_uri", "request_uri_method"].filter { claims[$0] != nil }
    if let subject = claims["sub"], subject == claims["client_id"] { misplaced.append("sub") }
    if let issuer = claims["iss"], signing == .once, issuer != claims["client_id"] { misplaced.append("iss") }
    checks.expect(misplaced.isEmpty, .requestClaimMisplaced, misplaced.joined(separator: ", "))
  }

  mutating func expectKnown(_ known: [String], in object: JSON, _ name: String) {
    let unknown = (object.object ?? []).map(\.name).filter { !known.contains($0) }
    checks.expect(unknown.isEmpty, .requestParameterUnknown, "in \(name): \(shownList(unknown))")
  }

  private mutating func checkClient() {
    if isOverAPI, signing == .unsigned {
      return checks.expect(claims["client_id"] == nil, .requestClientSurplus)
    }
    guard signing != .severally else { return }
    let client = client
    guard let id = claims["client_id"] else {
      return checks.failed(.requestParameterMalformed, "client_id is missing")
    }
    let prefixes = isAnnexB ? ["x509_san_dns"] : ["x509_hash", "x509_san_dns", "redirect_uri"]
    checks.require(
      id.string == nil || prefixes.contains(client.prefix ?? ""), .requestClientPrefixUnknown,
      client.prefix.map { "it is \(shown($0))" } ?? "there is none")
    if client.prefix == "redirect_uri" { checks.require(signing == .unsigned, .requestSignatureForbidden) }
    if client.isCertified { checks.require(signing != .unsigned, .requestSignatureMissing) }
    if let link = arrival.link, link.scheme == "av" {
      let isByValue = link.requestURI == nil && signing == .unsigned
      checks.require(isByValue && responseMode == "direct_post", .requestAgeVerification)
    }
  }

  private mutating func checkResponseURI() {
    guard isPosted else { return }
    guard let text = claims["response_uri"]?.string, let address = VerifierAddress(text), address.isAllowed else {
      return checks.failed(.requestAddress, "response_uri")
    }
    checks.passed(.requestAddress)
    switch client.prefix {
    case "redirect_uri": checks.require(text.hasSameBytes(as: client.name), .requestResponseURIForeign)
    case "x509_san_dns":
      let isNamed = address.host.hasSameBytes(as: client.name.lowercased())
      checks.require(isNamed, .requestResponseURIForeign, "its host is \(shown(address.host))")
    default: break
    }
  }

  private static func areSame(_ left: String?, _ right: String?) -> Bool {
    left.map { right?.hasSameBytes(as: $0) ?? false } ?? (right == nil)
  }

  static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

  /// A NumericDate (RFC 7519, 2), without its fraction of a second; nil for another type.
  private func date(_ name: String) -> Timestamp? {
    if case .double(let seconds) = claims[name] {
      return Timestamp(secondsSince1970: Int64(max(0, min(1e15, seconds))))
    }
    return claims[name]?.integer.map(Timestamp.init(secondsSince1970:))
  }

  private mutating func checkTimesAndNonces() {
    let (skew, day): (Int64, Int64) = (300, 86_400)
    let now = now
    checks.require(
      date("exp").map { $0 > now - skew } ?? true && date("nbf").map { $0 <= now + skew } ?? true, .requestExpired)
    checks.expect(date("iat").map { $0 <= now + skew && $0 > now - day } ?? true, .requestIssuedAt)
    for name in ["nonce", "state"] {
      guard let text = claims[name]?.string else { continue }
      let isSafe = !text.isEmpty && text.utf8.allSatisfy((Self.letters + "-._~".utf8).contains)
      checks.require(isSafe, .requestNonceMalformed, name)
    }
    checks.require(claims["nonce"] != nil, .requestNonceMalformed, "nonce is missing")
    if let nonce = claims["nonce"]?.string {
      // n characters of k different ones have fewer than n·(log2(k)+1) bits.
      let bits = nonce.utf8.count * (Int.bitWidth - Set(nonce.utf8).count.leadingZeroBitCount)
      checks.expect((16...43).contains(nonce.utf8.count) && bits >= 96, .requestNonceWeak)
    }
    let isMistyped = claims["wallet_nonce"].map { $0.string == nil } ?? false
    if isMistyped { return }
    checks.require(
      Self.areSame(arrival.walletNonce, claims["wallet_nonce"]?.string), .requestWalletNonce,
      arrival.walletNonce == nil ? "the wallet sent none" : nil)
  }

  /// Checks statements about the verifier, and transaction data. No type of transaction data is supported.
  private mutating func checkExtensions() {
    let known = (claims["dcql_query"]?["credentials"]?.array ?? []).map { $0["id"] }
    if let info = claims["verifier_info"] {
      let areRight = info.isList { entry in
        let ids = entry["credential_ids"]
        return entry["format"]?.string != nil && (entry["data"]?.string != nil || entry["data"]?.object != nil)
          && (ids == nil || ids.isList { known.contains($0) } && Set(ids?.array ?? []).count == ids?.array?.count)
      }
      checks.require(areRight, .requestVerifierInfo)
    }
    guard let data = claims["transaction_data"] else { return }
    let entries = (data.array ?? []).map { entry in
      entry.string.flatMap(Base64.decodeURLSafe).flatMap { try? JSON(parsing: $0) }
    }
    let areRight = entries.allSatisfy { entry in
      entry?["type"]?.string != nil && entry?["credential_ids"].isList { known.contains($0) } ?? false
    }
    checks.require(areRight && !entries.isEmpty, .requestTransactionDataMalformed)
    if areRight && !entries.isEmpty { checks.failed(.requestTransactionDataUnknown) }
  }
}
