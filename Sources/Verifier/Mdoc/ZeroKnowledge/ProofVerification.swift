import Base
import CBOR
import Cryptography
import Longfellow
import PKIX

/// Verifies one ZkDocument (ISO/IEC 18013-5, second edition), the proof last.
///
/// A proof shows four facts. A trusted signer signed a mobile security object. The object was valid at the proof's
/// time. Its device signed this session's transcript. The object contains the elements. The proof does not show the
/// elements' namespace, nor the object's docType, status or digest ids. The report lists these as not run.
struct ProofVerification {
  let item: CBORItem
  let transcript: SessionTranscript
  let request: PresentationRequest?
  /// The index of the requested document that the proof satisfies; nil if it satisfies none.
  let requestIndex: Int?
  let verifier: MdocVerifier
  let now: Timestamp

  /// - Parameter mayProve: false if the response is already rejected, since a proof takes a quarter of a second.
  func run(mayProve: Bool) -> AuthenticatedDocument {
    var checks = CheckList()
    do throws(MdocParseError) {
      let document = try ZkDocument(parsing: item)
      checks.passed(.zkDocumentMalformed)
      checks.passed(.zkTimestampMalformed)
      return verify(document, mayProve: mayProve, &checks)
    } catch {
      checks.append([error.check])
      checks.skipRest(of: Self.codes)
      return AuthenticatedDocument(docType: ZkDocument.docType(of: item) ?? "", checks: checks)
    }
  }

  private func verify(_ document: ZkDocument, mayProve: Bool, _ checks: inout CheckList) -> AuthenticatedDocument {
    // A surplus proof is rejected as surplus, not for its type.
    let wanted = requestIndex.flatMap { request?.documents[$0] } ?? request?.document(ofType: document.docType)
    if request == nil {
      checks.notRun(.docTypeNotRequested)
    } else {
      checks.require(wanted != nil, .docTypeNotRequested, shown(document.docType))
    }
    let circuit = checkCircuit(document, wanted, &checks)
    checkElements(document, wanted, circuit, &checks)
    checkTime(document, &checks)
    let path = checkIssuer(document, &checks)
    // The document's status is hidden, so it cannot be shown to be good.
    checks.require(
      verifier.revocation != .requireGood, .zkStatusNotProvable, "the policy is \(verifier.revocation.rawValue)")
    for code in Self.notShown { checks.notRun(code, "a zero-knowledge proof hides the status") }
    if mayProve, !checks.hasFailed, let circuit, let key = path.signer?.publicKey {
      prove(document, by: circuit, issuer: key, &checks)
    }
    checks.skipRest(of: Self.codes)
    guard !checks.hasFailed, checks.outcome(of: .zkProofInvalid) == .passed, let signer = path.signer,
      let anchor = path.anchor
    else { return AuthenticatedDocument(docType: document.docType, checks: checks) }
    let content = AuthenticatedDocument.Content(
      signer: signer, anchor: anchor, validity: nil, method: .zeroKnowledge, deviceKey: nil,
      elements: document.elements.map(\.reference), items: document.elements.map(\.value), deviceSigned: [])
    let revocation =
      verifier.revocation == .off ? nil : RevocationCheck(nil, path: path.path, anchor: anchor)
    return AuthenticatedDocument(
      docType: document.docType, checks: checks, content: content, revocation: revocation)
  }

  /// The circuit must be one that this request offered.
  private func checkCircuit(
    _ document: ZkDocument, _ wanted: DocumentRequest?, _ checks: inout CheckList
  ) -> KnownCircuit? {
    checks.require(document.circuit != nil, .zkSystemUnknown, "zkSystemId is \"\(shown(document.label))\"")
    guard let circuit = document.circuit else { return nil }
    guard request == nil || wanted != nil else { return nil }
    let isOffered = request == nil || wanted?.proofs?.circuits.contains(circuit) == true
    checks.require(isOffered, .zkSystemNotOffered, "zkSystemId is \"\(shown(document.label))\"")
    return isOffered ? circuit : nil
  }

