import Base

/// Why a case exists: a name for the mistake, and what the mistake is good for in an attacker's hands.
package struct VectorFlag: Sendable, Hashable {
  package var name: String
  package var bugClass: BugClass

  package init(_ name: String, _ bugClass: BugClass) {
    self.name = name
    self.bugClass = bugClass
  }
}

/// What follows for the relying party where a verifier gets a case wrong.
package enum BugClass: String, Sendable, Hashable, CaseIterable {
  case authenticationBypass = "authentication_bypass"
  case forgery
  case issuerImpersonation = "issuer_impersonation"
  case replay
  case disclosure
  case denialOfService = "denial_of_service"
  case parserDifferential = "parser_differential"
  case staleData = "stale_data"
  case policyBypass = "policy_bypass"
  case requestForgery = "request_forgery"
  case interoperability

  /// One sentence for an auditor.
  package var consequence: String {
    switch self {
    case .authenticationBypass: "Someone who does not hold the document's device passes for its holder."
    case .forgery: "Data that no issuer signed pass as an issuer's."
    case .issuerImpersonation: "Someone who is no trusted issuer issues documents that are believed."
    case .replay: "An answer made for another session or another relying party is believed here."
    case .disclosure: "Personal data reach those who have no business with them."
    case .denialOfService: "One small message takes the verifier's memory, time or stack."
    case .parserDifferential: "Two readers of the same bytes see two contents: what is checked is not what is used."
    case .staleData: "A document that is no longer, or not yet, good is believed."
    case .policyBypass: "A decision falls in the person's favour on data that do not say so."
    case .requestForgery: "A document makes the verifier send requests to hosts that trust its network."
    case .interoperability: "A right document is refused, or a fault goes unnoticed."
    }
  }
}
