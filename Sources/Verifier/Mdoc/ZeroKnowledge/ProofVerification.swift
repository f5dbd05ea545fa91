import Base
import CBOR
import Cryptography
import Longfellow
import PKIX

/// Verifies one ZkDocument (ISO/IEC 18013-5, second edition): all that stands around the proof first, the proof last.
///
/// A proof shows that a trusted signer signed a mobile security object, that it was valid at the proof's time, that its
/// device signed this session's transcript, and that the elements are in it. It does not show the elements' namespace,
/// the object's own docType, its status, or its digest ids. The report notes what is not shown as not run.
struct ProofVerification {
  let item: CBORItem
  let transcript: SessionTranscript
  let request: PresentationRequest?
  /// The index of the document in the request that the proof answers; nil if there is none.
  let requestIndex: Int?
  let verifier: MdocVerifier
  let now: Timestamp

  /// - Parameter mayProve: false if the answer is refused already. A proof costs a quarter of a second, and is then not
  /// verified.
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
    // A proof too many is refused for that, and not for its type.
    let wanted =
      requestIndex.flatMap { request?.documents[$0] }
      ?? request?.documents.first { $0.docType.hasSameBytes(as: document.docType) }
    if request == nil {
      checks.notRun(.docTypeNotRequested)
    } else {
      checks.require(wanted != nil, .docTypeNotRequested, shown(document.docType))
    }
    let circuit = checkCircuit(document, wanted, &checks)
    checkElements(document, wanted, circuit, &checks)
    checkTime(document, &checks)
    let path = checkIssuer(document, &checks)
    // Whether the document has a status is hidden, so a status that must be good cannot be shown to be.
    checks.require(
      verifier.revocation != .requireGood, .zkStatusNotProvable, "the policy is \(verifier.revocation.rawValue)")
    for code in Self.notShown { checks.notRun(code, "a proof does not show it") }
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
      verifier.revocation == .off ? nil : RevocationCheck(hiddenStatusBelow: path.path, anchor: anchor)
    return AuthenticatedDocument(
      docType: document.docType, checks: checks, content: content, revocation: revocation)
  }

  // MARK: Around the proof

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
        elements.count == circuit.elements, .zkElementCount, "\(elements.count), the circuit's is \(circuit.elements)")
    }
    let unprovable = document.elements.filter { !$0.value.isProvable || !$0.reference.isProvable(by: circuit) }
    checks.require(unprovable.isEmpty, .zkElementNotProvable, names(unprovable.map(\.reference)))
    checks.require(!document.hasDeviceElements, .zkDeviceElements, "documentData.deviceSigned has elements")
  }

  /// A time in the past would let a document through that has expired since; one in the future, a document that is not
  /// valid yet.
  private func checkTime(_ document: ZkDocument, _ checks: inout CheckList) {
    var times: String { "timestamp is \(document.time), and it is \(now)" }
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

  // MARK: The proof

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
      // The circuit has no room for what passed the checks of single elements.
      checks.failed(.zkElementNotProvable, names(document.elements.map(\.reference)))
    } catch {
      checks.failed(.zkProofMalformed, "proof has \(document.proof.count) bytes that are none of \(circuit.label)")
    }
  }

  /// What the standard has checked of a document, and no proof shows.
  private static let notShown: [Code] = [.msoDocTypeMismatch, .digestIDDuplicate, .issuerJurisdictionMismatch]

  /// Every check of one proof before revocation and acceptance, in the order in which they are made.
  static let codes: [Code] =
    [
      .zkDocumentMalformed, .zkTimestampMalformed, .docTypeNotRequested, .zkSystemUnknown, .zkSystemNotOffered,
      .elementDuplicate, .zkNamespaceMismatch, .zkElementsMismatch, .zkElementCount, .zkElementNotProvable,
      .zkDeviceElements, .zkTimestampStale, .zkTimestampInFuture,
    ] + PathValidator.codes + [.zkIssuerNotAllowed, .zkIssuerKeyUnsupported, .zkStatusNotProvable] + notShown
    + [.zkCircuitUnavailable, .zkProofMalformed, .zkProofInvalid]
}

extension CBORItem {
  /// Whether a circuit can show the value: a text, bytes, an integer, a boolean, or a date, of at most 64 bytes.
  fileprivate var isProvable: Bool {
    guard encoded.count <= 64 else { return false }
    return switch kind {
    case .text, .bytes, .unsigned, .negative, .bool: true
    case .tag: tag == 1004 && encoded.count == 14 || tag == 0 && encoded.count == 22
    case .array, .map, .float, .null, .undefined: false
    }
  }
}

extension ElementReference {
  /// Whether the circuit has room for the identifier.
  fileprivate func isProvable(by circuit: KnownCircuit?) -> Bool {
    identifier.utf8.count <= circuit?.longestIdentifier ?? 32
  }
}