  private func checkElements(
    _ document: ZkDocument, _ wanted: DocumentRequest?, _ circuit: KnownCircuit?, _ checks: inout CheckList
  ) {
    let elements = document.elements.map(\.reference)
    checks.require(Set(elements).count == elements.count, .elementDuplicate, names(elements))
    let namespaces = Set(elements.map { UTF8Key($0.namespace) })
    if let asked = wanted?.namedElements.map(\.element) {
      let isNamespace = namespaces == Set(asked.map { UTF8Key($0.namespace) })
      checks.require(
        isNamespace, .zkNamespaceMismatch,
        "shown: \(shownList(namespaces.map(\.text))); asked: \(asked.first.map { shown($0.namespace) } ?? "none")")
      let identifiers = Set(elements.map { UTF8Key($0.identifier) })
      checks.require(
        identifiers == Set(asked.map { UTF8Key($0.identifier) }), .zkElementsMismatch,
        "shown: \(names(elements) ?? "none"); asked: \(names(asked) ?? "none")")
    } else {
      checks.require(namespaces.count == 1, .zkNamespaceMismatch, "shown: \(shownList(namespaces.map(\.text)))")
      checks.notRun(.zkElementsMismatch)
    }
    if let circuit {
      checks.require(
        elements.count == circuit.elements, .zkElementCount, "\(elements.count) elements, expected \(circuit.elements)")
    }
    let longest = circuit?.longestIdentifier ?? 32
    let unprovable = document.elements.filter {
      !$0.value.isProvable || $0.reference.identifier.utf8.count > longest
    }
    checks.require(unprovable.isEmpty, .zkElementNotProvable, names(unprovable.map(\.reference)))
    checks.require(!document.hasDeviceElements, .zkDeviceElements, "documentData.deviceSigned has elements")
  }

  /// An earlier time would accept a document that has expired since then. A later time would accept a document that is
  /// not yet valid.
  private func checkTime(_ document: ZkDocument, _ checks: inout CheckList) {
    var times: String { "timestamp is \(document.time), but the time is \(now)" }
    checks.require(
      document.time >= now - ProofPolicy.oldestSeconds, .zkTimestampStale,
      "\(times): at most \(ProofPolicy.oldestSeconds) seconds may have passed")
    let isToday = verifier.proofs?.acceptsEndOfDay == true && document.time.date == now.date
    checks.require(isToday || document.time <= now + ProofPolicy.skewSeconds, .zkTimestampInFuture, times)
  }

  private func checkIssuer(_ document: ZkDocument, _ checks: inout CheckList) -> PathEvaluation {
    let path = verifier.trust.evaluate(
      chain: document.chain, docType: document.docType, at: now, skew: verifier.clockSkew)
    checks.append(path.checks)
    if path.isTrusted, path.window?.contains(document.time) == false {
      checks.failed(.certificateExpired, "at the proof's time")
    }
    if let anchor = path.anchor {
      checks.require(
        anchor.allowsProofs, .zkIssuerNotAllowed, "\(anchor.certificate.label) is trusted for any document type")
    }
    if let signer = path.signer, let key = signer.publicKey {
      checks.require(
        key.curve == .p256, .zkIssuerKeyUnsupported, "the key of \(signer.label) is on \(key.curve.rawValue)")
    }
    return path
  }

