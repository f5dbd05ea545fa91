import Base
import CBOR
import COSE
import Mdoc

extension RequestRules {
  /// Checks `dcql_query` (OpenID4VP 1.0, 6).
  mutating func checkQuery() {
    guard let query = claims["dcql_query"] else { return }
    guard let credentials = query["credentials"].nonEmptyArray, credentials.allSatisfy({ $0.object != nil }) else {
      return checks.failed(.requestQueryMalformed, "credentials is not an array of objects")
    }
    expectKnown(["credentials", "credential_sets"], in: query, "dcql_query")
    requireIDs(of: credentials, "credentials")
    for credential in credentials { checkCredential(credential) }
    let ids = credentials.compactMap { $0["id"]?.string }
    if let sets = query["credential_sets"] {
      let areRight = sets.nonEmptyArray?.allSatisfy {
        $0["options"]?.names?.allSatisfy(ids.contains) ?? false && $0["required"].isFlag
      }
      checks.require(areRight ?? false, .requestQuerySets, "credential_sets")
      for set in sets.array ?? [] { expectKnown(["options", "required"], in: set, "credential_sets") }
    }
    let formats = credentials.compactMap { $0["format"]?.string }
    checks.require(
      formats.isEmpty || credentials.contains(where: \.isMdoc), .requestFormatUnsupported,
      "the formats are \(shownList(formats))")
  }

  private mutating func requireIDs(of list: [JSON], _ name: String) {
    let ids = list.compactMap { $0["id"]?.string }
    let areWritten = ids.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy((Self.letters + "-_".utf8).contains) }
    checks.require(
      ids.count == list.count && areWritten && Set(ids).count == ids.count, .requestQueryID,
      "in \(name), an id is missing, malformed or a duplicate")
  }

  private mutating func checkCredential(_ credential: JSON) {
    expectKnown(
      [
        "id", "format", "multiple", "meta", "trusted_authorities", "require_cryptographic_holder_binding", "claims",
        "claim_sets",
      ], in: credential, "credentials")
    let isMdoc = credential.isMdoc
    let meta = credential["meta"]
    if isMdoc { expectKnown(["doctype_value", "zk_system_type"], in: meta ?? .null, "meta") }
    let areAuthorities = credential["trusted_authorities"].map { list in
      list.nonEmptyArray?.allSatisfy { authority in
        ["aki", "etsi_tl", "openid_federation"].contains(authority["type"]?.string)
          && authority["values"].nonEmptyArray?.allSatisfy { $0.string != nil } ?? false
      } ?? false
    }
    let areFlags = credential["multiple"].isFlag && credential["require_cryptographic_holder_binding"].isFlag
    checks.require(credential["format"]?.string != nil && areFlags, .requestQueryMalformed, "format, or a flag")
    checks.require(areAuthorities ?? true, .requestQueryMalformed, "trusted_authorities")
    checks.require(
      isMdoc ? meta?["doctype_value"]?.string?.isEmpty == false : meta?.object != nil, .requestQueryMalformed,
      isMdoc ? "doctype_value is missing in meta" : "meta is missing")
    checkClaims(of: credential)
  }

  private mutating func checkClaims(of credential: JSON) {
    let list = credential["claims"].nonEmptyArray ?? []
    let isMdoc = credential.isMdoc
    let areRight = list.allSatisfy { claim in
      let path = claim["path"].nonEmptyArray ?? [.bool(false)]
      return (isMdoc ? path.count == 2 : true)
        && path.allSatisfy { $0.string != nil || !isMdoc && ($0.isNull || $0.integer ?? -1 >= 0) }
        && claim["intent_to_retain"].isFlag && (claim["values"] == nil || claim["values"].nonEmptyArray != nil)
    }
    let areUnique = Set(list.map { $0["path"] }).count == list.count
    checks.require(areRight && areUnique && (credential["claims"] == nil || !list.isEmpty), .requestQueryClaims)
    for claim in list { expectKnown(["id", "path", "values", "intent_to_retain"], in: claim, "claims") }
    guard let sets = credential["claim_sets"] else {
      return requireIDs(of: list.filter { $0["id"] != nil }, "claims")
    }
    requireIDs(of: list, "claims")
    let ids = list.compactMap { $0["id"]?.string }
    guard ids.count == list.count else { return }
    let named = sets.names ?? []
    let areNamed = !named.isEmpty && named.allSatisfy(ids.contains)
    checks.require(areNamed, .requestQuerySets, "claim_sets")
    let unused = ids.filter { !named.contains($0) }
    checks.expect(
      !areNamed || unused.isEmpty, .requestParameterUnknown, "in no claim set: \(shownList(unused))")
  }

  /// Checks `presentation_definition` (ISO/IEC TS 18013-7:2024, B.4.2).
  mutating func checkPresentationDefinition() {
    let definition = claims["presentation_definition"]
    let descriptors = definition?["input_descriptors"].nonEmptyArray
    let areRight = descriptors?.allSatisfy { descriptor in
      descriptor["id"]?.string != nil && descriptor["format"]?["mso_mdoc"]?.object != nil
        && descriptor["constraints"]?["limit_disclosure"] == "required"
        && descriptor["constraints"]?["fields"].nonEmptyArray?.allSatisfy { field in
          field["path"].nonEmptyArray?.allSatisfy { $0.string?.hasPrefix("$[") ?? false } ?? false
            && field["intent_to_retain"]?.bool != nil
        } ?? false
    }
    checks.require(definition?["id"]?.string != nil && areRight ?? false, .requestDefinitionMalformed)
  }
}

extension JSON {
  fileprivate var isMdoc: Bool { ["mso_mdoc", "mso_mdoc_zk"].contains(self["format"]?.string) }

  var nonEmptyArray: [JSON]? { array.flatMap { $0.isEmpty ? nil : $0 } }

  /// The names in a non-empty array of non-empty arrays of strings; nil for any other value.
  fileprivate var names: [String]? {
    let sets = nonEmptyArray?.map { $0.nonEmptyArray ?? [.null] }.flatMap { $0 }
    let texts = sets?.compactMap(\.string)
    return texts?.count == sets?.count ? texts : nil
  }
}

extension JSON? {
  var nonEmptyArray: [JSON]? { flatMap(\.nonEmptyArray) }
  fileprivate var isFlag: Bool { self == nil || self?.bool != nil }
}

// MARK: DeviceRequest

extension CheckList {
  /// Checks a DeviceRequest, and how it came.
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
    for (index, document) in request.documents.enumerated() {
      let items = (try? CBORItem(parsing: document.itemsRequest))?.embedded
      require(
        items?[key: "docType"]?.text?.isEmpty == false && areRequested(items), .requestItems, "docRequests[\(index)]")
    }
    let isSecondEdition = request.info != nil || !request.readerAuthAll.isEmpty
    let version = (try? CBORItem(parsing: bytes))?[key: "version"]?.text
    expect(version == (isSecondEdition ? "1.1" : "1.0"), .requestVersion)
  }

  private func areRequested(_ items: CBORItem?) -> Bool {
    guard let namespaces = items?[key: "nameSpaces"]?.entries, namespaces.contains(where: { _ in true }) else {
      return false
    }
    return namespaces.allSatisfy { name, elements in
      name.text != nil && elements.entries?.allSatisfy { $0.key.text != nil && $0.value.bool != nil } ?? false
    }
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
