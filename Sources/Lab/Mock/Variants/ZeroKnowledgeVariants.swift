import Base
import CBOR
import Cryptography
import Longfellow
import LongfellowProver

/// Answers with a zero-knowledge proof, right or wrong in one thing (longfellow-libzk-v1). Their rows are those of the
/// list of proofs, Z01 to Z71.
extension MockVariant {
  private static func zk(
    _ name: String, _ summary: String, _ cases: String, _ codes: [Code], request: MockRequest = .proofOfAge,
    _ mutation: MockMutation
  ) -> MockVariant {
    MockVariant(
      "zk-" + name, summary, cases: cases, codes: codes, applicability: .zeroKnowledge, request: request, mutation)
  }

  private static func requireTwo(_ elements: [MapDraft]) throws {
    guard elements.count > 1 else { throw MockError.nothingToChange("one element is proven, and it takes two") }
  }

  /// Right answers that are unusual.
  @MockVariantList static var proofControls: [MockVariant] {
    zk(
      "unknown-members", "ZkDocument and ZkDocumentData have members that no standard names.", "Z71", [],
      .zkDocument { draft in
        draft.data["org.example.future"] = [1, "a"]
        draft.finish = { $0["org.example.future"] = .null }
      })
    zk(
      "without-device-signed", "ZkDocumentData has no deviceSigned.", "Z71", [],
      .zkDocument { $0.data["deviceSigned"] = nil })
    zk(
      "named-by-hash", "The system is named by the circuit's hash, as Google Wallet does.", "Z71", [],
      .zkDocument { $0.data["zkSystemId"] = .text($0.circuit.hash) })
    zk(
      "chain-array", "The chain of one certificate is an array.", "Z71", [],
      .zkDocument { $0.data["msoX5chain"] = .array([$0.data["msoX5chain"] ?? .null]) })
  }

  /// A proven "no".
  @MockVariantList static var proofDenials: [MockVariant] {
    zk(
      "age-denied", "It is proven that the holder of 20 years is not 21.", "Z37", [],
      request: MockRequest(documents: [.proven(elements: [], ageOver: [21])]),
      .setup { setup in
        setup.data[setup.mainNamespace, "birth_date"] = .fullDate(setup.now.date.shifted(years: -20))
        setup.data.ageThresholds = [21]
      })
  }