  private func prove(
    _ document: ZkDocument, by circuit: KnownCircuit, issuer: PublicKey, _ checks: inout CheckList
  ) {
    guard let longfellow = try? verifier.proofs?.circuits.verifier(for: circuit) else {
      return checks.failed(.zkCircuitUnavailable, "version \(circuit.version), \(circuit.elements) elements")
    }
    checks.passed(.zkCircuitUnavailable)
    let statement = LongfellowStatement(
      issuerX: Array(issuer.encoded[1..<33]), issuerY: Array(issuer.encoded[33..<65]),
      documentType: document.docType, transcript: transcript.encoded,
      elements: document.elements.map { ($0.reference.identifier, Array($0.value.encoded)) },
      timestamp: document.timestamp)
    let start = ContinuousClock.now
    defer {
      verifier.didVerifyProof?(
        ProofRun(
          circuit: circuit, isProven: checks.outcome(of: .zkProofInvalid) == .passed,
          seconds: (ContinuousClock.now - start) / .seconds(1)))
    }
    do throws(LongfellowError) {
      try longfellow.verify(proof: Array(document.proof), statement: statement)
      checks.passed(.zkProofMalformed)
      checks.passed(.zkProofInvalid)
    } catch .proofInvalid(let check) {
      checks.passed(.zkProofMalformed)
      checks.failed(.zkProofInvalid, "the proof's check \"\(check)\" fails, with \(circuit.label)")
    } catch .statement {
      // Each element fits the circuit, but not all of them together.
      checks.failed(.zkElementNotProvable, names(document.elements.map(\.reference)))
    } catch {
      checks.failed(
        .zkProofMalformed, "proof has \(document.proof.count) bytes that are not a proof by \(circuit.label)")
    }
  }

  /// The standard's checks that a proof does not allow.
  private static let notShown: [Code] = [.msoDocTypeMismatch, .digestIDDuplicate, .issuerJurisdictionMismatch]

  /// Every check of one proof before revocation and acceptance, in order of execution.
  static let codes: [Code] =
    [
      .zkDocumentMalformed, .zkTimestampMalformed, .docTypeNotRequested, .zkSystemUnknown, .zkSystemNotOffered,
      .elementDuplicate, .zkNamespaceMismatch, .zkElementsMismatch, .zkElementCount, .zkElementNotProvable,
      .zkDeviceElements, .zkTimestampStale, .zkTimestampInFuture,
    ] + PathValidator.codes + [.zkIssuerNotAllowed, .zkIssuerKeyUnsupported, .zkStatusNotProvable] + notShown
    + [.zkCircuitUnavailable, .zkProofMalformed, .zkProofInvalid]
}

extension CBORItem {
  /// True if a circuit can show the value: a text, bytes, an integer, a boolean or a date, of at most 64 bytes.
  fileprivate var isProvable: Bool {
    guard encoded.count <= 64 else { return false }
    return switch kind {
    case .text, .bytes, .unsigned, .negative, .bool: true
    case .tag: tag == 1004 && encoded.count == 14 || tag == 0 && encoded.count == 22
    case .array, .map, .float, .null, .undefined: false
    }
  }
}

