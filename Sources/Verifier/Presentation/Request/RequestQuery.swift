import Base
import CBOR
import COSE
import Mdoc

extension RequestRules {
  /// Checks `dcql_query` (OpenID4VP 1.0, 6).
  mutating func checkQuery() {
    guard let query = claims["dcql_query"] else { return }
    guard query["credentials"].isList({ $0.object != nil }), let credentials = query["credentials"]?.array else {
      return checks.failed(.requestQueryMalformed, "credentials is not an array of objects")
    }
    expectKnown(["credentials", "credential_sets"], in: query, "dcql_query")
    let ids = requireIDs(of: credentials, "credentials")
    for credential in credentials { checkCredential(credential) }
    if let sets = query["credential_sets"] {
      let areRight = sets.isList { $0["options"].isSets(of: ids) && $0["required"].isFlag }
      checks.require(areRight, .requestQuerySets, "credential_sets")
      for set in sets.array ?? [] { expectKnown(["options", "required"], in: set, "credential_sets") }
    }
    let formats = credentials.compactMap { $0["format"]?.string }
    checks.require(
      formats.isEmpty || credentials.contains(where: \.isMdoc), .requestFormatUnsupported,
      "the formats are \(shownList(formats))")
  }

  private mutating func requireIDs(of list: [JSON], _ name: String) -> [String] {
    let ids = list.compactMap { $0["id"]?.string }
    let areWritten = ids.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy((Self.letters + "-_".utf8).contains) }
    let areAll = ids.count == list.count && Set(ids).count == ids.count
    checks.require(areWritten && areAll, .requestQueryID, "in \(name)")
    return ids
  }

  private mutating func checkCredential(_ credential: JSON) {
    let flags = ["multiple", "require_cryptographic_holder_binding"]
    let known = ["id", "format", "meta", "trusted_authorities", "claims", "claim_sets"]
    expectKnown(known + flags, in: credential, "credentials")
    let meta = credential["meta"]
    if credential.isMdoc { expectKnown(["doctype_value", "zk_system_type"], in: meta ?? .null, "meta") }
    let isTyped = credential.isMdoc ? meta?["doctype_value"]?.string?.isEmpty == false : meta?.object != nil
    checks.require(isTyped, .requestQueryMalformed, "meta")
    checks.require(
      credential["format"]?.string != nil && flags.allSatisfy { credential[$0].isFlag }, .requestQueryMalformed,
      "format, or a flag")
    let authorities = credential["trusted_authorities"]
    let areAuthorities = authorities.isList { authority in
      let isKey = authority["type"] == "aki"
      return authority["type"]?.string != nil
        && authority["values"].isList { $0.string.map { !isKey || Base64.decodeURLSafe($0) != nil } ?? false }
    }
    checks.require(authorities == nil || areAuthorities, .requestQueryMalformed, "trusted_authorities")
    let types = Set((authorities?.array ?? []).compactMap { $0["type"]?.string })
    let unknown = types.subtracting(["aki", "etsi_tl", "openid_federation"])
    checks.expect(unknown.isEmpty, .requestParameterUnknown, "in trusted_authorities: \(shownList(unknown.sorted()))")
    checkClaims(of: credential)
  }

  private mutating func checkClaims(of credential: JSON) {
    guard let claims = credential["claims"] else {
      return checks.require(credential["claim_sets"] == nil, .requestQuerySets, "claim_sets without claims")
    }
    let isMdoc = credential.isMdoc
    let areRight = claims.isList { claim in
      claim["path"].isList {
        isMdoc ? $0.string?.isEmpty == false : $0.string != nil || $0.isNull || $0.integer ?? -1 >= 0
      }
        && (!isMdoc || claim["path"]?.array?.count == 2) && claim["intent_to_retain"].isFlag
        && (claim["values"] == nil
          || claim["values"].isList { $0.string != nil || $0.integer != nil || $0.bool != nil })
    }
    let list = claims.array ?? []
    checks.require(areRight && Set(list.map { $0["path"] }).count == list.count, .requestQueryClaims)
    for claim in list { expectKnown(["id", "path", "values", "intent_to_retain"], in: claim, "claims") }
    let sets = credential["claim_sets"]
    let ids = requireIDs(of: sets == nil ? list.filter { $0["id"] != nil } : list, "claims")
    guard let sets, ids.count == list.count else { return }
    let areSets = JSON?.some(sets).isSets(of: ids)
    checks.require(areSets, .requestQuerySets, "claim_sets")
    let named = (sets.array ?? []).flatMap { $0.array ?? [] }.compactMap(\.string)
    let unused = areSets ? ids.filter { !named.contains($0) } : []
    checks.expect(unused.isEmpty, .requestParameterUnknown, "in no claim set: \(shownList(unused))")
  }

  /// Checks `presentation_definition` (ISO/IEC TS 18013-7:2024, B.4.2).
  mutating func checkPresentationDefinition() {
    let definition = claims["presentation_definition"]
    let areRight = definition?["input_descriptors"].isList { descriptor in
      let constraints = descriptor["constraints"]
      return descriptor["id"]?.string != nil
        && descriptor["format"]?["mso_mdoc"]?["alg"].isList { $0.string != nil } ?? false
        && constraints?["limit_disclosure"] == "required"
        && constraints?["fields"].isList { field in
          field["intent_to_retain"]?.bool != nil && field["path"].isList { $0.isElementPath }
        } ?? false
    }
    let ids = (definition?["input_descriptors"]?.array ?? []).map { $0["id"] }
    checks.require(
      definition?["id"]?.string != nil && areRight ?? false && Set(ids).count == ids.count, .requestDefinitionMalformed)
  }
}