  /// The proof's bytes.
  @MockVariantList static var proofBytes: [MockVariant] {
    flipped("tag-bit", "A bit of a tag", "Z01") { _ in 3 }
    flipped("hash-root", "A bit of the root of the hashes' circuit", "Z02") { $0.hash.root }
    flipped("signature-root", "A bit of the root of the signatures' circuit", "Z02") { $0.signature.root }
    flipped("hash-sumcheck", "A bit of the sumcheck of the hashes' circuit", "Z03") { $0.hash.sumcheck }
    flipped("signature-sumcheck", "A bit of the sumcheck of the signatures' circuit", "Z03") { $0.signature.sumcheck }
    flipped("hash-low-degree", "A bit of the low-degree answer of the hashes' circuit", "Z04") { $0.hash.lowDegree }
    flipped("signature-low-degree", "A bit of the low-degree answer of the signatures' circuit", "Z04") {
      $0.signature.lowDegree
    }
    flipped("dot", "A bit of the answer to the linear test", "Z05") { $0.hash.dot }
    flipped("quadratic-start", "A bit of the first part of the quadratic answer", "Z06") { $0.hash.quadraticStart }
    flipped("quadratic-end", "A bit of the last part of the quadratic answer", "Z06") { $0.signature.quadraticEnd }
    flipped("nonce", "A bit of a column's nonce", "Z07") { $0.hash.nonces }
    flipped("column", "A bit of an opened element of the whole field", "Z08") { $0.hash.columns + 4 }
    flipped("column-subfield", "A bit of an opened element of the subfield", "Z08") { $0.hash.digests - 1 }
    flipped("digest", "A bit of a digest of the Merkle tree", "Z09") { $0.hash.digests + 4 }
    proof("digests-exchanged", "Two digests of the Merkle tree are exchanged.", "Z10", [.zkProofInvalid]) {
      for offset in ($0.hash.digests + 4)..<($0.hash.digests + 36) { $0.proof.swapAt(offset, offset + 32) }
    }
    proof("digest-missing", "A digest is missing, and the count says so.", "Z11", [.zkProofInvalid]) {
      $0.proof.removeSubrange(($0.hash.end - 32)..<$0.hash.end)
      $0.addToCount(-1, at: $0.hash.digests)
    }
    proof("digest-too-many", "There is a digest too many, and the count says so.", "Z12", [.zkProofInvalid]) {
      $0.proof.insert(contentsOf: $0.proof[($0.hash.end - 32)..<$0.hash.end], at: $0.hash.end)
      $0.addToCount(1, at: $0.hash.digests)
    }
    proof("digests-none", "The count of digests is 0.", "Z13") { $0.setCount(0, at: $0.hash.digests) }
    proof("digests-countless", "The count of digests is 4294967295.", "Z13") {
      $0.setCount(UInt32.max, at: $0.signature.digests)
    }
    proof("proof-empty", "The proof is empty.", "Z14") { $0.proof = [] }
    proof("proof-tags-only", "The proof ends after the tags.", "Z14") { $0.proof = Array($0.proof.prefix(96)) }
    proof("proof-half", "The proof ends in its middle.", "Z14") {
      $0.proof = Array($0.proof.prefix($0.proof.count / 2))
    }
    proof("proof-cut", "The proof lacks its last byte.", "Z14") { $0.proof.removeLast() }
    proof("proof-cut-at-part", "The proof ends where the signatures' circuit would begin.", "Z15") {
      $0.proof = Array($0.proof.prefix($0.signature.root))
    }
    proof("proof-cut-before-columns", "The proof ends a byte before the opened columns.", "Z15") {
      $0.proof = Array($0.proof.prefix($0.hash.columns - 1))
    }
    proof("proof-longer", "A byte follows the proof.", "Z16") { $0.proof.append(0) }
    proof("number-too-large", "A number is 2^256 − 1, which is no element of the field.", "Z17") {
      $0.replace(at: $0.signature.sumcheck, by: [UInt8](repeating: 0xff, count: 32))
    }
    proof("number-is-p", "A number is the field's prime, another way to write zero.", "Z17") {
      $0.replace(at: $0.signature.lowDegree, by: Self.prime)
    }
    proof("run-too-long", "A run is longer than what is left.", "Z18") { $0.setCount(1 << 24, at: $0.hash.columns) }
    proof("run-countless", "A run has 4294967295 elements.", "Z18") {
      $0.setCount(UInt32.max, at: $0.signature.columns)
    }
    proof("runs-empty", "A hundred and thirty thousand empty runs stand before the columns.", "Z19") {
      $0.proof.insert(contentsOf: [UInt8](repeating: 0, count: 520_000), at: $0.hash.columns)
    }
    proof("proof-zeros", "All bytes of the proof are zero.", "Z20") {
      $0.proof = [UInt8](repeating: 0, count: $0.proof.count)
    }
    zk(
      "other-version", "The proof is of another version than the label.", "Z22", [.zkProofMalformed],
      .zkDocument { draft in
        let circuit = draft.circuit
        guard let other = KnownCircuit.all.first(where: { $0.elements == circuit.elements && $0 != circuit }) else {
          return
        }
        draft.data["zkSystemId"] = .text(other.label)
      })
  }