extension Code {
  public static let zkDocumentMalformed = Code(
    "zk.document_malformed",
    "A ZkDocument lacks a member, has one of another type, or its documentData is not inside tag 24",
    "\(edition2), ZkDocument", .wallet, passes: "The proof has the prescribed structure")
  public static let zkTimestampMalformed = Code(
    "zk.timestamp_malformed", "The proof's time is not a date and time of 20 characters in UTC with tag 0",
    "\(edition2), ZkDocumentData", .wallet, passes: "The proof's time is well-formed")
  public static let zkPlainNotAccepted = Code(
    "zk.plain_not_accepted", "A plain document was returned where a proof was required, or beside a proof",
    "\(edition2), ZkRequest: zkRequired",
    "Request with `\"zk\": \"allowed\"` to accept plain documents; otherwise the person needs a wallet that makes "
      + "proofs.",
    passes: "A proof was returned where one was required")
  public static let zkSystemUnknown = Code(
    "zk.system_unknown", "The proof's circuit is unknown or unsound",
    "\(edition2), ZkSystemSpec; longfellow-libzk-v1, versions 6 and 7", .wallet,
    passes: "The proof's circuit is known")
  public static let zkSystemNotOffered = Code(
    "zk.system_not_offered", "The request did not offer the proof's circuit", "\(edition2), ZkRequest",
    .forged, passes: "The proof uses an offered circuit")
  public static let zkNamespaceMismatch = Code(
    "zk.namespace_mismatch", "The proof's elements are in several namespaces, or not in the requested one",
    "\(edition2), ZkDocumentData", .forged, passes: "The elements are of the requested namespace")
  public static let zkElementsMismatch = Code(
    "zk.elements_mismatch", "The proof does not show exactly the requested elements",
    "\(edition2), ZkDocumentData", .wallet, passes: "The proof shows the requested elements")
  public static let zkElementCount = Code(
    "zk.element_count", "The proof shows more or fewer elements than its circuit proves",
    "longfellow-libzk-v1: num_attributes", .forged, passes: "The proof shows as many elements as its circuit proves")
  public static let zkElementNotProvable = Code(
    "zk.element_not_provable", "No circuit can prove the kind or size of an element's value or identifier",
    "longfellow-libzk-v1, public inputs", .wallet, passes: "Every shown element can be proven")
  public static let zkDeviceElements = Code(
    "zk.device_elements", "Device-signed elements accompany the proof, but the proof does not cover them",
    "\(edition2), ZkDocumentData", .forged, passes: "No device-signed element accompanies the proof")
  public static let zkTimestampStale = Code(
    "zk.timestamp_stale", "The proof's time is too long ago",
    "\(edition2), ZkDocumentData: timestamp",
    "Request again: a proof is valid for five minutes. If that fails too, compare the clocks of both sides.",
    passes: "The proof is recent")
  public static let zkTimestampInFuture = Code(
    "zk.timestamp_in_future", "The proof's time is in the future",
    "\(edition2), ZkDocumentData: timestamp",
    "Compare the clocks of device and server; for wallets that stamp the end of the day, allow `zk_end_of_day`.",
    passes: "The proof's time is not in the future")
  public static let zkIssuerNotAllowed = Code(
    "zk.issuer_not_allowed", "The issuer is trusted, but not with proofs",
    "longfellow-libzk-v1: the document's own type is not shown",
    "If the anchor issues only documents of this type, name its document types, or set `zk` in its settings.",
    passes: "The issuer is trusted with proofs")
  public static let zkIssuerKeyUnsupported = Code(
    "zk.issuer_key_unsupported", "The document signer's key is not on P-256", "longfellow-libzk-v1, signature circuit",
    .issuer, passes: "The signer's key can be used in proofs")
  public static let zkStatusNotProvable = Code(
    "zk.status_not_provable", "The policy requires a good status of the document, which a proof hides",
    "longfellow-libzk-v1: the status is not shown",
    "Ask for a plain document, or allow an undetermined status for this relying party.",
    passes: "The policy does not require the document's status")
  public static let zkCircuitUnavailable = Code(
    "zk.circuit_unavailable", "The proof's circuit is not available, or its file is damaged",
    "longfellow-libzk-v1, circuits",
    "Import the circuits with `mdoc circuits import`, and check them with `mdoc circuits check`.",
    passes: "The proof's circuit is available")
  public static let zkProofMalformed = Code(
    "zk.proof_malformed", "The bytes are not one proof of this circuit and statement",
    "longfellow-libzk-v1, proof encoding", .forged, passes: "The proof's bytes are well-formed")
  public static let zkProofInvalid = Code(
    "zk.proof_invalid", "The proof does not prove the response's statement in this session",
    "longfellow-libzk-v1; draft-google-cfrg-libzk", .forged, passes: "The zero-knowledge proof is valid",
    cases: "Z48 Z49")
}

extension CodeGroup {
  public static let proof = CodeGroup(
    "Zero-knowledge proofs",
    [
      .zkDocumentMalformed, .zkTimestampMalformed, .zkPlainNotAccepted, .zkSystemUnknown, .zkSystemNotOffered,
      .zkNamespaceMismatch, .zkElementsMismatch, .zkElementCount, .zkElementNotProvable, .zkDeviceElements,
      .zkTimestampStale, .zkTimestampInFuture, .zkIssuerNotAllowed, .zkIssuerKeyUnsupported, .zkStatusNotProvable,
      .zkCircuitUnavailable, .zkProofMalformed, .zkProofInvalid,
    ])
}