extension JSON {
  fileprivate var isMdoc: Bool { ["mso_mdoc", "mso_mdoc_zk"].contains(self["format"]?.string) }

  /// `$['namespace']['element']`, with escaped quotes in the names.
  fileprivate var isElementPath: Bool { string?.wholeMatch(of: #/\$(?:\['(?:[^'\\]|\\.)+'\]){2}/#) != nil }

  /// Whether the value is a non-empty array whose elements all pass the test.
  func isList(_ test: (JSON) -> Bool) -> Bool { array.map { !$0.isEmpty && $0.allSatisfy(test) } ?? false }
}

extension JSON? {
  func isList(_ test: (JSON) -> Bool) -> Bool { self?.isList(test) ?? false }

  fileprivate func isSets(of ids: [String]) -> Bool {
    isList { $0.isList { $0.string.map(ids.contains) ?? false } }
  }

  fileprivate var isFlag: Bool { self == nil || self?.bool != nil }
}

// MARK: DeviceRequest

extension CheckList {
  /// Checks a DeviceRequest and its channel.
  mutating func checkDeviceRequest(
    _ bytes: [UInt8], encryptionInfo: String?, _ arrival: RequestJudgement.Arrival
  ) {
    if let name = arrival.protocolName {
      require(name == "org-iso-mdoc", .requestProtocolMismatch, "\(shown(name)) has no DeviceRequest")
    }
    if encryptionInfo != nil || arrival.protocolName != nil || arrival.origin != nil {
      require(encryptionInfo.map(Self.isEncryptionInfo) ?? false, .requestEncryptionInfo)
    }
    let request: ReceivedDeviceRequest
    do throws(DeviceRequestError) {
      request = try ReceivedDeviceRequest(parsing: bytes)
    } catch {
      return failed(.readerRequestMalformed, error.detail)
    }
    passed(.readerRequestMalformed)
    do throws(DeviceRequestError) {
      let areFilled = try DeviceRequest.documents(of: request).allSatisfy {
        !$0.docType.isEmpty && !$0.elements.isEmpty
          && $0.elements.allSatisfy { !$0.element.namespace.isEmpty && !$0.element.identifier.isEmpty }
      }
      require(areFilled, .requestItems, "a document's request is empty, or has an empty name")
    } catch {
      failed(.requestItems, error.detail)
    }
    let useCases = request.info.flatMap { try? CBORItem(parsing: $0) }?.embedded?[key: "useCases"]
    let areUseCases = useCases?.isList { useCase in
      let sets = useCase[key: "documentSets"]
      return useCase[key: "mandatory"]?.bool != nil
        && sets?.isList { $0.isList { $0.unsigned.map { $0 < request.documents.count } ?? false } } ?? false
    }
    require(areUseCases ?? true, .requestItems, "useCases of deviceRequestInfo")
    let isSecondEdition = request.info != nil || !request.readerAuthAll.isEmpty
    let version = (try? CBORItem(parsing: bytes))?[key: "version"]?.text
    expect(version == (isSecondEdition ? "1.1" : "1.0"), .requestVersion)
  }

  /// `["dcapi", {"nonce": bstr, "recipientPublicKey": COSE_Key}]` in base64url, the key on P-256.
  private static func isEncryptionInfo(_ text: String) -> Bool {
    guard let item = Base64.decodeURLSafe(text).flatMap({ try? CBORItem(parsing: $0) }),
      let parts = item.elements.map(Array.init), parts.count == 2, parts[0].isText(AnnexCChallenge.label),
      let nonce = parts[1][key: "nonce"]?.bytes, nonce.count >= Limits.shortestNonceBytes,
      let key = parts[1][key: "recipientPublicKey"]
    else { return false }
    return COSEKey.agreementKey(from: key)?.curve == .p256
  }
}

extension CBORItem {
  fileprivate func isList(_ test: (CBORItem) -> Bool) -> Bool {
    elements.map(Array.init).map { !$0.isEmpty && $0.allSatisfy(test) } ?? false
  }
}