  /// What is shown, and when.
  @MockVariantList static var proofStatements: [MockVariant] {
    system(
      "other-circuit", "The label is that of a circuit for two elements, which was not offered.", "Z25",
      .zkSystemNotOffered
    ) {
      $0.data["zkSystemId"] = .text(KnownCircuit.all.first { $0.elements == 2 }?.label ?? "")
    }
    system("system-empty", "The label is empty.", "Z24", .zkSystemUnknown) { $0.data["zkSystemId"] = "" }
    system("system-upper-case", "The label's hash is in upper case.", "Z24", .zkSystemUnknown) {
      $0.data["zkSystemId"] = .text($0.circuit.hash.uppercased())
    }
    system("system-version-5", "The label is that of a circuit of version 5.", "Z26", .zkSystemUnknown) {
      $0.data["zkSystemId"] = .text("\(KnownCircuit.system)_5_1_4096_2945_\($0.circuit.hash)")
    }
    value("value-denied", "What is shown is the contrary of what was proven.", "Z28") { _ in false }
    value("value-number", "A true is shown as 1.", "Z28") { _ in 1 }
    zk(
      "values-exchanged", "The values of two elements are exchanged.", "Z30", [.zkProofInvalid], request: .proofOfNames,
      .zkDocument { draft in
        try draft.changeElements { elements in
          try requireTwo(elements)
          let first = elements[0]["elementValue"]
          elements[0]["elementValue"] = elements[1]["elementValue"]
          elements[1]["elementValue"] = first
        }
      })
    zk(
      "elements-exchanged", "Two elements stand in another order than was proven.", "Z30", [.zkProofInvalid],
      request: .proofOfNames,
      .zkDocument { draft in
        try draft.changeElements { elements in
          try requireTwo(elements)
          elements.reverse()
        }
      })
    zk(
      "value-long-form", "A value's head is longer than the issuer's.", "Z36", [.zkProofInvalid],
      request: .proofOfNames,
      .zkDocument { draft in
        draft.changeElements { elements in
          guard case .encoded(let bytes)? = elements[0]["elementValue"], let head = bytes.first else { return }
          elements[0]["elementValue"] = .encoded([head & 0xe0 | 24, head & 0x1f] + bytes.dropFirst())
        }
      })
    zk(
      "element-other", "Another element is shown than was asked for.", "Z29 Z31", [.zkElementsMismatch],
      .zkDocument { $0.changeElements { $0[0]["elementIdentifier"] = "age_over_21" } })
    zk(
      "element-more", "An element is shown that was not asked for.", "Z31 Z33", [.zkElementsMismatch, .zkElementCount],
      .zkDocument { draft in
        draft.changeElements {
          $0.append(MapDraft([("elementIdentifier", "age_over_21"), ("elementValue", true)]))
        }
      })
    zk(
      "element-twice", "The element is shown twice.", "Z32", [.elementDuplicate, .zkElementCount],
      .zkDocument { $0.changeElements { $0.append($0[0]) } })
    zk(
      "elements-none", "No element is shown.", "Z33", [.zkDocumentMalformed],
      .zkDocument { $0.changeElements { $0 = [] } })
    zk(
      "namespace-other", "The element is shown in another namespace, for which the proof is just as good.", "Z34",
      [.zkNamespaceMismatch],
      .zkDocument { draft in
        var issued = MapDraft(draft.data["issuerSigned"])
        issued.entries[0].key = .text(MockNamespace.photoID)
        draft.data["issuerSigned"] = issued.value
      })
    unprovable("value-too-long", "A value is longer than a circuit has room for.") { _ in
      .bytes([UInt8](repeating: 7, count: 65))
    }
    unprovable("value-array", "A value is an array.") { _ in [true] }
    unprovable("value-map", "A value is a map.") { _ in ["a": true] }
    unprovable("value-null", "A value is null.") { _ in .null }
    unprovable("value-float", "A value is a floating-point number.") { _ in .double(1.5) }
    zk(
      "device-elements", "The device adds an element, which no circuit proves.", "Z51", [.zkDeviceElements],
      .zkDocument { draft in
        draft.data["deviceSigned"] = .map([
          (
            key: .text(MockNamespace.mDL),
            value: [["elementIdentifier": "age_over_21", "elementValue": true]]
          )
        ])
      })
    zk(
      "doc-type-other", "The document type is one that was not asked for.", "Z39", [.docTypeNotRequested],
      .zkDocument { $0.data["docType"] = .text(MockDocType.photoID) })
    time("timestamp-later", "The time shown is a second later than the one proven.", "Z41", [.zkProofInvalid]) {
      .tagged(0, .text(($0.now + 1).description))
    }
    zk(
      "timestamp-old", "The proof is of an hour ago.", "Z42", [.zkTimestampStale], .init(proofTime: -3600))
    zk(
      "timestamp-future", "The proof is for the next hour.", "Z43", [.zkTimestampInFuture], .init(proofTime: 3600))
    malformedTime("timestamp-untagged", "The time has no tag.") { .text($0.now.description) }
    malformedTime("timestamp-fraction", "The time has a fraction of a second.") {
      .tagged(0, .text($0.now.description.dropLast() + ".0Z"))
    }
    malformedTime("timestamp-offset", "The time has an offset.") {
      .tagged(0, .text($0.now.description.dropLast() + "+00:00"))
    }
    malformedTime("timestamp-no-day", "The time is on 30 February.") { _ in .tagged(0, "2026-02-30T10:00:00Z") }
    malformedTime("timestamp-lower-case", "The time ends with a small z.") {
      .tagged(0, .text($0.now.description.dropLast() + "z"))
    }
    malformedTime("timestamp-leap-second", "The time has a second 60.") {
      .tagged(0, .text($0.now.description.dropLast(3) + "60Z"))
    }
    malformedTime("timestamp-full-date", "The time is a date alone.", "Z47") { .fullDate($0.now.date) }
    zk(
      "timestamp-missing", "The time is missing.", "Z46", [.zkDocumentMalformed],
      .zkDocument { $0.data["timestamp"] = nil })
  }

