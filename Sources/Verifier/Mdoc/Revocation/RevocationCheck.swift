import Base
import PKIX

/// Checks whether the document and its signer are still good (ISO/IEC 18013-5:2021, 9.3.3; second edition, 12.3.6). It
/// has the questions, and the result of their answers under the relying party's policy.
struct RevocationCheck: Sendable {
  let questions: [RevocationQuestion]
  /// Declarations of the document that can't be asked about, each with the reason.
  private let unusable: [(uncertainty: RevocationUncertainty, detail: String)]
  /// Whether a proof hides what the document declares. Then no status is asked, and none can be good.
  private let hidesStatus: Bool

  init(mso: MobileSecurityObject, path: [Certificate], anchor: TrustAnchor) {
    self.init(declarations: mso.status.declarations, hidesStatus: false, path: path, anchor: anchor)
  }

  /// The check of a proof's signer.
  init(hiddenStatusBelow path: [Certificate], anchor: TrustAnchor) {
    self.init(declarations: [], hidesStatus: true, path: path, anchor: anchor)
  }

  private init(
    declarations: [DeclaredStatus.Declaration], hidesStatus: Bool, path: [Certificate], anchor: TrustAnchor
  ) {
    self.hidesStatus = hidesStatus
    var questions: [RevocationQuestion] = []
    // A certificate without a distribution point declares nothing. The anchor's own distribution point is not used: the
    // certificate below the anchor names the list that the anchor issues.
    let declares = path.dropLast().contains { $0.extensions.crlDistributionPoints != nil }
    if declares {
      questions.append(
        RevocationQuestion(
          .certificates, path: path, allowsPlainHTTP: anchor.allowsPlainHTTP, crlAddresses: anchor.crlAddresses))
    }
    var unusable: [(RevocationUncertainty, String)] = []
    // A signer that is itself the anchor may still name its issuer's list. That issuer is not known here, so its list
    // can't be verified: a status is declared, and undetermined.
    if path.count == 1, path[0].extensions.crlDistributionPoints != nil {
      unusable.append((.crlInvalid, "the signer is trusted by itself: its issuer's list can't be verified"))
    }
    for declaration in declarations {
      switch declaration {
      case .reference(let reference):
        questions.append(
          RevocationQuestion(
            .status(reference), path: path, allowsPlainHTTP: anchor.allowsPlainHTTP,
            statusSigners: anchor.statusSigners, allowsJWT: anchor.allowsJWTStatusLists))
      case .unusable(let uncertainty, let detail): unusable.append((uncertainty, detail))
      }
    }
    self.questions = questions
    self.unusable = unusable
  }

  func run(
    evidence: RevocationEvidence, policy: RevocationPolicy, into checks: inout CheckList
  ) -> RevocationStatus {
    var status = questions.isEmpty ? RevocationStatus.notDeclared : .good
    var hasGood = false
    func undetermined(_ uncertainty: RevocationUncertainty, _ detail: String) {
      status = .undetermined
      if policy == .allowUndetermined {
        checks.warned(uncertainty.code, detail)
      } else {
        checks.failed(uncertainty.code, detail)
      }
    }
    for question in questions {
      switch evidence.finding(for: question) {
      case .good:
        for code in question.subject.codes { checks.passed(code) }
        hasGood = true
      case .revoked(let code, let detail):
        checks.failed(code.code, [question.subject.name, detail].compactMap { $0 }.joined(separator: ": "))
      case .undetermined(let uncertainty, let detail):
        undetermined(uncertainty, [question.subject.name, detail].compactMap { $0 }.joined(separator: ": "))
      }
    }
    for declared in unusable { undetermined(declared.uncertainty, declared.detail) }
    if hidesStatus {
      status = .undetermined
      for code in RevocationQuestion.Subject.statusCodes { checks.notRun(code, "a proof does not show it") }
    }
    if hasGood {
      for code in Self.sharedCodes where checks.outcome(of: code) == nil { checks.passed(code) }
    }
    checks.skipRest(of: Self.codes)
    return status
  }

  /// Every check of this stage, in the order in which they are made.
  static let codes = RevocationQuestion.Subject.certificateCodes + RevocationQuestion.Subject.statusCodes + sharedCodes

  private static let sharedCodes: [Code] = [
    .revocationSourceNotAllowed, .revocationListTooLarge, .revocationUnavailable,
  ]
}

extension RevocationQuestion.Subject {
  fileprivate static let certificateCodes: [Code] = [.signerRevoked, .authorityRevoked, .crlInvalid]
  fileprivate static let statusCodes: [Code] = [
    .documentRevoked, .documentSuspended, .statusUnknown, .statusListInvalid, .statusIndexOutOfRange,
    .revocationMechanismUnsupported,
  ]

  fileprivate var codes: [Code] {
    switch self {
    case .certificates: Self.certificateCodes
    case .status: Self.statusCodes
    }
  }

  fileprivate var name: String {
    switch self {
    case .certificates: "certificate revocation list"
    case .status(let reference):
      switch reference.place {
      case .statusList: "status list"
      case .identifierList: "identifier list"
      }
    }
  }
}

extension RevocationFinding {
  /// Nil if it is good.
  public var code: Code? {
    switch self {
    case .good: nil
    case .revoked(let code, _): code.code
    case .undetermined(let uncertainty, _): uncertainty.code
    }
  }
}

extension RevocationCode {
  fileprivate var code: Code {
    switch self {
    case .signerRevoked: .signerRevoked
    case .authorityRevoked: .authorityRevoked
    case .documentRevoked: .documentRevoked
    case .documentSuspended: .documentSuspended
    }
  }
}

extension RevocationUncertainty {
  public var code: Code {
    switch self {
    case .crlInvalid: .crlInvalid
    case .statusUnknown: .statusUnknown
    case .statusListInvalid: .statusListInvalid
    case .statusIndexOutOfRange: .statusIndexOutOfRange
    case .mechanismUnsupported: .revocationMechanismUnsupported
    case .sourceNotAllowed: .revocationSourceNotAllowed
    case .listTooLarge: .revocationListTooLarge
    case .unavailable: .revocationUnavailable
    }
  }
}