  /// Who signed.
  @MockVariantList static var proofIssuers: [MockVariant] {
    issuer("other-signer", "The chain is that of another signer of the same authority.", "Z52", .zkProofInvalid) {
      signer, authority, _ in
      signer.key = try authority.seed.key("zk/another-signer", on: .p256)
      signer.certificate.certify(.info(of: signer.key.publicKey))
    }
    issuer(
      "signer-p-384", "The signer's key is on P-384, whose signatures no circuit verifies.", "Z54",
      .zkIssuerKeyUnsupported
    ) { signer, authority, _ in
      signer.key = try authority.seed.key("zk/another-signer", on: .p384)
      signer.certificate.certify(.info(of: signer.key.publicKey))
    }
    issuer(
      "forged-signer", "The certificate names the trusted authority, which did not sign it.", "Z53",
      .certificateSignatureInvalid
    ) { signer, authority, _ in signer.issuerKey = try authority.seed.key("impostor", on: authority.issuerCurve) }
    issuer("signer-eku", "The signer's certificate is for mdoc readers.", "Z54", .certificateExtendedKeyUsage) {
      signer, _, _ in
      signer.certificate[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage([MockSigner.readerKeyUsage])
    }
    issuer("signer-expired", "The signer's certificate expired a day ago.", "Z54", .certificateExpired) {
      signer, _, now in
      signer.certificate.notAfter = now - Seconds.day
    }
    chain("chain-missing", "The chain is missing.", .zkDocumentMalformed) { $0.data["msoX5chain"] = nil }
    chain("chain-empty", "The chain is an empty array.", .zkDocumentMalformed) { $0.data["msoX5chain"] = [] }
    chain("chain-text", "The chain is a text.", .zkDocumentMalformed) { $0.data["msoX5chain"] = "certificate" }
    chain("chain-by-label", "The chain stands under label 33, as in a COSE header.", .zkDocumentMalformed) {
      $0.data[33] = $0.data["msoX5chain"]
      $0.data["msoX5chain"] = nil
    }
    chain("chain-outside", "The chain stands beside the data.", .zkDocumentMalformed) { draft in
      let chain = draft.data["msoX5chain"]
      draft.data["msoX5chain"] = nil
      draft.finish = { $0.entries.insert(("msoX5chain", chain ?? .null), at: 0) }
    }
    zk(
      "chain-reversed", "The chain begins with the authority.", "Z55",
      [
        .nameChaining, .certificateSignatureInvalid, .pathLengthExceeded, .certificateIsCA, .certificateKeyUsage,
        .certificateExtendedKeyUsage,
      ],
      .zkDocument { draft in
        let root = CBORValue.bytes(try draft.authority.goodRoot(at: draft.now))
        draft.data["msoX5chain"] = .array([root, draft.data["msoX5chain"] ?? .null])
      })
    zk(
      "chain-of-six", "The chain has six certificates.", "Z56", [.chainTooLong],
      .zkDocument { $0.data["msoX5chain"] = .array([CBORValue](repeating: $0.data["msoX5chain"] ?? .null, count: 6)) })
    zk(
      "certificate-too-large", "A certificate has 20 kilobytes.", "Z56", [.chainTooLong],
      .zkDocument { $0.data["msoX5chain"] = .bytes([UInt8](repeating: 0x30, count: 20_000)) })
  }

  /// The structure around the proof.
  @MockVariantList static var proofStructure: [MockVariant] {
    malformed("data-inline", "The data is a map in place of bytes.", "Z57") { draft in
      let data = draft.data.value
      draft.finish = { $0["documentData"] = data }
    }
    malformed("data-untagged", "The data's bytes have no tag 24.", "Z57") { draft in
      let data = draft.data.value.encoded()
      draft.finish = { $0["documentData"] = .bytes(data) }
    }
    malformed("data-text", "The data is a text.", "Z57") { $0.finish = { $0["documentData"] = "data" } }
    proof("data-trailing", "A byte follows the data.", "Z57", [.cborTrailingBytes]) { draft in
      let data = draft.data.value.encoded()
      draft.finish = { $0["documentData"] = .tagged(24, .bytes(data + [0])) }
    }
    malformed("data-misnamed", "The data stands under zkDocumentData.", "Z58") {
      $0.finish = { $0.entries[0].key = "zkDocumentData" }
    }
    malformed("proof-text", "The proof is a text.", "Z59") { $0.finish = { $0["proof"] = "proof" } }
    malformed("proof-missing", "There is no proof.", "Z59") { $0.finish = { $0["proof"] = nil } }
    response("twice", "The proof comes twice.", "Z60", [.documentUnexpected]) {
      $0.fields["zkDocuments"] = .array($0.proofs + $0.proofs)
    }
    response("sixteen", "There are sixteen proofs.", "Z61", [.documentUnexpected]) {
      guard var document = $0.proofs.first.map({ MapDraft($0) }) else { return }
      document["proof"] = .bytes([])
      $0.fields["zkDocuments"] = .array([CBORValue](repeating: document.value, count: 16))
    }
    response(
      "plain-too", "A plain document stands beside the proof.", "Z62", [.zkPlainNotAccepted, .documentUnexpected]
    ) {
      $0.fields["documents"] = .array([try $0.anotherDocument("plain", .none)])
    }
    response("plain-only", "A plain document stands in place of the proof.", "Z62", [.zkPlainNotAccepted]) {
      $0.fields["documents"] = .array([try $0.anotherDocument("plain", .none)])
      $0.fields["zkDocuments"] = nil
    }
    response("none", "The array of proofs is empty.", "Z64", [.documentsMissing]) { $0.fields["zkDocuments"] = [] }
    response("status", "The status is 10, beside a proof.", "Z64", [.responseStatusNotOK]) { $0.fields["status"] = 10 }
  }

  // MARK: Kinds of change

  private static func flipped(
    _ name: String, _ what: String, _ row: String, _ offset: @escaping @Sendable (ZkDocumentDraft) -> Int
  ) -> MockVariant {
    proof(name, "\(what) is another.", row, [.zkProofInvalid]) { $0.proof[offset($0)] ^= 1 }
  }

  private static func proof(
    _ name: String, _ summary: String, _ row: String, _ codes: [Code] = [.zkProofMalformed],
    _ change: @escaping MockChange<ZkDocumentDraft>
  ) -> MockVariant {
    zk(name, summary, row, codes, .zkDocument(change))
  }

  private static func system(
    _ name: String, _ summary: String, _ row: String, _ code: Code, _ change: @escaping MockChange<ZkDocumentDraft>
  ) -> MockVariant {
    zk(name, summary, row, [code], .zkDocument(change))
  }

  private static func value(
    _ name: String, _ summary: String, _ row: String, _ code: Code = .zkProofInvalid,
    _ change: @escaping @Sendable (CBORValue?) -> CBORValue
  ) -> MockVariant {
    zk(
      name, summary, row, [code],
      .zkDocument { $0.changeElements { $0[0]["elementValue"] = change($0[0]["elementValue"]) } })
  }

  private static func unprovable(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (CBORValue?) -> CBORValue
  ) -> MockVariant {
    value(name, summary, "Z35", .zkElementNotProvable, change)
  }

  private static func time(
    _ name: String, _ summary: String, _ row: String, _ codes: [Code],
    _ time: @escaping @Sendable (ZkDocumentDraft) -> CBORValue
  ) -> MockVariant {
    zk(name, summary, row, codes, .zkDocument { $0.data["timestamp"] = time($0) })
  }

  private static func malformedTime(
    _ name: String, _ summary: String, _ row: String = "Z46",
    _ time: @escaping @Sendable (ZkDocumentDraft) -> CBORValue
  ) -> MockVariant {
    Self.time(name, summary, row, [.zkTimestampMalformed], time)
  }

  /// The proof is right; another certificate stands beside it.
  private static func issuer(
    _ name: String, _ summary: String, _ row: String, _ code: Code,
    _ change: @escaping @Sendable (inout MockSigner, MockAuthority, Timestamp) throws -> Void
  ) -> MockVariant {
    zk(
      name, summary, row, [code],
      .zkDocument { draft in
        let issuer = try draft.authority.certificateIssuer(.good)
        var signer = try MockSigner(authority: draft.authority, under: issuer, at: draft.now)
        signer.nameList(at: draft.authority.addresses.crl(of: AnchorKind.good.rawValue))
        try change(&signer, draft.authority, draft.now)
        draft.data["msoX5chain"] = try signer.x5chain()
      })
  }

  private static func chain(
    _ name: String, _ summary: String, _ code: Code, _ change: @escaping MockChange<ZkDocumentDraft>
  ) -> MockVariant {
    zk(name, summary, "Z55", [code], .zkDocument(change))
  }

  private static func malformed(
    _ name: String, _ summary: String, _ row: String, _ change: @escaping MockChange<ZkDocumentDraft>
  ) -> MockVariant {
    zk(name, summary, row, [.zkDocumentMalformed], .zkDocument(change))
  }

  private static func response(
    _ name: String, _ summary: String, _ row: String, _ codes: [Code],
    _ change: @escaping MockChange<ResponseDraft>
  ) -> MockVariant {
    var mutation = MockMutation.response(change)
    mutation.zkDocument = { _ in }
    return zk(name, summary, row, codes, mutation)
  }

  /// The prime of P-256's coordinates, lowest byte first.
  private static let prime: [UInt8] =
    [UInt8](repeating: 0xff, count: 12) + [UInt8](repeating: 0, count: 12) + [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]
}

extension ZkDocumentDraft {
  fileprivate mutating func replace(at offset: Int, by bytes: [UInt8]) {
    proof.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
  }

  fileprivate mutating func setCount(_ count: UInt32, at offset: Int) {
    replace(at: offset, by: stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: count >> $0) })
  }

  fileprivate mutating func addToCount(_ number: Int, at offset: Int) {
    let count = (0..<4).reduce(0) { $0 | Int(proof[offset + $1]) << (8 * $1) }
    setCount(UInt32(count + number), at: offset)
  }
}

extension ResponseDraft {
  fileprivate var proofs: [CBORValue] {
    if case .array(let proofs)? = fields["zkDocuments"] { proofs } else { [] }
  }
}
